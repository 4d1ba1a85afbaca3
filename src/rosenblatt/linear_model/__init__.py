"""Linear models: perceptrons."""

from .averaged import AveragedPerceptron
from .perceptron import Perceptron
from .pocket import PocketPerceptron

__all__ = ["AveragedPerceptron", "Perceptron", "PocketPerceptron"]
