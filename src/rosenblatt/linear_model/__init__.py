"""Linear models: least squares, ridge, lasso, elastic net, logistic regression, perceptrons."""

from .averaged import AveragedPerceptron
from .lasso import ElasticNet, Lasso
from .lasso_cv import ElasticNetCV, LassoCV
from .least_squares import LeastSquaresClassifier, LinearRegression
from .paths import enet_path, lasso_path
from .perceptron import Perceptron
from .pocket import PocketPerceptron
from .ridge import Ridge, ridge_path
from .ridge_cv import RidgeCV

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "LinearRegression",
    "Perceptron",
    "PocketPerceptron",
    "Ridge",
    "RidgeCV",
    "enet_path",
    "lasso_path",
    "ridge_path",
]
