"""Probability and information theory: Bayes' rule, entropy, tests of independence.

Everything is a function of a probability, of a table of probabilities or counts, or of labels.
Information is measured in bits unless another base is asked for, and 0 log 0 is 0.

>>> from rosenblatt import information
>>> information.entropy([0.5, 0.25, 0.25])
1.5
>>> information.bayes([0.01, 0.99], [0.99, 0.01])
array([0.5, 0.5])
"""

from .discretization import information_cuts
from .gaussians import Gaussian
from .independence import (
    IndependenceTest,
    conditionally_independent,
    independence_test,
    independent,
)
from .inputs import tabulate
from .rules import (
    BayesClassifier,
    bayes,
    conditional,
    expectation,
    joint,
    marginal,
    posterior_odds,
    total_probability,
)
from .uncertainty import (
    binary_entropy,
    conditional_entropy,
    entropy,
    information_gain,
    surprise,
)

__all__ = [
    "BayesClassifier",
    "Gaussian",
    "IndependenceTest",
    "bayes",
    "binary_entropy",
    "conditional",
    "conditional_entropy",
    "conditionally_independent",
    "entropy",
    "expectation",
    "independence_test",
    "independent",
    "information_cuts",
    "information_gain",
    "joint",
    "marginal",
    "posterior_odds",
    "surprise",
    "tabulate",
    "total_probability",
]
