"""The table of families, and the loop that tries them."""

import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import rosenblatt

from . import closed_forms, clusters, optima, planes, structures
from .properties import TESTS, count_property

FAMILIES = {
    "least squares": optima.least_squares,
    "ridge": optima.ridge,
    "lasso, elastic net": optima.lasso,
    "errors of lasso paths": optima.path_errors,
    "logistic": optima.logistic,
    "logistic, no penalty": optima.unpenalised_logistic,
    "kernel logistic": optima.kernel_logistic,
    "kernel ridge": optima.kernel_ridge,
    "linear machines": optima.linear_machine,
    "kernel machines": optima.kernel_machine,
    "principal components": optima.principal_axes,
    "Gaussian naive Bayes": closed_forms.gaussian_naive_bayes,
    "counting naive Bayes": closed_forms.counting_naive_bayes,
    "categorical naive Bayes": closed_forms.categorical_naive_bayes,
    "complement naive Bayes": closed_forms.complement_naive_bayes,
    "linear discriminants": closed_forms.linear_discriminants,
    "quadratic discriminants": closed_forms.quadratic_discriminants,
    "Fisher's discriminant": closed_forms.fisher_discriminants,
    "least-squares classes": closed_forms.least_squares_classifier,
    "nearest centroids": closed_forms.nearest_centroids,
    "perceptrons": planes.perceptron,
    "averaged, pocket": planes.averaged_and_pocket,
    "kernel perceptrons": planes.kernel_perceptron,
    "neighbours": planes.neighbours,
    "tree-augmented naive Bayes": structures.tree_augmented,
    "mixed naive Bayes": structures.mixed_naive_bayes,
    "rules": structures.rules,
    "consensus": structures.consensus,
    "bags of trees": structures.bags,
    "centres of k-means": clusters.centres,
    "parameters of mixtures": clusters.mixture,
}
NAMES = [*FAMILIES, *TESTS]
PACKAGE = Path(rosenblatt.__file__).parent


@dataclass
class Count:
    """What came of attacking one family."""

    family: str
    seed: int
    tries: int = 0
    refused: int = 0  # fits or certificates that raised ValueError: nothing was claimed
    unclaimed: int = 0  # certificates without the claim that is attacked
    seconds: float = 0.0
    false: list = field(default_factory=list)
    broken: list = field(default_factory=list)  # anything else that was raised

    @property
    def line(self):
        broken = f"   {len(self.broken)} broken: {self.broken[0]}" if self.broken else ""
        return (
            f"{self.family:<26} {self.tries:>7,} {self.refused:>7,} {self.unclaimed:>9,} "
            f"{len(self.false):>6} {self.seconds:>8.0f}{broken}"
        )


def is_refusal(error):
    """Whether a fit or a certificate refused what it was given.

    A `LinAlgError` that came out of our code is a crash (its subclasses are sentences for users),
    and a ValueError that was not raised in a fit or in `certify` is a fault of the attack.
    """
    if not isinstance(error, ValueError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    own = [Path(frame.filename).parent == Path(__file__).parent for frame in frames]
    called = frames[max(np.flatnonzero(own), default=-1) + 1 :]
    ours = any(PACKAGE in Path(frame.filename).parents for frame in called)
    crashed = type(error) is np.linalg.LinAlgError and ours
    return not crashed and any(frame.name in ("fit", "certify") for frame in called)


def attack(name, tries, seed, seconds=float("inf")):
    """Try one family; each try has a seed of its own, so that a false one can be repeated."""
    count, start = Count(name, seed), time.process_time()
    if name in TESTS:
        return count_property(name, count, tries, seconds)
    for number in range(tries):
        if time.process_time() - start > seconds:
            break
        rng = np.random.RandomState([seed, number])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found = FAMILIES[name](rng)
            except Exception as error:
                if is_refusal(error):
                    count.refused += 1
                else:
                    count.broken.append(f"try {number}: {traceback.format_exc(limit=-2)}")
                continue
        if found is None:
            count.unclaimed += 1
            continue
        count.tries += 1
        count.false += [f"try {number}: {words}" for words in found]
    count.seconds = time.process_time() - start
    return count
