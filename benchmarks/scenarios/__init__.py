"""Every scenario, in the order of the results: one module per family."""

from benchmarks.scenario import Scenario
from benchmarks.scenarios import (
    adaboost,
    clustering,
    compare_texts,
    decomposition,
    discrete_naive_bayes,
    discriminants,
    gradient_boosting,
    kernel_machines,
    lasso,
    linkage,
    logistic,
    model_selection,
    naive_bayes,
    nearest,
    neighbors,
    perceptron,
    regression,
    separability,
    sgd,
    spam,
    svm,
    text,
    trees,
    workbench,
)


def all_scenarios(scale: float = 1.0) -> list[Scenario]:
    """The scenarios with `scale` times their rows; 1 is the size that counts."""
    return [
        *perceptron.scenarios(scale),
        *sgd.scenarios(scale),
        *separability.scenarios(scale),
        *naive_bayes.scenarios(scale),
        *discrete_naive_bayes.scenarios(scale),
        *text.scenarios(scale),
        *discriminants.scenarios(scale),
        *neighbors.scenarios(scale),
        *nearest.scenarios(scale),
        *decomposition.scenarios(scale),
        *lasso.scenarios(scale),
        *logistic.scenarios(scale),
        *svm.scenarios(scale),
        *model_selection.scenarios(scale),
        *regression.scenarios(scale),
        *kernel_machines.scenarios(scale),
        *trees.scenarios(scale),
        *adaboost.scenarios(scale),
        *gradient_boosting.scenarios(scale),
        *clustering.scenarios(scale),
        *linkage.scenarios(scale),
        *spam.scenarios(scale),
        *workbench.scenarios(scale),
        *compare_texts.scenarios(scale),
    ]
