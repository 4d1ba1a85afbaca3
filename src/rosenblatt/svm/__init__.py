"""Support vector machines: the plane with the widest margin."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
