"""Classical machine learning that is fast, shows its work and proves its answers.

Every public name is imported when it is first asked for, so that ``import rosenblatt``
loads neither NumPy nor Numba.

>>> from rosenblatt import Perceptron
>>> Perceptron().fit([[0.0], [1.0]], ["ham", "spam"]).predict([[2.0]])
array(['spam'], dtype='<U4')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .certificates import Certificate, Claim, certify
    from .discriminant_analysis import (
        FisherDiscriminant,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from .kernels import KernelPerceptron
    from .linear_model import (
        AveragedPerceptron,
        LeastSquaresClassifier,
        Perceptron,
        PocketPerceptron,
    )
    from .separation import Separability, separability
    from .trace import Trace

__version__ = "0.1.0"

# Each public name and the module that holds it.
_HOMES = {
    "AveragedPerceptron": "linear_model",
    "Certificate": "certificates",
    "Claim": "certificates",
    "FisherDiscriminant": "discriminant_analysis",
    "KernelPerceptron": "kernels",
    "LeastSquaresClassifier": "linear_model",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "Perceptron": "linear_model",
    "PocketPerceptron": "linear_model",
    "QuadraticDiscriminantAnalysis": "discriminant_analysis",
    "Separability": "separation",
    "Trace": "trace",
    "certify": "certificates",
    "separability": "separation",
}

__all__ = [
    "AveragedPerceptron",
    "Certificate",
    "Claim",
    "FisherDiscriminant",
    "KernelPerceptron",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "Perceptron",
    "PocketPerceptron",
    "QuadraticDiscriminantAnalysis",
    "Separability",
    "Trace",
    "certify",
    "separability",
]

_MODULES = (
    "certificates",
    "discriminant_analysis",
    "estimation",
    "information",
    "kernels",
    "linear_model",
    "losses",
    "plot",
    "separation",
    "statistics",
    "threads",
    "trace",
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
