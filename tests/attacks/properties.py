"""Property tests of certificates as attacks: exact references in the tests themselves.

A try is one example that Hypothesis draws; a false certificate fails the test.
"""

import time
import traceback
import warnings
from importlib import import_module

from hypothesis import HealthCheck, Phase, seed, settings

TESTS = {
    "trees": ("test_exact_trees", "test_splits_pass_just_if_each_is_the_best_in_fractions"),
    "counts of trees": ("test_exact_trees", "test_counts_pass_just_if_they_are_those_of_the_rows"),
    "forests": ("test_exact_trees", "test_forests_are_the_means_of_their_samples_in_fractions"),
    "leaves of forests": (
        "test_exact_trees", "test_a_forest_with_a_nudged_leaf_passes_just_if_the_nudge_is_rounding",
    ),
    "boosting": ("test_exact_boosting", "test_leaves_pass_just_if_they_are_newton_steps"),
    "boosting of quantiles": ("test_exact_boosting", "test_leaves_pass_just_if_they_are_quantiles"),
    "AdaBoost": ("test_adaboost", "test_bounds_are_those_of_fractions"),
    "bounds of AdaBoost": ("test_adaboost", "test_the_bound_is_true_of_any_weights"),
    "optimal trees": (
        "test_optimal_trees", "test_the_gap_of_any_tree_is_that_to_the_best_of_all_trees",
    ),
    "k-means": ("test_kmeans", "test_no_bound_is_above_the_best_loss"),
    "mixtures": ("test_gaussian_mixture", "test_the_numbers_are_those_of_the_definition"),
    "linkage": ("test_agglomerative", "test_it_holds_for_the_slow_tree_and_no_other_heights"),
}  # fmt: skip


class Enough(Exception):
    """The time is over."""


def count_property(name, count, tries, seconds):
    """Draw examples of the test behind a family, and count them."""
    module, function = TESTS[name]
    test = getattr(import_module(f"tests.certificates.{module}"), function)
    inner, start = test.hypothesis.inner_test, time.process_time()
    before = dict(vars(test))  # where Hypothesis keeps settings and seed

    def counted(*args, **kwargs):
        if time.process_time() - start > seconds:
            raise Enough
        result = inner(*args, **kwargs)
        count.tries += 1
        return result

    test.hypothesis.inner_test = counted
    drawn = settings(
        max_examples=tries, deadline=None, database=None, derandomize=False,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck),
    )(test)  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seed(count.seed)(drawn)()
    except Enough:
        pass
    except AssertionError:
        count.false.append(traceback.format_exc(limit=-1))
    except Exception:
        count.broken.append(traceback.format_exc(limit=-1))
    finally:
        test.hypothesis.inner_test = inner
        vars(test).clear()
        vars(test).update(before)
    count.seconds = time.process_time() - start
    return count
