"""Model files as commands read them: soon, for the process is over soon."""

import sys
from importlib import import_module
from types import ModuleType

import rosenblatt.cli
from rosenblatt.workbench.model_file import files
from rosenblatt.workbench.model_file.files import SavedModel

LEFT_OUT = ("_trusted_types", "_sklearn", "_quantile_forest")  # of skops.io


def load_model(path: str, *, large: bool = False) -> SavedModel:
    """As `rosenblatt.load_model`."""
    _import_skops()
    return files.load_model(path, large=large)


def _import_skops() -> None:
    """Import skops without what takes a second to load, and no model file of ours needs.

    These are the lists of types that it trusts, for a model file is checked against a list of our
    own, and loaders of a few of scikit-learn's classes that this list lacks. Other processes, in
    which a user may load files with skops itself, get the whole of it.
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
