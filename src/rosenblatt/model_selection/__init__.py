"""Choosing between models without fooling oneself."""

from rosenblatt import registry

__getattr__, __dir__, __all__ = registry.attach(
    __name__,
    {
        "cross_validation": ["cross_val_score", "cross_validate"],
        "error_decomposition": ["BiasVariance", "bias_variance"],
        "sealed_test": ["SealedTest"],
        "split": ["train_dev_test_split"],
    },
)
