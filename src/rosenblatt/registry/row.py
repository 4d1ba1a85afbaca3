"""The row of a public estimator: plain data that stands at the end of the estimator's module.

Everything that follows from the class itself is derived: the module, the task, the kinds of input,
and how parts of a table are fitted.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import Parameter, signature
from typing import Any, NamedTuple

from . import index

Settings = dict[str, Any]  # parameters of a constructor and their values
NO_SETTINGS: Settings = {}
NO_REASONS: dict[str, str] = {}

# The task that follows from each of scikit-learn's base classes; the first that applies counts.
TASKS = {
    "BaseSearchCV": "search",
    "ClassifierMixin": "classification",
    "RegressorMixin": "regression",
    "ClusterMixin": "clustering",
    "DensityMixin": "density",
    "KNeighborsMixin": "neighbors",
    "BaseEstimator": "transformation",
}
# scikit-learn's input tags and the kinds of input they stand for.
INPUTS = {
    "two_d_array": "dense",
    "sparse": "sparse",
    "allow_nan": "missing",
    "positive_only": "counts",
    "categorical": "categorical",
}


class Candidate(NamedTuple):
    """One configuration of an estimator that `compare` or `cluster` searches."""

    name: str  # in leaderboards
    when: str  # completes "choose it for ..."
    grid: dict[str, tuple[Any, ...]] = NO_SETTINGS
    # "counts", "columns", "codes", "levels" or "table": how `workbench` prepares them
    reads: str = "numbers"
    settings: Settings = NO_SETTINGS  # fixed parameters
    limits: tuple[str, ...] = ()  # names of the checks in `workbench.families.LIMITS`
    expansion: str = ""  # of the columns, before the model: "landmarks", "products", "splines"
    # Cheap first rounds of the search: on few "rows"; with few trees of a "forest", whose class has
    # `n_estimators` and `max_samples`; by "boosting rounds", whose class has `max_iter`,
    # `learning_rate` and `early_stopping`. If empty, every setting is tried on every fold.
    halve: str = ""
    short_names: tuple[str, ...] = ()  # accepted on the command line
    order: int = 50  # in lists, and among candidates of the same rank
    rank: int = 3  # in the queue, after the first result: 0 is tried first, 4 is seldom the best
    text_rank: int = 2  # the same for tables with text
    slow_on_text: bool = False  # skipped on tables of text alone unless named
    first_if_wide: bool = False  # tried first if there are more columns than rows
    wide_settings: Settings = NO_SETTINGS  # for `cluster`, on tables of many columns


class Warm(NamedTuple):
    """Fits that compile all loops of an estimator (`rosenblatt warm`)."""

    settings: tuple[Settings, ...] = ({},)
    widths: tuple[int, ...] = (3,)  # numbers of columns, if wide tables run other loops
    sparse: bool = True  # whether sparse rows compile other loops
    large: str = ""  # "module.function" of (model, X, y): runs loops that only large tables reach


class Contract(NamedTuple):
    """Settings of an estimator in the contract tests."""

    settings: tuple[Settings, ...] = ({},)  # each takes another path through the code
    checked: tuple[Settings, ...] = ({},)  # run through scikit-learn's own checks
    expected_failures: dict[str, str] = NO_REASONS  # of those checks, with the reason
    most_rows: int = 1_000_000  # fewer if the work grows with their square
    endless: Settings = NO_SETTINGS  # with tol=None: fits until interrupted
    tampered: tuple[Settings, ...] = ()  # further settings whose certificates are tampered with


DEFAULT_CONTRACT, DEFAULT_WARM = Contract(), Warm()


@dataclass(frozen=True, eq=False)
class Row:
    """Facts about one public estimator that other parts of the package read.

    `tools/from_registry.py` reads `name`, `certificate`, `also` and `file_types` without importing
    the module, so these are literals.
    """

    name: str  # of the class
    page: str  # in docs/
    certificate: str = ""  # module in certificates/
    also: tuple[str, ...] = ()  # scikit-learn classes of other names that it verifies
    compare: tuple[Candidate, ...] = ()
    contract: Contract | None = DEFAULT_CONTRACT
    warm: Warm | None = DEFAULT_WARM  # None if it compiles nothing of its own
    parts: str = ""  # module in distributed/ that fits it by parts; additive models need none
    file_types: tuple[str, ...] = ()  # in model files, besides estimators and statistics
    peer_tests: tuple[str, ...] = ()  # scikit-learn's test modules for the class
    slow_peer_tests: tuple[str, ...] = ()  # those that take more than 30 s
    peer_functions: tuple[str, ...] = ()  # replaced in these tests together with the class

    @property
    def module(self) -> str:
        """The module below rosenblatt: "linear_model.perceptron"."""
        return index.ESTIMATORS[self.name]

    @property
    def home(self) -> str:
        """The public package: "linear_model"."""
        return self.module.partition(".")[0]

    @cached_property
    def estimator(self) -> type[Any]:
        """The class."""
        found: type[Any] = getattr(import_module(f"rosenblatt.{self.module}"), self.name)
        return found

    @cached_property
    def task(self) -> str:
        """What the estimator does, by its base classes: "classification", "clustering", ..."""
        bases = {base.__name__ for base in self.estimator.__mro__}
        return next(task for base, task in TASKS.items() if base in bases)

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Kinds of input that some setting of the contract accepts, by scikit-learn's tags."""
        if self.needs_arguments:
            return ()
        settings = self.contract.settings if self.contract else ({},)
        tags = [self.estimator(**setting).__sklearn_tags__().input_tags for setting in settings]
        found = [kind for tag, kind in INPUTS.items() if any(getattr(one, tag) for one in tags)]
        return tuple(found) if "dense" in found else ("text",)

    @property
    def additive(self) -> bool:
        """Whether the model follows from an additive statistic."""
        return hasattr(self.estimator, "fit_statistics")

    @property
    def way(self) -> str:
        """How `distributed.fit` fits it: by the module `parts`, by "sums", or not at all ("")."""
        return self.parts or ("sums" if self.additive else "")

    @property
    def needs_arguments(self) -> bool:
        """Whether the constructor has arguments without a default."""
        named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
        parameters = signature(self.estimator).parameters.values()
        return any(p.default is Parameter.empty and p.kind in named for p in parameters)


def unlike_repeated_rows(reason: str) -> dict[str, str]:
    """Return scikit-learn's two checks that a weight of two equals a repeated row, as failures."""
    checks = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(checks, reason)


VISITS_ROWS = unlike_repeated_rows(
    "visits row by row: a row of weight two is one visit with a double step, not two"
)
