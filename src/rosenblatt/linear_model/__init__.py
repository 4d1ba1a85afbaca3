"""Linear models: perceptrons, classification by least squares, lasso and elastic net."""

from .averaged import AveragedPerceptron
from .lasso import ElasticNet, Lasso
from .lasso_cv import ElasticNetCV, LassoCV
from .least_squares import LeastSquaresClassifier
from .paths import enet_path, lasso_path
from .perceptron import Perceptron
from .pocket import PocketPerceptron

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "ElasticNetCV",
    "Lasso",
    "LassoCV",
    "LeastSquaresClassifier",
    "Perceptron",
    "PocketPerceptron",
    "enet_path",
    "lasso_path",
]
