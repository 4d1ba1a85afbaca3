"""One family on the training part: every setting on every fold, by the cheapest road there is.

What is learned of columns (means, categories) is learned within each fold, and shared by all
families and settings; our own searches then take paths and sums instead of single fits.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from rosenblatt.model_selection import GridSearchCV
from rosenblatt.model_selection.additive_pipelines import is_additive
from rosenblatt.preprocessing import Standardizer
from rosenblatt.runtime.deadline import OutOfTime

from .boosting_search import rounds_in_time
from .families import Family
from .features import TableFeatures
from .findings import Candidate, Contestant
from .pipelines import (
    CODED,
    model_of,
    preparation,
    reads_texts,
)
from .problem import Problem, can_be_smaller, smaller
from .row_view import n_bytes
from .scoring import OF, OF_ANY_CLASSES, score_of
from .splits import USUAL_FOLDS, Rows

# Features of all folds at once, where what is learned of columns is their mean and deviation.
#
# The features of a fold are then an affine map of those of the whole training part, column by
# column, and what a model of sums knows of the one follows from what it knows of the other: rows
# are read once for all folds.


NO_DEVIATION = 1e-12  # of columns whose deviation is about 1: the rest is rounding


class Rescaler(Standardizer):
    """Centres and scales some of the columns, those of a mask (d,); others stay as they are."""

    def __init__(self, columns: Any = None) -> None:
        super().__init__("z-score", ddof=0)
        self.columns = columns

    def _conclude(self, rows: Any, final: bool) -> None:
        super()._conclude(rows, final)
        assert self.mean_ is not None  # as the method says
        assert self.scale_ is not None
        self.mean_ = np.where(self.columns, self.mean_, 0.0)
        varies = self.columns & (self.scale_ > NO_DEVIATION)
        self.scale_ = np.where(varies, self.scale_, 1.0)


def scaled_alike(
    whole: TableFeatures, others: TableFeatures, of_folds: list[TableFeatures]
) -> NDArray[np.bool_] | None:
    """Which columns (d,) folds only centre and scale in another way; None if they differ by more.

    They do if a category is not met in all folds, or numbers are missing. `others` are the columns
    that are no numbers: of all rows, and of each fold.
    """
    parts = [part.scaled() for part in whole.parts_]
    names = others.get_feature_names_out().tolist()
    if None in parts or any(f.get_feature_names_out().tolist() != names for f in of_folds):
        return None
    return np.array([scaled for part in parts for scaled in part or []], bool)


FEWEST_ROWS = 500  # that settings are sorted out on
FEWEST_TREES = 12  # that settings are sorted out with,
ENOUGH_ROWS = 20_000  # grown on so many rows
LEAST_TREES = 25  # of a forest; if there is no time for so many, each grows on fewer rows
ROOM = 1.4  # times what forests are expected to take: more rows make deeper trees
KEPT_OF_HALVED = 3  # one of so many settings goes on to twice the rows or trees
MOST_KEPT_BYTES = 2**27  # of features of folds

Settings = list[dict[str, Any]]
Array = NDArray[np.float64]


class Prepared(NamedTuple):
    """Columns as models take them."""

    step: Any  # that prepares them, fitted
    X: Any
    seconds: float  # that it took


class FoldedProblem:
    """A problem with its folds; the features of each fold are kept while there is room."""

    def __init__(self, problem: Problem, metric: str, most_folds: int | None = None) -> None:
        self.metric, self.whole, self._smaller = metric, problem, smaller(problem)
        self.end = np.inf  # of the time of the family at hand, by `time.perf_counter`
        self._enter(problem, most_folds)

    def _enter(self, problem: Problem, most_folds: int | None) -> None:
        self.problem, metric = problem, self.metric
        folds = problem.folds(every_class=metric not in OF_ANY_CLASSES)
        self.folds = folds[:most_folds]
        self.hints = problem.on_folds(len(folds))
        # Why there are not as many folds as usual, in words.
        self.why_folds = problem.why_folds(len(folds))
        if len(self.folds) < min(len(folds), USUAL_FOLDS):
            self.why_folds = f"of {len(folds)} that there are, for want of time"
        self.rows, self.y = problem.some(problem.train), problem.y[problem.train]
        # By its name a score may be had from sums; a function sees each fit.
        needed = (rows for f in self.folds for rows in (f[:1] if metric in OF_ANY_CLASSES else f))
        plain = OF not in metric and not problem.lack_classes(needed)
        self.scoring: Any = metric if plain else score_of(metric)
        self._kept: dict[tuple[str, int], Prepared] = {}
        self._best: dict[bool, tuple[float, str, Pipeline]] = {}  # of ours, and of peers
        vars(self).pop("_scaled_columns", None)

    def take_fewer_rows(self) -> bool:
        """Go on with a part of the training rows; False if they are few already."""
        part = next(self._smaller, None)
        if part is not None:
            self._enter(part, len(self.folds))  # few rows are searched by more folds, if at ease
        return part is not None

    @property
    def ratio(self) -> float:
        """Rows to score on over rows to fit to, on average over the folds."""
        return float(np.mean([len(scored) / len(fitted) for fitted, scored in self.folds]))

    def fitted(self, family: Family) -> Pipeline | None:
        """A family's model of the training part, if it is the best of ours or of the peers'."""
        return next((model for _, name, model in self._best.values() if name == family.name), None)

    def keep_best(self, entry: Contestant, model: Pipeline) -> None:
        """Keep a model of the training part if there was no better one, ours and peers' apart."""
        ours = entry.package == "rosenblatt"
        if ours not in self._best or entry.mean > self._best[ours][0]:
            self._best[ours] = (entry.mean, entry.family, model)

    def candidates(self, family: Family) -> list[Candidate]:
        """Every setting of a family with its score on every fold.

        If that would take until after `end`, the setting that is best on the first fold. If that
        would do so, too, and there is no answer yet, it is `OutOfTime`; but rounds of boosting have
        been chosen by the time there is.
        """
        settings: Settings = list(ParameterGrid(family.grid))
        if reads_texts(family):  # at once: the first fold would seem to take longer than others
            self.problem.count_texts()
        if family.halve:
            halved = self._halved if family.halve == "rows" else self._halved_by_trees
            settings = halved(family, settings)
        settings, scores = self._scores(family, settings)
        return [
            Candidate(setting, column, np.empty(0))
            for setting, column in zip(settings, scores.T, strict=True)
        ]

    def _scores(self, family: Family, settings: Settings) -> tuple[Settings, Array]:
        """The settings that there was time for, and their scores (folds, settings)."""
        first = preparation(self.problem, family)
        if family.takes in ("rows", "table") or (first == "passthrough" and not family.halve):
            # Nothing is learned of columns: one search, in one pass, for all folds.
            X = self.rows if first == "passthrough" else first.transform(self.rows)
            return settings, self._search(family, settings, X, self.folds)
        together = self._together(family)
        if together is not None:
            X, columns = together
            return settings, self._search(family, settings, X, self.folds, Rescaler(columns))
        rows = []
        for f in range(len(self.folds)):
            start = time.perf_counter()
            rows.append(self._search_fold(family, settings, f, *self._places(f))[0])
            now = time.perf_counter()
            # Beside the other folds there is a fit to all of them.
            if now + (len(self.folds) - f) * (now - start) <= self.end:
                continue
            if f == 0 and len(settings) > 1:
                best = int(np.argmax(np.nan_to_num(rows[0], nan=-np.inf)))
                settings, rows = [settings[best]], [rows[0][[best]]]
            elif (
                not self._best
                and can_be_smaller(self.problem)
                and family.halve != "boosting rounds"
            ):
                raise OutOfTime  # better now, with time left for an answer from fewer rows
        return settings, np.array(rows)

    def _together(self, family: Family) -> tuple[Array, NDArray[np.bool_]] | None:
        """Features of the whole training part, and which columns are to be scaled in each fold.

        None if rows are to be read fold by fold: for a model that does not learn by sums, or
        because folds differ by more than a scale.
        """
        sums = family.before is None and is_additive(family.make())
        # The products of more columns than rows take longer than the rows themselves.
        wide = self.problem.task == "regression" and len(self.problem.used) > len(self.y)
        if not sums or wide or family.takes != "numbers" or self._scaled_columns is None:
            return None
        return self._whole(family).X, self._scaled_columns

    @cached_property
    def _scaled_columns(self) -> NDArray[np.bool_] | None:
        """The columns in which folds differ by their scale alone; None if they differ by more."""
        # Numbers of 32 bits are rounded in each fold, which has words of its own.
        if not self.problem.is_table or self.problem.single or self.problem.has_text:
            return None
        used = self.problem.used
        whole = TableFeatures(used).fit(self.rows)
        if whole.sparse_for(len(self.y)):  # a scaler would fill it
            return None
        # Numbers without gaps differ by their scale, whichever rows they are of.
        others = {name: kind for name, kind in used.items() if kind not in ("numeric", "date")}
        of_folds = [TableFeatures(others).fit(self.rows[fitted]) for fitted, _ in self.folds]
        return scaled_alike(whole, TableFeatures(others).fit(self.rows), of_folds)

    def _halved(self, family: Family, settings: Settings) -> Settings:
        """The settings that do best on few rows, then on twice as many, and so on."""
        fitted, scored = self._places(0)
        order = np.random.default_rng(self.problem.random_state).permutation(fitted)
        n_rows = FEWEST_ROWS
        while len(settings) > 1 and n_rows < len(fitted):
            scores = self._search_fold(family, settings, 0, np.sort(order[:n_rows]), scored)[0]
            settings = _best_of(settings, scores)
            n_rows *= 2
        return settings

    def _halved_by_trees(self, family: Family, settings: Settings) -> Settings:
        """The setting that does best with few trees, and with twice as many; as many as can be."""
        fitted, scored = self._places(0)
        rng = np.random.default_rng(self.problem.random_state)
        some = np.sort(rng.permutation(fitted)[:ENOUGH_ROWS])
        if family.halve == "boosting rounds":
            return rounds_in_time(self, family, some)
        most, n_trees, seconds = family.make().n_estimators, FEWEST_TREES, 0.0
        while len(settings) > 1 and n_trees < most:
            start = time.perf_counter()
            few = [{**setting, "n_estimators": n_trees} for setting in settings]
            scores = self._search_fold(family, few, 0, some, scored[:ENOUGH_ROWS])[0]
            seconds = (time.perf_counter() - start) / (len(few) * n_trees)
            settings = _best_of(settings, scores)
            n_trees *= 2
        # A fit for each fold and one to all of them.
        seconds *= ROOM * (len(self.folds) + 1 + self.ratio) * len(fitted) / len(some)
        left = max(self.end - time.perf_counter(), 0.0)
        fewer = _trees_in(left / seconds if seconds else np.inf, most)
        return [{**setting, **fewer} for setting in settings]

    def _places(self, fold: int) -> tuple[Rows, Rows]:
        """Return where rows to fit to and to score on stand among the features of a fold."""
        n_fitted, n_scored = map(len, self.folds[fold])
        return np.arange(n_fitted), np.arange(n_fitted, n_fitted + n_scored)

    def _search_fold(
        self, family: Family, settings: Settings, fold: int, fitted: Rows, scored: Rows
    ) -> Array:
        """Scores (1, settings) on features of a fold, fitted to some of its rows."""
        y = self.y[np.concatenate(self.folds[fold])]
        return self._search(family, settings, self._features(family, fold), [(fitted, scored)], y=y)

    def _features(self, family: Family, fold: int) -> Any:
        """The rows of a fold, those that it fits to first, by what these teach."""
        fitted, scored = self.folds[fold]
        if family.before is not None:
            X = self._features(replace(family, before=None), fold)
            return family.before().fit(X[: len(fitted)]).transform(X)
        return self._made(family, fold, fitted, np.concatenate([fitted, scored])).X

    def _whole(self, family: Family) -> Prepared:
        everything = np.arange(len(self.y))
        return self._made(family, -1, everything, everything)

    def _made(self, family: Family, fold: int, fitted: Any, rows: Any) -> Prepared:
        """Some rows of the training part, prepared by what some teach; fold -1 is all of them."""
        key = ("codes" if family.takes in CODED else family.takes, fold)
        if key in self._kept:
            return self._kept[key]
        start = time.perf_counter()
        step = preparation(self.problem, family)
        if step == "passthrough":
            return Prepared(step, self.rows[rows], 0.0)
        X = step.fit(self.rows[fitted]).transform(self.rows[rows])
        found = Prepared(step, X, time.perf_counter() - start)
        kept = sum(n_bytes(one.X) for one in [found, *self._kept.values()])
        # Beside a large table what is kept of one fold or two is in the way, and saves little.
        if max(kept, n_bytes(self.problem.X)) <= MOST_KEPT_BYTES:
            self._kept[key] = found
        return found

    def fit_whole(self, family: Family, model: Pipeline) -> tuple[Any, float]:
        """Fit a family's model to the training part; its last step's rows, and the seconds.

        Columns that another family has had prepared are not prepared again.
        """
        start, before = time.perf_counter(), 0.0
        front, last = model[:-1], model[-1]
        if isinstance(model[0], TableFeatures):
            ready = self._whole(family)
            model.steps[0] = (model.steps[0][0], ready.step)
            before = ready.seconds - (time.perf_counter() - start)
            X = ready.X if len(front) == 1 else front[1:].fit_transform(ready.X, self.y)
        else:
            X = front.fit_transform(self.rows, self.y)
        last.fit(X, self.y)
        return X, max(before, 0.0) + time.perf_counter() - start

    def _search(
        self,
        family: Family,
        settings: Settings,
        X: Any,
        folds: Sequence[Any],
        scaler: Rescaler | None = None,
        y: Any = None,
    ) -> Array:
        """Scores (folds, settings) of settings on features that are ready, or to be scaled."""
        if scaler is not None:
            settings = [{f"model__{name}": v for name, v in s.items()} for s in settings]
        names = {tuple(setting) for setting in settings}
        grid: Any = [{name: [value] for name, value in s.items()} for s in settings]
        if len(names) == 1 and len(*names) == 1:  # one parameter: said as such, it may be a path
            [[name]] = names
            grid = {name: [setting[name] for setting in settings]}
        model = model_of(self.problem, family)
        if scaler is not None:
            model = Pipeline([("scaler", scaler), ("model", model)])
        search = GridSearchCV(model, grid, scoring=self.scoring, cv=folds, refit=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings that nobody may choose
            search.fit(X, self.y if y is None else y)
        names_of_scores = [f"split{f}_test_score" for f in range(len(folds))]
        return np.array([search.cv_results_[name] for name in names_of_scores])


def _best_of(settings: Settings, scores: Array) -> Settings:
    """A share of the settings, those with the highest scores (settings,)."""
    best = np.argsort(-scores, kind="stable")[: -(-len(settings) // KEPT_OF_HALVED)]
    return [settings[i] for i in sorted(best)]


def _trees_in(affordable: float, most: int) -> dict[str, Any]:
    """What limits a forest to the trees that there is time for; nothing if it is for all.

    >>> _trees_in(200.0, 100), _trees_in(40.9, 100)
    ({}, {'n_estimators': 40})
    >>> _trees_in(5.0, 100)
    {'n_estimators': 25, 'bootstrap': True, 'max_samples': 0.2}
    """
    if affordable >= most:
        return {}
    if affordable >= LEAST_TREES:
        return {"n_estimators": int(affordable)}
    share = max(affordable / LEAST_TREES, 0.01)
    return {"n_estimators": LEAST_TREES, "bootstrap": True, "max_samples": share}
