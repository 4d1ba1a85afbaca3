"""Linear models: least squares, ridge, and perceptrons."""

from .averaged import AveragedPerceptron
from .least_squares import LeastSquaresClassifier, LinearRegression
from .perceptron import Perceptron
from .pocket import PocketPerceptron
from .ridge import Ridge, ridge_path
from .ridge_cv import RidgeCV

__all__ = [
    "AveragedPerceptron",
    "LeastSquaresClassifier",
    "LinearRegression",
    "Perceptron",
    "PocketPerceptron",
    "Ridge",
    "RidgeCV",
    "ridge_path",
]
