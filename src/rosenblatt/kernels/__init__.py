"""Kernel functions, their matrices and feature maps, and models that need nothing else."""

from .functions import Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from .gram import is_positive_semidefinite
from .logistic import KernelLogisticRegression
from .perceptron import KernelPerceptron
from .ridge import KernelRidge

__all__ = [
    "Gaussian",
    "Kernel",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelRidge",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Sigmoid",
    "is_positive_semidefinite",
]
