"""Load model files with a fast import of skops."""

import sys
from importlib import import_module
from types import ModuleType

import rosenblatt.cli
from rosenblatt.workbench import model_file
from rosenblatt.workbench.model_file import SavedModel

LEFT_OUT = ("_trusted_types", "_sklearn", "_quantile_forest")  # of skops.io


def load_model(path: str, *, large: bool = False) -> SavedModel:
    """Load a model file, as `rosenblatt.load_model`."""
    _import_skops()
    return model_file.load_model(path, large=large)


def _import_skops() -> None:
    """Import skops without modules that take a second to load and that model files do not need.

    These are its lists of trusted types (model files are checked against our own list) and loaders
    of scikit-learn classes that are not on this list. Processes in which a user may call skops
    import all of it.
    """
    if "skops.io" in sys.modules or not rosenblatt.cli.is_the_process:
        return
    left_out = {f"skops.io.{name}": ModuleType(name) for name in LEFT_OUT}
    for module in left_out.values():
        module.NODE_TYPE_MAPPING = {}  # type: ignore[attr-defined]
        module.__getattr__ = lambda name: []  # type: ignore[method-assign]
    sys.modules.update(left_out)
    try:
        import_module("skops.io")
    except ModuleNotFoundError:
        for name in left_out:
            del sys.modules[name]
        raise
