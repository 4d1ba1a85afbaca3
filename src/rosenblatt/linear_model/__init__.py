"""Linear models: least squares, ridge, lasso, elastic net, logistic regression, perceptrons."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__,
    {
        "lasso_paths": ["enet_path", "lasso_path"],
        "ridge_decomposition": ["ridge_path"],
        "separation_warning": ["SeparationWarning"],
    },
)
