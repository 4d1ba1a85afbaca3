"""Kernel functions, their matrices and feature maps, and models based on them."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__,
    {
        "checks": ["is_positive_semidefinite"],
        "functions": ["Gaussian", "Kernel", "Laplacian", "Linear", "Polynomial", "Sigmoid"],
    },
)
