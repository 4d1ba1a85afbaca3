"""Linear models: perceptrons, classification by least squares, and logistic regression."""

from .averaged import AveragedPerceptron
from .least_squares import LeastSquaresClassifier
from .logistic import LogisticRegression
from .logistic_path import LogisticRegressionCV
from .perceptron import Perceptron
from .pocket import PocketPerceptron
from .separated import SeparationWarning

__all__ = [
    "AveragedPerceptron",
    "LeastSquaresClassifier",
    "LogisticRegression",
    "LogisticRegressionCV",
    "Perceptron",
    "PocketPerceptron",
    "SeparationWarning",
]
