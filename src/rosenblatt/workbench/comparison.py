"""Compare every family of models on one table, by the courses' recipe.

Split; look only at the training part; prepare columns inside the folds; choose by cross-validation;
retrain; open the test set once; report with uncertainty.
"""

import inspect
import os
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from rosenblatt.data import Source, TableError
from rosenblatt.model_selection.ledger import Ledger
from rosenblatt.model_selection.sealed_test import DEFAULT_LEDGER
from rosenblatt.runtime.threads import one_blas_thread

from .arguments import (
    CompareSettings,
    call_of,
    checked_budget,
    checked_name,
    chosen_families,
    table_of,
    with_groups,
)
from .clock import Clock
from .comparison_result import Comparison
from .conclusions import chosen_model, conclude
from .contestants import contestant
from .families import Family, baseline_of, families_for
from .findings import Dropped, Findings, Hint
from .fitting import saved_model
from .importance import certificate_of
from .leakage import hints_of
from .model_file import SavedModel
from .pipelines import forget_texts
from .problem import problem_of
from .schedule import Progress, folds_in, search_families
from .scoring import metric_for
from .search import FoldedProblem

__all__ = ["Comparison", "compare"]

TIME_FOR_HINTS = 0.1  # of all


def compare(
    X: Any, y: Any = None, *, progress: Progress | None = None, command: str = "", **options: Any
) -> Comparison:
    """Compare every family of models on one table, honestly.

    Parameters
    ----------
    X : path, name of a bundled table, data frame (lazy, too), array, sparse matrix or `data.Source`
        The table. Of a source a sample is compared, and the winner fitted to all of it.
    y : array-like of shape (n,), str or None
        The target, if it is no column of the table; or the name of the column that it is. Rows
        where it is missing are left out.
    target : str or None
        The column to be predicted; beside values in y, what they are called.
    format, header : str or None, bool
        Of a file: its kind ("csv", "tsv", "parquet", "arrow", "jsonl", "libsvm", "xlsx", "ods"),
        told from its name if None; and whether the first line of CSV, TSV or a sheet names the
        columns, which are called column_0, column_1 and so on if not.
    task : {"classification", "regression"} or None
        None tells it from the target.
    metric : str or None
        A scorer of scikit-learn, larger being better; accuracy or R² if None.
    time : str or None
        A column to split by: learned from the past, tested on what came later.
    groups : str, array-like of shape (n,) or None
        A column whose equal values stay in one part, by its name or its values.
    kinds : dict or None
        The kind of some columns, by name: "numeric", "categorical", "boolean", "text", "date", or
        "identifier" to leave one out.
    families : list of str or None
        The names of those to be tried, or their classes, such as "LogisticRegression"; all if
        None. A class stands for its models as they are: "Ridge" is ridge regression, not on
        products or splines.
    peers : bool
        Whether scikit-learn's and LightGBM's models are tried too, for reference.
    budget : float or None
        Seconds that it may take; what is found by then is reported. A clock that is running
        already, if more than this is to be done in the time.
    random_state : int
        The seed of the split.
    ledger : path or None
        Where the opening of the test set is recorded; among the user's own files if None
        (`$XDG_STATE_HOME`, or ~/.local/state), or in the working folder if that cannot be written.
    progress : callable or None
        Called with the contestants so far, what is being tried, and the clock.
    command : str
        What repeats this, for the report; if empty, the call.
    sheet : str or None
        The sheet of a spreadsheet, by name or number; the first if None.
    clean_labels : bool
        Whether labels that differ in case or blanks alone are one.
    positive : label or None
        Of two classes, the one that f1, precision, recall, jaccard or average_precision is of.

    Returns
    -------
    comparison : Comparison
        With `leaderboard`, `best`, and `report`.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> folder = tempfile.TemporaryDirectory()
    >>> found = rosenblatt.compare("iris", target="species", families=["Gaussian naive Bayes"],
    ...                            ledger=os.path.join(folder.name, "openings.jsonl"))
    >>> found.leaderboard["family"].tolist()
    ['Gaussian naive Bayes', 'always the largest class']
    >>> bool(found.findings.opening.score > 0.8)
    True
    >>> folder.cleanup()
    """
    settings = CompareSettings(**options)
    budget = settings.budget
    clock = budget if isinstance(budget, Clock) else Clock(checked_budget(budget))
    settings = replace(settings, budget=clock.budget)
    if isinstance(X, Source):
        return _compare_source(X, settings, clock, progress, command)
    return _compare_table(X, y, settings, clock, progress, command)


