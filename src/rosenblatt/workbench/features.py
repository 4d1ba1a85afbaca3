"""From the columns of a table to the numbers that most models take, learned on training rows alone.

Numbers are centred and scaled, what is missing is put at the mean and marked by a column of its
own; categories become columns of zeros and ones; dates become numbers; texts become counts of
words, or tf-idf.
"""

import json
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rosenblatt.runtime import deadline

from .column_parts import CODED_PARTS, PARTS, Numbers, Part, Terms
from .row_view import NO_LONGER, dates_in, frame_for, numbers_in
from .texts import CountedTexts

# A table of numbers may take this much as it is; a larger one is kept sparse.
MOST_BYTES = 2**27
MOST_BYTES_OF_TEXTS = 2**20  # most words are in few texts, and zeros take time as well
LEAST_WIDTH = 2  # columns for each one that is not zero in a row: fewer take less room as they are
ROWS_AT_A_TIME = 2**14
CELLS_AT_A_TIME = 2**19  # that are not zero


class TableFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns a polars data frame into numbers.

    Parameters
    ----------
    kinds : dict
        The kind of each column to be used, by name: "numeric", "boolean", "date", "categorical" or
        "text".
    counts : bool
        Whether numbers stay as they are, for models of counts.
    single : bool
        Whether dense numbers come out in 32 bits, which take half the memory.
    notations : dict or None
        How numbers or dates of some columns are written in words, by name.
    coded : bool
        Whether a category is one number, its place among those known, and a number that is missing
        is NaN: for models that read both.

    Attributes
    ----------
    parts_ : what was learned of each column.
    n_features_out_ : how many columns come out.

    Examples
    --------
    >>> import polars as pl
    >>> from .features import TableFeatures
    >>> frame = pl.DataFrame({"age": [20.0, None, 40.0], "town": ["Rome", "Oslo", "Rome"]})
    >>> features = TableFeatures({"age": "numeric", "town": "categorical"}).fit(frame)
    >>> features.transform(frame)
    array([[-1.,  0.,  0.,  1.],
           [ 0.,  1.,  1.,  0.],
           [ 1.,  0.,  0.,  1.]])
    >>> list(features.get_feature_names_out())
    ['age', 'age is missing', 'town = Oslo', 'town = Rome']
    """

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = set()
    texts: CountedTexts | None = None  # shared by the models of one table, and not stored

    def __init__(
        self,
        kinds: dict[str, str],
        counts: bool = False,
        single: bool = False,
        notations: dict[str, str] | None = None,
        coded: bool = False,
    ) -> None:
        self.kinds = kinds
        self.counts = counts
        self.single = single
        self.notations = notations
        self.coded = coded

    def fit(self, frame: Any, y: Any = None) -> Self:
        """Learn categories, means and deviations from training rows; return self."""
        frame = frame_for(frame, self.kinds, self.notations)
        known = CODED_PARTS if self.coded else PARTS
        parts = [known[kind](name) for name, kind in self.kinds.items()]
        for part in parts:
            deadline.check()
            if isinstance(part, Terms):
                part.texts = self.texts
            part.fit(frame[part.name], self.counts)
        self.parts_ = parts
        self.n_features_out_ = sum(part.width() for part in parts)
        return self

    def share_counts(self, texts: CountedTexts | None) -> Self:
        """Count words where others count them, too; with None for each call anew. Return self."""
        self.texts = texts
        for part in getattr(self, "parts_", []):
            if isinstance(part, Terms):
                part.texts = texts
        return self

    def transform(self, frame: Any) -> Any:
        """Return the numbers (n, m) of rows, as an array or, where that is large, a CSR matrix.

        Rows have the columns that were fitted, in any order. Those of an array are x0, x1, ..., or,
        if the model knows them by other names and there are as many, in the order of `kinds`.
        """
        check_is_fitted(self)
        frame, width = frame_for(frame, self.kinds, self.notations), self.n_features_out_
        if self.sparse_for(frame.height):
            return self._sparse(frame)
        dense = np.empty((frame.height, width), np.float32 if self.single else np.float64)
        start = 0
        for part in self.parts_:
            deadline.check()
            block = part.transform(frame[part.name])
            stop = start + block.shape[1]
            dense[:, start:stop] = block.toarray() if sp.issparse(block) else block
            start = stop
        return dense

    def sparse_for(self, n_rows: int) -> bool:
        """Return whether so many rows become a CSR matrix."""
        width = self.n_features_out_
        most = MOST_BYTES_OF_TEXTS if "text" in self.kinds.values() else MOST_BYTES
        return bool(8 * n_rows * width > most and LEAST_WIDTH * self._n_used() < width)

    def _n_used(self) -> int:
        """How many columns are not zero in a row, about."""
        return sum(part.n_used() for part in self.parts_)

    def _sparse(self, frame: Any) -> Any:
        """The numbers as a CSR matrix, made of some rows at a time: on the way it is larger."""
        blocks = []
        size = min(ROWS_AT_A_TIME, CELLS_AT_A_TIME // self._n_used() + 1)
        for start in range(0, frame.height, size):
            deadline.check()
            some = frame.slice(start, size)
            columns = [part.transform(some[part.name]) for part in self.parts_]
            blocks.append(sp.hstack(columns, format="csr"))
        return sp.vstack(blocks, format="csr")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what the columns are called."""
        check_is_fitted(self)
        return np.array([name for part in self.parts_ for name in part.names()], object)

    def __getstate__(self) -> dict[str, Any]:
        state = packed(super().__getstate__())
        return {name: value for name, value in state.items() if name != "texts"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unpacked(state))


