"""Every scenario, in the order of the results: one module per family."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import discriminants, perceptron, separability


def all_scenarios(scale: float = 1.0) -> list[Scenario]:
    """The scenarios with `scale` times their rows; 1 is the size that counts."""
    return [
        *perceptron.scenarios(scale),
        *separability.scenarios(scale),
        *discriminants.scenarios(scale),
    ]
