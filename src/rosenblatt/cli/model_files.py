"""Model files as commands read them: soon, for the process is over soon."""

import sys
from importlib import import_module
from types import ModuleType

from rosenblatt.workbench.model_file import files
from rosenblatt.workbench.model_file.files import SavedModel


def load_model(path: str, *, large: bool = False) -> SavedModel:
    """As `rosenblatt.load_model`."""
    _import_skops()
    return files.load_model(path, large=large)


def _import_skops() -> None:
    """Import skops without the lists of types that it trusts, which take a second to make.

    A model file is checked against a list of our own, and that is all that skops is asked to trust.
    Other processes, in which a user may load files with skops itself, get the whole of it.
    """
    if "skops.io" in sys.modules:
        return
    unlisted = ModuleType("skops.io._trusted_types")
    unlisted.__getattr__ = lambda name: []  # type: ignore[method-assign]
    sys.modules[unlisted.__name__] = unlisted
    try:
        import_module("skops.io")
    except ModuleNotFoundError:
        del sys.modules[unlisted.__name__]
        raise
