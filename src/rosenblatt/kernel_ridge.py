"""Where scikit-learn has `KernelRidge`; ours is in :mod:`rosenblatt.kernels`."""

from rosenblatt.kernels.ridge import KernelRidge

__all__ = ["KernelRidge"]
