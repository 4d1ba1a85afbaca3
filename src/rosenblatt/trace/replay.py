"""`Trace`, the fit callback that remembers: the reading half."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, overload

from rosenblatt.trace.recorder import Recorder
from rosenblatt.trace.run import Run, Step

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from .notation import Table


class Trace(Recorder):
    """Record a fit step by step, and replay it.

    Attach it with ``set_callbacks`` to a model, a ``Pipeline`` or a search, then fit. Step 0 is
    the model before anything was learnt and step k the model after the k-th step, so that
    ``len(trace)`` is one more than the number of steps made. Indexing, `table`, `plot` and
    `save` speak of one run, the last unless told otherwise, or of several starts the one that was
    kept; `runs` names them all, those of worker processes included. Objective and error are worked
    out when asked for, on the training data, which is kept by reference.

    Parameters
    ----------
    every : {"pass", "update", "visit"}, default="pass"
        What a step is: a pass over the data (or an iteration), a single update of a
        mistake-driven learner, or every visit to an example, right or wrong.

    Attributes
    ----------
    runs : names of the fits seen, in order.

    Examples
    --------
    >>> from rosenblatt import Perceptron, Trace
    >>> X, y = [[1, 1], [3, 2], [2, 4], [3, 4], [2, 3]], ["-", "+", "+", "+", "-"]
    >>> trace = Trace()
    >>> model = Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(X, y)
    >>> len(trace) == 1 + model.n_iter_
    True
    >>> trace[-1].estimator.coef_ == model.coef_
    array([[ True,  True]])
    """

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs: one per fit, start, and candidate and split of a search."""
        return tuple(run.label for run in self._all_runs())

    def steps(self, run: str | None = None) -> tuple[Step, ...]:
        """All steps of one run, the last if none is named."""
        return tuple(self._run(run).steps)

    def __len__(self) -> int:
        return len(self._run(None).steps) if self._all_runs() else 0

    @overload
    def __getitem__(self, index: int) -> Step: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Step, ...]: ...
    def __getitem__(self, index: int | slice) -> Step | tuple[Step, ...]:
        steps = self._run(None).steps if self._all_runs() else []
        if isinstance(index, slice):
            return tuple(steps[index])
        if not -len(steps) <= index < len(steps):
            raise IndexError(f"This trace has {len(steps)} steps; there is no step {index}.")
        return steps[index]

    def __iter__(self) -> Iterator[Step]:
        return iter(self[:])

    def __repr__(self) -> str:
        return f"<Trace every={self.every!r}: {len(self)} steps, {len(self.runs)} runs>"

    def to_frame(self, run: str | None = None) -> pd.DataFrame:
        """The steps of all runs, or of the one named, as a pandas DataFrame.

        Parameters
        ----------
        run : which run; all if None.

        Returns
        -------
        DataFrame with a row per step: ``run, step, epoch, objective, error``; for learners that
        publish a mean or a pocket, ``last_objective, last_error`` of the run itself; for models
        that publish them ``dual_gap, gradient_norm``; for passes
        the ``mistakes`` made in each; ``n_updates``, those corrected so far; for kernel models
        ``n_support``; for single visits ``row, score, mistake``; and for linear models the
        intercepts and weights, named after the features if they have names, and the classes if
        there are several (``"oak: width"``), else ``coef_0`` or, of class 2, ``coef_2_0``.
        Errors, mistakes and updates are left out where no step has any.

        Examples
        --------
        >>> from rosenblatt import Perceptron, Trace
        >>> trace = Trace()
        >>> model = Perceptron(shuffle=False).set_callbacks(trace)
        >>> model = model.fit([[2, 1], [-1, -1]], [1, -1])
        >>> trace.to_frame()[["step", "error", "mistakes", "n_updates", "intercept", "coef_0"]]
           step  error  mistakes  n_updates  intercept  coef_0
        0     0    0.5      <NA>          0        0.0     0.0
        1     1    0.0         1          1        1.0     2.0
        2     2    0.0         0          1        1.0     2.0
        """
        from rosenblatt.trace.frame import frame_of

        return frame_of(self._all_runs() if run is None else [self._run(run)])

    def table(self, run: str | None = None, *, max_rows: int = 40) -> Table:
        """The run as one would work it by hand: weights before, score, right or wrong, update.

        Single visits say which example was met: its row, an index into X that counts from 0
        (left out of one pass in data order), and up to four features its x and y. The weights w
        are those of the run; a mean or a pocket has a column of its own. Kernel models show a,
        how much each row counts, and the bias b. Passes have the mistakes made in each, and so
        far; gradient steps of a fixed length have the next update. What rounding left over of a
        weight is printed as 0.

        Parameters
        ----------
        run : which run; the last if None.
        max_rows : a longer table shows its first and last rows.

        Examples
        --------
        >>> from rosenblatt import Perceptron, Trace
        >>> trace = Trace(every="visit")
        >>> model = Perceptron(shuffle=False).set_callbacks(trace)
        >>> model = model.fit([[2, 1], [-1, -1]], [1, -1])
        >>> print(trace.table())
        | step | pass | row | x       | y  | w       | score | right? | update   |
        |------|------|-----|---------|----|---------|-------|--------|----------|
        | 1    | 1    | 0   | [2,1]   | 1  | [0,0,0] | 0     | no     | +[1,2,1] |
        | 2    | 1    | 1   | [-1,-1] | -1 | [1,2,1] | -2    | yes    | -        |
        | 3    | 2    | 0   | [2,1]   | 1  | [1,2,1] | 6     | yes    | -        |
        | 4    | 2    | 1   | [-1,-1] | -1 | [1,2,1] | -2    | yes    | -        |
        | end  |      |     |         |    | [1,2,1] |       |        |          |
        Perceptron: 4 visits; w has the bias first; rows count from 0, as in X.
        """
        from .by_hand_table import table_of

        found = self._run(run)
        return table_of(found, found.unit(self.every), max_rows)

    def plot(self, run: str | None = None, *, feature_names: Sequence[str] | None = None) -> Figure:
        """Curves of objective and error, and what moves: a boundary, or a regression's curve.

        Boundaries are drawn of two features, the curve of a regression of one: those that the model
        sees, or else those that its pipeline was given and expanded.

        Parameters
        ----------
        run : which run; the last if None.
        feature_names : names of the columns drawn; those of the fit if None.

        Returns
        -------
        The matplotlib figure; it is not shown.

        Examples
        --------
        >>> from rosenblatt import Perceptron, Trace
        >>> trace = Trace()
        >>> model = Perceptron().set_callbacks(trace).fit([[2, 1], [-1, -1]], [1, -1])
        >>> [ax.get_title(loc="left") for ax in trace.plot().axes]
        ['', 'training error', 'objective']
        """
        from rosenblatt.trace.picture import figure_of

        found = self._run(run)
        return figure_of(found, found.unit(self.every), feature_names)

    def save(
        self,
        path: str | os.PathLike[str],
        run: str | None = None,
        *,
        feature_names: Sequence[str] | None = None,
    ) -> None:
        """Write the run as one self-contained page with a slider, whole or not at all.

        The page needs no network. Its address leads to a step: ``run.html#step=3``. Past 2,000
        steps it shows an even selection of them, and says so; it stays below 5 MB.

        Parameters
        ----------
        path : the file to write, such as ``"run.html"``.
        run : which run; the last if None.
        feature_names : names of the columns of X; those the model was fitted with if None.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from rosenblatt import Perceptron, Trace
        >>> trace = Trace()
        >>> model = Perceptron().set_callbacks(trace).fit([[2, 1], [-1, -1]], [1, -1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = pathlib.Path(folder, "run.html")
        ...     trace.save(page)
        ...     page.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        from .page_data import save_page

        found = self._run(run)
        save_page(path, found, found.unit(self.every), feature_names)

    def _run(self, label: str | None) -> Run:
        runs = {run.label: run for run in self._all_runs()}
        if not runs:
            raise ValueError(
                "This trace is empty: attach it with model.set_callbacks(trace), then fit."
            )
        if label is None:
            return next(run for run in reversed(runs.values()) if run.kept)
        if label not in runs:
            raise ValueError(f"run must be one of {list(runs)}; got {label!r}.")
        return runs[label]
