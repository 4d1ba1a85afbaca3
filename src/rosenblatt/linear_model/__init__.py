"""Linear models: least squares, and perceptrons."""

from .averaged import AveragedPerceptron
from .least_squares import LeastSquaresClassifier, LinearRegression
from .perceptron import Perceptron
from .pocket import PocketPerceptron

__all__ = [
    "AveragedPerceptron",
    "LeastSquaresClassifier",
    "LinearRegression",
    "Perceptron",
    "PocketPerceptron",
]
