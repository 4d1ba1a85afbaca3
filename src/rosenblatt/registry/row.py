"""What a row of the registry holds: plain data that every part of the house may read.

Named tuples, since `import rosenblatt` reads them all and dataclasses take longer to import.
"""

from typing import Any, Literal, NamedTuple

Settings = dict[str, Any]  # parameters of a constructor and their values
NO_SETTINGS: Settings = {}

TASKS = {
    "classification": "predicts one of several classes",
    "regression": "predicts numbers",
    "clustering": "groups rows that carry no label",
    "density": "gives rows a probability density",
    "transformation": "makes other columns of the rows",
    "neighbours": "finds the nearest of stored rows",
    "search": "chooses the settings of another estimator",
}
INPUTS = {
    "dense": "arrays and data frames of numbers",
    "sparse": "CSR matrices, never made dense",
    "missing": "NaN for values that are missing, in some setting",
    "counts": "numbers that must not be negative",
    "categorical": "categories, as words or as numbers",
    "precomputed": "a matrix of kernel values or distances of all pairs of rows",
    "text": "strings, one document each",
}


class Without:
    """Why a cell does not apply; false, so that ``row.contestants or ()`` passes over it."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __bool__(self) -> Literal[False]:
        return False


class Contestant(NamedTuple):
    """One way in which `compare` tries an estimator."""

    name: str  # as leaderboards show it
    when: str  # it is the right choice
    grid: dict[str, tuple[Any, ...]]
    # "counts", "columns", "codes", "levels" or "table": how `workbench` prepares them
    reads: str = "numbers"
    settings: Settings = NO_SETTINGS  # beside the grid
    limits: tuple[str, ...] = ()  # what `workbench` checks before it tries the model
    expansion: str = ""  # of the columns, before the model: "landmarks", "products", "splines"
    # How `workbench` sorts settings out cheaply: on few "rows"; with few trees of a "forest", whose
    # class has `n_estimators` and `max_samples`; by "boosting rounds", whose class has `max_iter`,
    # `learning_rate` and `early_stopping`. If empty, every setting is tried on every fold.
    halve: str = ""
    short_names: tuple[str, ...] = ()  # that people type


class Warm(NamedTuple):
    """The fits that compile all loops of an estimator (`rosenblatt warm`)."""

    settings: tuple[Settings, ...] = ({},)
    widths: tuple[int, ...] = (3,)  # columns: some learn in another way from more than rows
    sparse: bool = True  # whether sparse rows compile other loops
    large: str = ""  # "module.function" of (model, X, y): runs loops that only large tables reach


class Contract(NamedTuple):
    """How the contract tests try an estimator."""

    settings: tuple[Settings, ...] = ({},)  # each takes another path through the code
    checked: tuple[Settings, ...] = ({},)  # that scikit-learn's own checks are run with
    expected_failures: dict[str, str] = NO_SETTINGS  # of those checks, and why
    most_rows: int = 1_000_000  # fewer where the work grows with their square
    endless: Settings = NO_SETTINGS  # with tol=None: fits until interrupted


class Row(NamedTuple):
    """All that other parts of the house read about one public estimator.

    A cell that does not apply holds `Without` and the reason.
    """

    name: str  # of the class
    module: str  # that defines it, below rosenblatt; its first folder is the public home
    task: str  # of TASKS
    inputs: tuple[str, ...]  # of INPUTS
    verifier: str | Without  # module in certificates/
    sklearn: tuple[str, ...] | Without  # scikit-learn's classes that this verifier also reads
    additive: Literal[True] | Without  # stands on a statistic with + and -
    path: tuple[str, ...] | Without  # parameters along which `fit_path` fits all values
    trace: tuple[str, ...] | Without  # states that `trace_view` names
    warm: Warm | Without
    contract: Contract | Without
    contestants: tuple[Contestant, ...] | Without
    file_types: tuple[str, ...] | Without  # that a model file may hold beside the class itself
    page: str  # in docs/
    benchmark: str | Without  # a scenario's name
    # The module in distributed/ that fits it to a source by parts, or "sums" for one pass over its
    # statistic; without a word, what is additive goes by its sums.
    parts: str | Without = Without("its fit needs all rows in one place")

    @property
    def way(self) -> str | Without:
        """How `distributed.fit` fits it."""
        return "sums" if self.additive is True and not self.parts else self.parts

    @property
    def home(self) -> str:
        """The public module: "linear_model" of "linear_model.perceptron"."""
        return self.module.partition(".")[0]
