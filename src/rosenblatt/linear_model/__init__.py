"""Linear models: perceptrons, classification by least squares, lasso and elastic net."""

from .averaged import AveragedPerceptron
from .lasso import ElasticNet, Lasso
from .least_squares import LeastSquaresClassifier
from .perceptron import Perceptron
from .pocket import PocketPerceptron

__all__ = [
    "AveragedPerceptron",
    "ElasticNet",
    "Lasso",
    "LeastSquaresClassifier",
    "Perceptron",
    "PocketPerceptron",
]
