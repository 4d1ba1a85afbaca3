"""Linear models: perceptrons."""

from .perceptron import Perceptron

__all__ = ["Perceptron"]
