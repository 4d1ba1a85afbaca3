"""Linear models: perceptrons."""

from .averaged import AveragedPerceptron
from .perceptron import Perceptron

__all__ = ["AveragedPerceptron", "Perceptron"]
