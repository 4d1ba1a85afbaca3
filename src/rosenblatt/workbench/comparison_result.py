"""What a comparison gives back: a leaderboard, the chosen model, a report, a file."""

import warnings
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from .findings import Findings, figure
from .model_file import SavedModel, save_model
from .significance import interval_of_mean
from .verdicts import NOTHING_FITTED, name_on_board, outcome

if TYPE_CHECKING:
    import pandas as pd


class Comparison:
    """What `compare` found.

    Attributes
    ----------
    leaderboard : pandas.DataFrame
        A line for each family, best first, by cross-validated scores of the training part.
    best : Pipeline
        The chosen model, fitted to the training and development part.
    findings : Findings
        All that was found: scores of folds, the opening of the test set, curves, hints.

    Examples
    --------
    >>> import os, tempfile, rosenblatt
    >>> folder = tempfile.TemporaryDirectory()
    >>> found = rosenblatt.compare("diabetes", target="progression", families=["least squares"],
    ...                            ledger=os.path.join(folder.name, "openings.jsonl"))
    >>> found
    <Comparison of 1 families on diabetes: least squares, 0.4...>
    >>> folder.cleanup()
    """

    def __init__(
        self,
        findings: Findings,
        best: Pipeline,
        saved: SavedModel | Callable[[], SavedModel] | None = None,
    ) -> None:
        self.findings, self.best, self._saved = findings, best, saved

    @property
    def leaderboard(self) -> "pd.DataFrame":
        """A line for each family and the baseline, best first."""
        import pandas as pd

        lines, protocol = [], self.findings.protocol
        for entry in self.findings.board:
            interval = interval_of_mean(entry.scores, protocol.metric, protocol.fold_ratio)
            lines.append(
                {
                    "family": entry.family,
                    "score": entry.mean,
                    "deviation": entry.deviation,
                    "low": interval.low,
                    "high": interval.high,
                    "p_value": entry.p_value,
                    "alike": entry in self.findings.alike,
                    "fit_seconds": entry.fit_seconds,
                    "predict_seconds": entry.predict_seconds,
                    "size": entry.size,
                    "parameters": entry.parameters,
                    "baseline": entry is self.findings.baseline,
                    "note": entry.note,
                }
            )
        return pd.DataFrame(lines)

    def report(self, path: Any) -> Any:
        """Write the report, one page of HTML, whole or not at all, and return its path."""
        from .report import save

        save(self.findings, path)
        return path

    @property
    def saved(self) -> SavedModel:
        """The chosen model with what its file holds; of peers, the best of ours."""
        if self._saved is None:
            raise ValueError("This comparison knows no table, and cannot write a file.")
        if self.findings.nothing_fitted:
            raise ValueError(NOTHING_FITTED)
        if callable(self._saved):
            self._saved = self._saved()
        return self._saved

    def save(self, path: Any) -> None:
        """Write the chosen model to a file that `rosenblatt predict` and `load_model` read.

        The path, such as "model.skops", is written whole or not at all. A file holds models of
        rosenblatt alone: if a peer is the best, the best of ours is fitted and written, with a
        warning.
        """
        saved = self.saved
        best = self.findings.contestants[0]
        if saved.family != best.family:
            warnings.warn(
                f"The best is {best.family} of {best.package}, and model files hold models of "
                f"rosenblatt alone: {saved.family}, the best of ours, is saved instead.",
                stacklevel=2,
            )
        save_model(saved, path)

    def __str__(self) -> str:
        metric = self.findings.protocol.metric
        wide = max(10, len(metric))
        lines = [f"{'':2}{'family':<38}{metric:>{wide}}{'±':>9}"]
        for entry in self.findings.board:
            mark = "=" if entry in self.findings.alike else " "
            name, mean = name_on_board(entry, self.findings), figure(entry.mean)
            lines.append(f"{mark:2}{name:<38}{mean:>{wide}}{figure(entry.deviation):>9}")
        return "\n".join([*lines, *outcome(self.findings)])

    def __repr__(self) -> str:
        best = self.findings.contestants[0]
        if self.findings.nothing_fitted:
            return f"<Comparison on {self.findings.source}: no model could be fitted in time>"
        return (
            f"<Comparison of {len(self.findings.contestants)} families on {self.findings.source}: "
            f"{best.family}, {figure(best.mean)}>"
        )

    def _repr_html_(self) -> str:
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in outcome(self.findings))
        return str(self.leaderboard.to_html(float_format=figure)) + said