def _signature() -> inspect.Signature:
    """Return the signature of `compare` with the options by name."""
    own = inspect.signature(compare)
    X, y, *rest = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = inspect.signature(CompareSettings).parameters.values()
    return own.replace(parameters=[X, y, *options, *rest])


compare.__signature__ = _signature()  # type: ignore[attr-defined]


def _compare_table(
    X: Any,
    y: Any,
    settings: CompareSettings,
    clock: Clock,
    progress: Progress | None,
    command: str,
) -> Comparison:
    """Compare on the rows of one table."""
    table, target = table_of(
        X, y, settings.target, settings.format, settings.header, settings.sheet
    )
    table, groups = with_groups(table, settings.groups)
    time, families = checked_name("time", settings.time), settings.families
    problem = problem_of(
        table, target, task=settings.task, time=time, groups=groups, kinds=settings.kinds,
        random_state=settings.random_state, clean_labels=settings.clean_labels,
    )  # fmt: skip
    command = command or call_of(X, y, **vars(replace(settings, groups=groups)))
    metric = metric_for(problem, settings.metric, settings.positive)
    n_folds = None if clock.budget is None else folds_in(problem, clock.budget)
    folded = FoldedProblem(problem, metric, n_folds)
    suiting, others = families_for(problem, settings.peers, metric, families is not None)
    if families is not None:
        suiting, others = chosen_families(families, suiting, others)
    dropped = [Dropped(name, why) for name, why in others]
    ledger, word = ledger_for(settings.ledger)
    # On a busy machine threads of BLAS wait for each other, a hundred times longer than one takes,
    # and within one call, in which no end of time is heard.
    threads: Any = nullcontext() if clock.budget is None else one_blas_thread()
    with clock.listening(), threads:
        findings, best, rows = _found(
            folded, suiting, dropped, clock, progress, vote=families is None,
            hints=[Hint("ledger", word)] if word else [], command=command, ledger=ledger,
            source=table.name,
        )  # fmt: skip
    told = replace(findings.protocol, n_table=len(table), n_fitted=len(rows))
    findings = replace(findings, protocol=told)
    problem = folded.problem  # which may have lost some rows for want of time
    how: dict[str, Any] = {"split": problem.split, "split_by": time or groups, "metric": metric}
    if findings.contestants[0].package != "rosenblatt":
        ours = [family for family in suiting if family.package == "rosenblatt"]
        forget_texts(best)
        return Comparison(
            findings, best, partial(_best_of_ours, folded, ours, findings, clock, how)
        )
    chosen, proved = findings.contestants[0].family, findings.certificate
    return Comparison(
        findings, best, saved_model(problem, chosen, best, rows, certificate=proved, **how)
    )


def _compare_source(
    source: Source,
    settings: CompareSettings,
    clock: Clock,
    progress: Progress | None,
    command: str,
) -> Comparison:
    """Compare on a sample of a source, and fit the best to all of it."""
    from .large_sources import families_by_parts, fitted_to_all, sample_of, sentence

    if settings.target not in (None, source.target) or source.target is None:
        raise TableError(
            f"The source has the target {source.target!r}; got target={settings.target!r}."
        )
    sample, n_rows = sample_of(source, seed=settings.random_state)
    families = settings.families
    if families is None:
        families = families_by_parts(sample, source.target, settings.task)
    settings = replace(settings, target=source.target, families=families)
    found = _compare_table(sample, None, settings, clock, progress, command)
    if found.findings.nothing_fitted:
        return found
    saved = fitted_to_all(found.saved, source, n_rows)
    said = sentence(len(sample), n_rows, saved.family)
    findings = replace(found.findings, notes=[said, *found.findings.notes])
    return Comparison(findings, saved.model, saved)


