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
    from .certificates import (
        Certificate,
        Claim,
        certify,
    )
    from .discriminant_analysis import (
        FisherDiscriminant,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
    from .explanation import (
        Explanation,
        explain,
    )
    from .kernels import (
        KernelLogisticRegression,
        KernelPerceptron,
    )
    from .linear_model import (
        AveragedPerceptron,
        ElasticNet,
        ElasticNetCV,
        Lasso,
        LassoCV,
        LeastSquaresClassifier,
        LinearRegression,
        LogisticRegression,
        LogisticRegressionCV,
        Perceptron,
        PocketPerceptron,
        Ridge,
        RidgeCV,
        enet_path,
        lasso_path,
        ridge_path,
    )
    from .model_selection import (
        BiasVariance,
        GridSearchCV,
        SealedTest,
        bias_variance,
        cross_val_score,
        cross_validate,
        train_dev_test_split,
    )
    from .naive_bayes import (
        BernoulliNB,
        CategoricalNB,
        ComplementNB,
        GaussianNB,
        MixedNB,
        MultinomialNB,
    )
    from .preprocessing import (
        BasisExpansion,
        Standardizer,
    )
    from .separation import (
        Separability,
        separability,
    )
    from .trace import (
        Trace,
    )
    from .workbench import (
        Comparison,
        compare,
        load_model,
    )

__version__ = "0.1.0"

# Each public name and the module that holds it.
_HOMES = {
    "AveragedPerceptron": "linear_model",
    "BasisExpansion": "preprocessing",
    "BernoulliNB": "naive_bayes",
    "BiasVariance": "model_selection",
    "CategoricalNB": "naive_bayes",
    "Certificate": "certificates",
    "Claim": "certificates",
    "Comparison": "workbench",
    "ComplementNB": "naive_bayes",
    "ElasticNet": "linear_model",
    "ElasticNetCV": "linear_model",
    "Explanation": "explanation",
    "FisherDiscriminant": "discriminant_analysis",
    "GaussianNB": "naive_bayes",
    "GridSearchCV": "model_selection",
    "KernelLogisticRegression": "kernels",
    "KernelPerceptron": "kernels",
    "Lasso": "linear_model",
    "LassoCV": "linear_model",
    "LeastSquaresClassifier": "linear_model",
    "LinearDiscriminantAnalysis": "discriminant_analysis",
    "LinearRegression": "linear_model",
    "LogisticRegression": "linear_model",
    "LogisticRegressionCV": "linear_model",
    "MixedNB": "naive_bayes",
    "MultinomialNB": "naive_bayes",
    "Perceptron": "linear_model",
    "PocketPerceptron": "linear_model",
    "QuadraticDiscriminantAnalysis": "discriminant_analysis",
    "Ridge": "linear_model",
    "RidgeCV": "linear_model",
    "SealedTest": "model_selection",
    "Separability": "separation",
    "Standardizer": "preprocessing",
    "Trace": "trace",
    "bias_variance": "model_selection",
    "certify": "certificates",
    "compare": "workbench",
    "cross_val_score": "model_selection",
    "cross_validate": "model_selection",
    "enet_path": "linear_model",
    "explain": "explanation",
    "lasso_path": "linear_model",
    "load_model": "workbench",
    "ridge_path": "linear_model",
    "separability": "separation",
    "train_dev_test_split": "model_selection",
}

__all__ = [
    "AveragedPerceptron",
    "BasisExpansion",
    "BernoulliNB",
    "BiasVariance",
    "CategoricalNB",
    "Certificate",
    "Claim",
    "Comparison",
    "ComplementNB",
    "ElasticNet",
    "ElasticNetCV",
    "Explanation",
    "FisherDiscriminant",
    "GaussianNB",
    "GridSearchCV",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MixedNB",
    "MultinomialNB",
    "Perceptron",
    "PocketPerceptron",
    "QuadraticDiscriminantAnalysis",
    "Ridge",
    "RidgeCV",
    "SealedTest",
    "Separability",
    "Standardizer",
    "Trace",
    "bias_variance",
    "certify",
    "compare",
    "cross_val_score",
    "cross_validate",
    "enet_path",
    "explain",
    "lasso_path",
    "load_model",
    "ridge_path",
    "separability",
    "train_dev_test_split",
]

_MODULES = (
    "certificates",
    "data",
    "discriminant_analysis",
    "estimation",
    "information",
    "kernels",
    "linear_model",
    "losses",
    "model_selection",
    "naive_bayes",
    "plot",
    "preprocessing",
    "separation",
    "statistics",
    "threads",
    "trace",
    "workbench",
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
