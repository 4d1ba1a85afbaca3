"""Linear models: least squares, ridge, lasso, elastic net, logistic regression, perceptrons."""

from .averaged_perceptron import AveragedPerceptron
from .lasso import ElasticNet, Lasso
from .lasso_cv import ElasticNetCV, LassoCV
from .lasso_paths import enet_path, lasso_path
from .least_squares import LeastSquaresClassifier, LinearRegression
from .logistic import LogisticRegression
from .logistic_cv import LogisticRegressionCV
from .perceptron import Perceptron
from .pocket_perceptron import PocketPerceptron
from .ridge import Ridge, ridge_path
from .ridge_cv import RidgeCV
from .separation_warning import SeparationWarning

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "LinearRegression",
    "LogisticRegression",
    "LogisticRegressionCV",
    "Perceptron",
    "PocketPerceptron",
    "Ridge",
    "RidgeCV",
    "SeparationWarning",
    "enet_path",
    "lasso_path",
    "ridge_path",
]