class DenseRows(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of a sparse matrix, zeros and all, for models that read no sparse ones.

    Examples
    --------
    >>> DenseRows().fit_transform(sp.csr_matrix([[0, 2]]))
    array([[0., 2.]])
    """

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = set()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is to be learned but the width; return self."""
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the rows as an array."""
        return np.asarray(X.toarray() if sp.issparse(X) else X, np.float64)


class TableColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns of a table that a model of mixed columns reads, as they are; dates as days.

    Parameters
    ----------
    kinds : dict
        The kind of each column to be used, by name.
    single : bool
        Whether numbers that 32 bits hold come out in 32 bits.
    notations : dict or None
        How numbers or dates of some columns are written in words, by name.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"id": [7, 8], "town": ["Rome", None]})
    >>> TableColumns({"town": "categorical"}).fit(frame).transform(frame).columns
    ['town']
    """

    _sklearn_auto_wrap_output_keys: ClassVar[set[str]] = set()

    def __init__(
        self, kinds: dict[str, str], single: bool = False, notations: dict[str, str] | None = None
    ) -> None:
        self.kinds = kinds
        self.single = single
        self.notations = notations

    def fit(self, frame: pl.DataFrame, y: Any = None) -> Self:
        """Nothing is to be learned; return self."""
        self.n_features_out_ = len(self.kinds)
        return self

    def transform(self, frame: Any) -> pl.DataFrame:
        """Return the columns, in the order of `kinds`."""
        frame = frame_for(frame, self.kinds, self.notations)
        return pl.DataFrame([self._column(frame[name], kind) for name, kind in self.kinds.items()])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return what the columns are called."""
        return np.array(list(self.kinds), object)

    def parameters_for(self, model: Any) -> dict[str, Any]:
        """The parameters by which a model of mixed columns learns their kinds."""
        kinds = self.mixed_kinds()
        if "kinds" in model.get_params(deep=False):
            return {"kinds": kinds}
        categorical = [name for name, kind in kinds.items() if kind == "categorical"]
        return {"metric_params": {"categorical": categorical, "unknown": "differs"}}

    def mixed_kinds(self) -> dict[str, str]:
        """What `MixedNB` is to take each column for."""
        other = {"date": "numeric", "boolean": "categorical"}
        return {name: other.get(kind, kind) for name, kind in self.kinds.items()}

    def _column(self, values: pl.Series, kind: str) -> pl.Series:
        if kind == "date":
            moments = dates_in(values)
            if moments.dtype == pl.Time:
                return moments.cast(pl.Int64) / 86_400_000_000_000
            return moments.cast(pl.Datetime("us")).cast(pl.Int64) / 86_400_000_000
        if kind == "numeric":
            of_few_bits = self.single and values.dtype in NO_LONGER
            return values.cast(pl.Float32) if of_few_bits else numbers_in(values)
        return values.cast(pl.String).cast(pl.Categorical)  # a number a row, each word once


# What was learned of a table's columns, as a model file holds it: columns of numbers as arrays.
#
# An object for each column would be a dozen nodes of the file's tree, and take most of the time
# that it takes to write and to read a file of thousands of columns.


ARRAYS = ("place", "mean", "scale", "marks")  # place: which of all columns


def packed(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of `TableFeatures`, few objects whatever the number of columns."""
    state = {**state, "kinds": json.dumps(state["kinds"])}
    if "parts_" not in state:
        return state
    parts: list[Part] = state["parts_"]
    numbers = [(j, part) for j, part in enumerate(parts) if type(part) is Numbers]
    state["parts_"] = [part for part in parts if type(part) is not Numbers]
    state["numbers_"] = {
        "place": np.array([j for j, _ in numbers], np.int64),
        "mean": np.array([part.mean for _, part in numbers], np.float64),
        "scale": np.array([part.scale for _, part in numbers], np.float64),
        "marks": np.array([part.marks for _, part in numbers], bool),
    }
    return state


def unpacked(state: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes that `packed` was given."""
    state = {**state, "kinds": json.loads(state["kinds"])}
    arrays = state.pop("numbers_", None)
    if arrays is None:
        return state
    names, others = list(state["kinds"]), iter(state["parts_"])
    columns = (arrays[name].tolist() for name in ARRAYS)
    numbers = {j: _numbers(names[j], *rest) for j, *rest in zip(*columns, strict=True)}
    state["parts_"] = [
        numbers[j] if j in numbers else next(others, None) for j in range(len(names))
    ]
    if None in state["parts_"] or next(others, None) is not None:
        raise ValueError("there is not one part for each column")
    return state


def _numbers(name: str, mean: float, scale: float, marks: bool) -> Numbers:
    part = Numbers(name)
    part.mean, part.scale, part.marks = mean, scale, marks
    return part
