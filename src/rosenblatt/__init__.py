"""Machine learning for tables: fast scikit-learn estimators, certificates and traces.

Every public name is imported when it is first asked for, so that ``import rosenblatt``
loads neither NumPy nor Numba. The registry lists the names; type checkers read them in
``__init__.pyi``, which is generated from it.

>>> from rosenblatt import Perceptron
>>> Perceptron().fit([[0.0], [1.0]], ["ham", "spam"]).predict([[2.0]])
array(['spam'], dtype='<U4')
"""

import sys
from importlib import import_module
from typing import Any

import lazy_loader

from . import registry

__version__ = "0.1.0"

_attribute, __dir__, _ = lazy_loader.attach(__name__, registry.MODULES, registry.homes())
# Without the modules: `from rosenblatt import *` brings classes and functions alone.
__all__ = sorted(name for names in registry.homes().values() for name in names)
__getattr__ = registry.one_at_a_time(_attribute, __all__)


class _KeptFromSklearn:
    """Last finder of modules: raises an error about names that only scikit-learn has.

    ``from rosenblatt.tree import export_text`` also looks for such a module.
    """

    MODULES = ("calibration", "compose", "datasets", "feature_selection", "impute", "inspection",
               "metrics", "pipeline")  # fmt: skip

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> None:
        package, _, rest = name.partition(".")
        module, _, wanted = rest.partition(".")
        if package != __name__:
            return
        if not (cls._has(module, wanted) if wanted else module in cls.MODULES):
            return
        raise ImportError(
            f"There is no {name}: keep `from sklearn.{module} import {wanted or '...'}`; "
            "rosenblatt's estimators work with it.",
            name=name,
        )

    @staticmethod
    def _has(module: str, wanted: str) -> bool:
        """Return whether only scikit-learn's module of the same name has a class or function."""
        if module not in registry.MODULES:
            return False
        try:
            found = getattr(import_module(f"sklearn.{module}"), wanted, None)
        except ImportError:
            return False
        return callable(found)


sys.meta_path.append(_KeptFromSklearn)  # type: ignore[arg-type]
