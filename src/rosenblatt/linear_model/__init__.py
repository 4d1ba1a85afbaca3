"""Linear models: perceptrons, and classification by least squares."""

from .averaged import AveragedPerceptron
from .least_squares import LeastSquaresClassifier
from .perceptron import Perceptron
from .pocket import PocketPerceptron

__all__ = ["AveragedPerceptron", "LeastSquaresClassifier", "Perceptron", "PocketPerceptron"]
