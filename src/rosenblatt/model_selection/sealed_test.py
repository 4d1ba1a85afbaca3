"""A test set that remembers who has looked at it."""

import os
import warnings
from collections.abc import Callable
from numbers import Real
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils.validation import _num_samples

from .ledger import Ledger, Opening, digest_of, now

DEFAULT_LEDGER = "test-openings.jsonl"
LONGEST = 200  # characters of a parameter that are worth writing down


class SealedTest:
    """A test set that can be scored on, and that counts how often.

    A test score is an honest estimate once: as soon as a choice was made by it, it is a development
    score. The rows are sealed in; `open` scores a model on them and writes a line to a ledger
    beside the data. The first opening is silent; later ones warn, and say when and by which model
    the set was opened before. The ledger knows a test set by its rows, in any order and storage,
    so that other processes and later sessions count on.

    This is a seal, not a lock: it guards against forgetting, not against intent. Whoever has the
    rows elsewhere can score on them unseen, a model or a scorer of your own is shown the rows, and
    a ledger can be deleted.

    Parameters
    ----------
    X, y : the test rows, and their labels (None if there are none).
    ledger : path of the file that openings are written to; made when first needed.
    data : path of the file that the rows came from; the ledger is then beside it, named
        ``<data>.openings.jsonl``. With neither, beside the file of a memory map, else
        ``test-openings.jsonl`` in the working folder.

    Attributes
    ----------
    n_rows : how many rows there are.
    n_openings : how often they were scored on, ever.
    openings : one record for each, first ones first.
    digest : what the ledger knows these rows by.
    ledger : the path of the ledger.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.dummy import DummyClassifier
    >>> from rosenblatt import SealedTest
    >>> folder = tempfile.TemporaryDirectory()
    >>> test = SealedTest([[0], [1], [2]], [1, 1, 0], ledger=os.path.join(folder.name, "ledger"))
    >>> model = DummyClassifier().fit([[0], [1]], [1, 1])
    >>> round(test.open(model, reason="the final model"), 3)
    0.667
    >>> test.n_openings, test.openings[0].reason
    (1, 'the final model')
    >>> folder.cleanup()
    """

    def __init__(self, X: Any, y: Any = None, *, ledger: Any = None, data: Any = None) -> None:
        source = getattr(X, "filename", None) if data is None else data
        X, y = _own(X), _own(y)
        self.n_rows = _num_samples(X)
        if y is not None and _num_samples(y) != self.n_rows:
            raise ValueError(
                f"X and y must have as many rows; X has {self.n_rows} and y has {_num_samples(y)}."
            )
        if ledger is not None and data is not None:
            raise ValueError("Give the path of the ledger or of the data, not both.")
        self.digest = digest_of(X, y)
        self._ledger = Ledger(_ledger_path(ledger, source))
        # In a closure: no attribute of the seal holds the rows.
        self._score = _scorer_on(X, y)

    def open(self, model: Any, scoring: Any = None, *, reason: str = "") -> Any:
        """Return the score of a fitted model on the sealed rows, and write down that it was asked.

        Nothing is written, and nothing counted, if scoring fails; no score is given if it cannot
        be written down.

        Parameters
        ----------
        model : a fitted estimator.
        scoring : as in scikit-learn: None for the model's own score, a name, a function of model,
            X and y, or several in a list or dict.
        reason : what the score is wanted for; written to the ledger.

        Returns
        -------
        score : float, or a dict of them for several.
        """
        self._ledger.openings(self.digest)  # an unreadable ledger shows before anything is seen
        score = _plain(self._score(check_scoring(model, scoring=scoring), model))
        opening = Opening(
            test=self.digest,
            rows=self.n_rows,
            when=now(),
            model=f"{type(model).__module__}.{type(model).__qualname__}",
            parameters=_parameters(model),
            model_hash=_hash(model),
            scoring=_asked(scoring),
            score=score,
            reason=str(reason),
        )
        before = self._ledger.append(opening)
        if before:
            warnings.warn(_second_look(before, self.n_rows), stacklevel=2)
        return score

    @property
    def openings(self) -> list[Opening]:
        """What the ledger says of these rows: an `Opening` for each time."""
        return self._ledger.openings(self.digest)

    @property
    def n_openings(self) -> int:
        """How often these rows were scored on, here and elsewhere."""
        return len(self.openings)

    @property
    def ledger(self) -> Path:
        """The path of the ledger."""
        return self._ledger.path

    def __repr__(self) -> str:
        times = {0: "never opened", 1: "opened once"}
        opened = times.get(self.n_openings, f"opened {self.n_openings} times")
        return f"<SealedTest of {self.n_rows} rows, {opened}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            "A SealedTest cannot be pickled or copied: its rows would lie open in the file. Keep "
            "them with your data and seal them again; the ledger remembers the openings."
        )


def _scorer_on(X: Any, y: Any) -> Callable[[Any, Any], Any]:
    """What scores a model on rows that it alone holds."""

    def score(scorer: Any, model: Any) -> Any:
        return scorer(model, X) if y is None else scorer(model, X, y)

    return score


def _own(rows: Any) -> Any:
    """A copy that nobody else can change."""
    if isinstance(rows, list | tuple):
        return np.array(rows) if not any(isinstance(row, str) for row in rows) else list(rows)
    if hasattr(rows, "clone"):  # polars
        return rows.clone()
    return rows.copy() if hasattr(rows, "copy") else rows


def _ledger_path(ledger: Any, data: Any) -> Path:
    """Where openings are written, made absolute: the working folder may change later."""
    if ledger is None:
        ledger = DEFAULT_LEDGER if data is None else f"{data}.openings.jsonl"
    path = Path(os.path.expanduser(ledger)).absolute()
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder of the ledger does not exist: {path.parent}.")
    return path


def _plain(score: Any) -> Any:
    """A score as plain numbers; anything else might be the rows themselves."""
    if isinstance(score, dict):
        return {str(name): _plain(value) for name, value in score.items()}
    if isinstance(score, np.ndarray) and score.ndim == 0:
        score = score.item()
    if not isinstance(score, Real):
        raise TypeError(
            f"scoring must give a number, or a dict of numbers; got {type(score).__name__}."
        )
    return float(score)


def _asked(scoring: Any) -> Any:
    """What was asked, in plain JSON types."""
    if scoring is None or isinstance(scoring, str):
        return scoring
    if isinstance(scoring, dict):
        return {str(name): _asked(value) for name, value in scoring.items()}
    if isinstance(scoring, list | tuple | set):
        return sorted(map(str, scoring))
    return getattr(scoring, "__qualname__", repr(scoring))


def _parameters(model: Any) -> dict[str, str]:
    """The model's parameters, as it would print them."""
    given = model.get_params(deep=False) if hasattr(model, "get_params") else {}
    return {name: repr(value)[:LONGEST] for name, value in given.items()}


def _hash(model: Any) -> str | None:
    """A hash of all that the model holds; None if that cannot be told."""
    try:
        return str(joblib.hash(model, hash_name="sha1"))
    except Exception:
        return None


def _second_look(before: list[Opening], n_rows: int) -> str:
    """The warning."""
    last = before[-1]
    model = last.model.rpartition(".")[2]
    return (
        f"This test set of {n_rows} rows was opened before: {last.when} by {model}"
        f"{f' ({last.reason})' if last.reason else ''}. This is opening number {len(before) + 1}; "
        "a score that choices were made by is no longer an unbiased estimate."
    )
