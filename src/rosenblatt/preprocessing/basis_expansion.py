"""More features from few: a model that is linear in functions of the columns."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.callback import CallbackSupportMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import (
    _check_feature_names_in,
    _get_feature_names,
    _num_features,
    check_is_fitted,
    validate_data,
)

from rosenblatt import checks
from rosenblatt.base import fitting_at_once
from rosenblatt.registry.row import Contract, Row, Warm

from .basis_functions import NAMES, Basis, Given, columns_named, family_of

MOST_FEATURES = 10_000_000

Kind = Any  # one of NAMES, a function, or a BasisExpansion


class _Part(NamedTuple):
    """A family of functions and the columns it is given."""

    columns: NDArray[np.intp]
    basis: Basis


class BasisExpansion(CallbackSupportMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace columns by functions of them.

    A linear model of functions h_1(x), h_2(x), ... is linear in its coefficients, but can be a
    parabola, a wave or any smooth curve of x.

    =================== ========================================================================
    ``"polynomial"``    all products of powers of the columns, up to `degree`
    ``"interactions"``  the same of different columns only: ``x1 x2``, never ``x1^2``
    ``"powers"``        ``x, x^2, ...`` up to `degree`, of each column alone
    ``"gaussian"``      `n_functions` bumps ``exp(-(x - c)^2 / (2 s^2))`` over each column's range
    ``"fourier"``       sines and cosines of the first `degree` frequencies
    ``"spline"``        `n_functions` smooth pieces over quantiles of each column
    ``"identity"``      the columns as they are
    a function          called with an array (n, m); gives an array of n rows
    =================== ========================================================================

    Parameters
    ----------
    basis : str, function, BasisExpansion, or a list or dict of these
        A list concatenates the features of families. A dict maps columns, by name or number, to a
        family or a list: ``{"age": "spline", ("x", "y"): ["powers", "interactions"]}``; a
        `BasisExpansion` as a value has its own parameters. Columns that a dict does not name are
        not changed. Functions without a name are called f1, f2, ...
    degree : int, (int, int) or None
        The highest degree, or the lowest and the highest; of ``"fourier"`` the highest frequency,
        of ``"spline"`` the degree of the pieces. None for 3 of these two and for 2 of the others.
    n_functions : int
        Bumps or splines for each column.
    width : float or None
        s of the bumps; None for the distance between two centres.
    period : float or None
        Of the first frequency; None for the range of the column.
    include_bias : bool
        Whether to put a column of ones first. Models with an intercept want none.

    Attributes
    ----------
    n_output_features_ : int
        How many features are made.

    Examples
    --------
    >>> from rosenblatt import BasisExpansion
    >>> expansion = BasisExpansion("polynomial", degree=2)
    >>> expansion.fit_transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    >>> expansion.get_feature_names_out(["a", "b"]).tolist()
    ['a', 'b', 'a^2', 'a b', 'b^2']

    How many there will be is known before any is made:

    >>> BasisExpansion("polynomial", degree=(6, 6)).count(100)
    1609344100
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "basis": [StrOptions(set(NAMES)), callable, list, tuple, dict, BaseEstimator],
        "degree": [Interval(Integral, 1, None, closed="left"), tuple, None],
        "n_functions": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "period": [Interval(Real, 0, None, closed="neither"), None],
        "include_bias": ["boolean"],
    }

    def __init__(
        self,
        basis: Kind = "polynomial",
        *,
        degree: int | tuple[int, int] | None = None,
        n_functions: int = 8,
        width: float | None = None,
        period: float | None = None,
        include_bias: bool = False,
    ) -> None:
        self.basis = basis
        self.degree = degree
        self.n_functions = n_functions
        self.width = width
        self.period = period
        self.include_bias = include_bias

    @fitting_at_once
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn where the functions lie: ranges and quantiles of the columns; return self.

        X (n, d) may be sparse for families of powers only; y is ignored.
        """
        self._validate_params()
        X = validate_data(self, X, accept_sparse="csr", dtype=checks.FLOATS)
        parts = self._parts(X.shape[1], list(getattr(self, "feature_names_in_", ())))
        n = _total(parts) + self.include_bias
        if n > MOST_FEATURES:
            raise ValueError(
                f"{X.shape[1]} columns would become {n:,} features, more than {MOST_FEATURES:,}. "
                "Lower degree, name fewer columns in basis, or use a kernel, which does not make "
                "the features it works with."
            )
        if sp.issparse(X):
            dense = [part.basis for part in parts if not part.basis.takes_sparse]
            if dense:
                raise ValueError(
                    f"X is sparse, and {type(dense[0]).__name__.lower()} of zero are not zero: the "
                    "result would not be. Use 'polynomial', 'interactions' or 'powers', or pass "
                    "X.toarray()."
                )
        for part in parts:
            part.basis.fit(X[:, part.columns])
        self._fitted = parts
        self.n_output_features_ = n
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of X (n, d), `n_output_features_` columns; CSR if X is sparse."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=checks.FLOATS)
        with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
            tables = [part.basis.transform(X[:, part.columns]) for part in self._fitted]
            if self.include_bias:
                tables.insert(0, np.ones((X.shape[0], 1), X.dtype))
            if sp.issparse(X):
                made = sp.csr_matrix(sp.hstack(tables, dtype=X.dtype))
            else:
                made = np.hstack(tables).astype(X.dtype, copy=False)
        self._refuse_infinite(made)
        return made

    def _refuse_infinite(self, made: Any) -> None:
        """Raise if a function left the range of floating point."""
        values = made.data if sp.issparse(made) else made
        if checks.has_finite_sum(values) or np.isfinite(values).all():
            return
        if sp.issparse(made):
            table = made.tocoo()
            first = np.flatnonzero(~np.isfinite(table.data))[0]
            row, j = table.row[first], table.col[first]
        else:
            row, j = np.argwhere(~np.isfinite(made))[0]
        raise ValueError(
            f"Feature {self.get_feature_names_out()[j]!r} is not finite in row {row}: its function "
            f"leaves the range of {made.dtype}. Rescale X first, for instance with "
            "rosenblatt.Standardizer, or lower the degree."
        )

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features made, such as ``"x0^2"``.

        `input_features` names the columns; None for the names seen in `fit`, or x0, x1, ...
        """
        check_is_fitted(self)
        columns = _check_feature_names_in(self, input_features)
        names = ["1"] if self.include_bias else []
        for part in self._fitted:
            names += part.basis.names([str(name) for name in columns[part.columns]])
        return np.array(names, dtype=object)

    def source_columns(self) -> NDArray[np.intp]:
        """Return the column that each of `n_output_features_` is a function of; -1 if not of one.

        If none is -1, a model that is linear in the features is a sum of functions of single
        columns.

        Examples
        --------
        >>> from rosenblatt import BasisExpansion
        >>> BasisExpansion("polynomial").fit([[2.0, 3.0]]).source_columns()
        array([ 0,  1,  0, -1,  1])
        """
        check_is_fitted(self)
        sources = [np.full(int(self.include_bias), -1)]
        for part in self._fitted:
            found = part.basis.sources(len(part.columns))
            sources.append(np.where(found < 0, -1, part.columns[found]))
        return np.concatenate(sources)

    def count(self, n_features: Any) -> int:
        """Return how many features columns become, before any is made.

        `n_features` is how many columns there are, or X itself, of which only the columns are
        counted and their names read: a dict of names needs X, or a fit before.

        Examples
        --------
        >>> import pandas as pd
        >>> from rosenblatt import BasisExpansion
        >>> X = pd.DataFrame({"age": [30.0, 40.0], "weight": [60.0, 80.0]})
        >>> BasisExpansion({"age": ["powers", "fourier"]}).count(X)
        9
        """
        names = getattr(self, "feature_names_in_", ())
        if not isinstance(n_features, Integral):
            names = _get_feature_names(n_features)
            n_features = _num_features(n_features)
        names = [] if names is None else list(names)
        return _total(self._parts(int(n_features), names)) + self.include_bias

    def _parts(self, d: int, names: list[str]) -> list[_Part]:
        """Return the families, each with its columns, of d that have these names if any."""
        parts = self._of(self.basis, np.arange(d), names)
        functions = [part.basis for part in parts if isinstance(part.basis, Given)]
        for place, given in enumerate((f for f in functions if f.name == "<lambda>"), 1):
            given.name = f"f{place}"
        return parts

    def _of(self, kind: Kind, columns: NDArray[np.intp], names: list[str]) -> list[_Part]:
        """Return the families of an entry of `basis` for these columns; entries may be nested."""
        if isinstance(kind, Mapping):
            here = [names[j] for j in columns] if names else []
            parts, rest = [], columns
            for key, each in kind.items():
                some = columns[columns_named(key, here, len(columns))]
                rest = np.setdiff1d(rest, some)
                parts += self._of(each, some, names)
            return parts + (self._of("identity", rest, names) if len(rest) else [])
        if isinstance(kind, list | tuple):
            return [part for each in kind for part in self._of(each, columns, names)]
        if isinstance(kind, BasisExpansion):
            kind._validate_params()
            return kind._of(kind.basis, columns, names)
        return [_Part(columns, family_of(kind, self))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.basis in ("polynomial", "interactions", "powers", "identity")
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _total(parts: list[_Part]) -> int:
    return sum(part.basis.count(len(part.columns)) for part in parts)


ROW = Row(
    "BasisExpansion",
    page="preprocessing.md",
    contract=Contract(
        settings=({}, {"basis": "gaussian", "n_functions": 4}, {"basis": ["powers", "fourier"]}),
        checked=({}, {"basis": "gaussian", "n_functions": 4}, {"basis": ["powers", "fourier"]}),
    ),
    warm=Warm(({"basis": "spline"},), sparse=False),
    file_types=(
        "preprocessing.basis_expansion._Part",
        "preprocessing.basis_functions.Bumps",
        "preprocessing.basis_functions.Given",
        "preprocessing.basis_functions.Polynomial",
        "preprocessing.basis_functions.Powers",
        "preprocessing.basis_functions.Splines",
        "preprocessing.basis_functions.Waves",
    ),
)
