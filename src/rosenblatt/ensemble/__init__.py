"""Many models at once: forests of random trees, bagging and boosting of any model."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(__name__)