def _best_of_ours(
    folded: FoldedProblem, ours: list[Family], findings: Findings, clock: Clock, how: dict[str, Any]
) -> SavedModel:
    """The first model on the leaderboard that a file can hold, fitted as the chosen one was.

    It is that of the training part if there is no time for another fit.
    """
    problem, named = folded.problem, {family.name: family for family in ours}
    for entry in findings.contestants:
        if entry.family in named:
            family = named[entry.family]
            model, rows = chosen_model(folded, family, entry, clock)
            proof = partial(certificate_of, problem, family, model, rows)
            proved = clock.attempt(proof, clock.left)
            return saved_model(problem, entry.family, model, rows, certificate=proved, **how)
    best = findings.contestants[0]
    raise ValueError(
        f"The best is {best.family} of {best.package}, and model files hold models of rosenblatt "
        "alone, of which none was fitted: compare more families, or with more time."
    )


def _found(
    folded: FoldedProblem,
    families: list[Family],
    dropped: list[Dropped],
    clock: Clock,
    progress: Progress | None,
    *,
    vote: bool,
    hints: list[Hint],
    source: str,
    **rest: Any,
) -> tuple[Findings, Pipeline, NDArray[np.int64]]:
    """Search, and conclude from what was found in the time there was."""
    whole = folded.problem
    basis = baseline_of(whole)
    baseline = contestant(folded, basis, folded.candidates(basis))
    seconds = clock.left * TIME_FOR_HINTS
    hints = hints + clock.attempt(lambda: hints_of(whole), seconds, [])
    found, late = search_families(folded, families, clock, progress, vote)
    if folded.problem is not whole:  # there was no time to learn from all rows
        baseline = contestant(folded, basis, folded.candidates(basis))
    if not found and not clock.stopped:
        reasons = "; ".join(f"{drop.family}: {drop.reason}" for drop in (late + dropped)[:3])
        raise TableError(f"No family could be fitted to {source} ({reasons}).")
    return conclude(
        folded, found or [(basis, baseline)], baseline, clock,
        hints=hints, dropped=dropped + late, source=source, **rest,
    )  # fmt: skip


# Where the opening of a test set is written down; found before anything is searched for.


def ledger_for(ledger: Any = None) -> tuple[Path, str]:
    """Return a file that can be written to, and a message if it is damaged or in an unusual place.

    It is among the user's own files, else in the working folder: it knows a test set by its rows,
    so that one file does for many.
    """
    if ledger is not None:
        path = Path(os.path.expanduser(ledger)).absolute()
        if trouble := _trouble(path):
            raise TableError(
                f"The opening of the test set cannot be written to {path} ({trouble}); give "
                "another place as ledger."
            )
        return path, _torn(path)
    own, here = _own_files() / DEFAULT_LEDGER, Path(DEFAULT_LEDGER).absolute()
    if not (trouble := _trouble(own, make_folder=True)):
        return own, _torn(own)
    if _trouble(here):
        raise TableError(
            f"The opening of the test set can be recorded neither in {own.parent} nor in "
            f"{here.parent} ({trouble}): run this in a folder that can be written to."
        )
    return here, f"No file can be written in {own.parent}: the opening is recorded in {here}."


def _trouble(path: Path, make_folder: bool = False) -> str:
    """Return why records cannot be added to a ledger; empty if they can."""
    try:
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        there = path.exists()
        # It is made when first needed: one that is made and taken away again may have got a record
        # of somebody else's in between.
        with path.open("ab") if there else TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        return error.strerror or str(error)
    if there:
        Ledger(path).openings("")  # a damaged one shows now
    return ""


def _torn(path: Path) -> str:
    """A word on records of which only a part was written."""
    lines = Ledger(path).torn()
    if not lines:
        return ""
    which = f"Line {lines[0]}" if len(lines) == 1 else f"Lines {', '.join(map(str, lines))}"
    holds = "holds a part of a record, and counts as an opening"
    holds = holds if len(lines) == 1 else "hold parts of records, and count as openings"
    return f"{which} of {path} {holds}: something was stopped, or the disk full, as it was written."


def _own_files() -> Path:
    """Return the folder of the user's own files of this program."""
    state = os.environ.get("XDG_STATE_HOME") or Path("~/.local/state").expanduser()
    return Path(state) / "rosenblatt"
