"""Classical machine learning that is fast, shows its work and proves its answers.

Every public name is imported when it is first asked for, so that ``import rosenblatt``
loads neither NumPy nor Numba. The registry lists the names; type checkers read them in
``__init__.pyi``, which is generated from it.

>>> from rosenblatt import Perceptron
>>> Perceptron().fit([[0.0], [1.0]], ["ham", "spam"]).predict([[2.0]])
array(['spam'], dtype='<U4')
"""

import lazy_loader

from . import registry

__version__ = "0.1.0"

__getattr__, __dir__, _ = lazy_loader.attach(__name__, registry.MODULES, registry.homes())

# Without the modules: `from rosenblatt import *` brings classes and functions alone.
__all__ = sorted(name for names in registry.homes().values() for name in names)
