"""Fisher's discriminant: the direction that separates two classes best relative to their spread."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval, StrOptions

from rosenblatt.additive import AdditiveClassifier, Rows, rows_needed
from rosenblatt.prediction import Planes, PlaneScores, all_scores, rows_to_score
from rosenblatt.registry.row import Candidate, Contract, Row
from rosenblatt.statistics import Moments

from .base import Array, Undetermined, check_determined, directions, postponing, shrink


class FisherDiscriminant(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    PlaneScores,
    AdditiveClassifier,
):
    """Fisher's linear discriminant of two classes.

    The direction ``w = S_W^-1 (m_2 - m_1)`` maximizes ``J(w) = (w.(m_2 - m_1))**2 / (w.S_W.w)``,
    the squared distance of the projected means relative to the scatter S_W within the classes. A
    row is of class 2 when w.x is at least the threshold.

    Parameters
    ----------
    threshold : {"midpoint", "prior", "scan"}
        Midway between the projected means; where two Gaussians of equal variance, weighted by the
        classes' shares, cross; or where the fewest training rows are wrong, which reads the rows
        again and is only possible in `fit`.
    shrinkage : float from 0 to 1 or None
        The share of a multiple of the identity in S_W. Without it, directions in which neither
        class varies are dropped.

    Attributes
    ----------
    direction_ : w, from class 1 to class 2, shape (d,).
    criterion_ : J(w), with the S_W of the data.
    threshold_ : the value of w.x that separates the classes.
    coef_, intercept_ : the same as a plane, ``w.x + b >= 0``, shapes (1, d) and (1,).
    means_ : of the classes, shape (2, d).
    rank_ : directions in which the classes vary.
    n_parameters_ : number of free parameters.
    classes_ : the two labels, sorted.
    statistics_ : the moments of the classes.

    Examples
    --------
    >>> from rosenblatt import FisherDiscriminant
    >>> X = [[1, 2], [2, 3], [3, 3], [6, 5], [7, 8], [8, 7]]
    >>> model = FisherDiscriminant().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.direction_, model.threshold_
    (array([1.18918919, 0.08108108]), 5.72972972...)
    >>> model.transform([[1, 2]])
    array([[1.35135135]])

    References
    ----------
    .. [1] R. A. Fisher (1936), The use of multiple measurements in taxonomic problems.
    """

    measured_by = ()
    statistic_type = (Moments, {"missing": "refuse", "full": True})
    simpler_when_larger = ("shrinkage",)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "threshold": [StrOptions({"midpoint", "prior", "scan"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), None],
    }

    _zero_is_second = True

    def __init__(self, *, threshold: str = "midpoint", shrinkage: float | None = None) -> None:
        self.threshold = threshold
        self.shrinkage = shrinkage

    def transform(self, X: Any) -> NDArray[Any]:
        """Project X onto the direction w, shape (n, 1).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        """
        self._check_known()
        return self._project(rows_to_score(self, X))[:, None]

    def _project(self, X: Any) -> NDArray[Any]:
        """Return w.x of checked rows, (n,)."""
        planes = Planes(self.coef_, np.zeros(1, self.coef_.dtype))
        return all_scores(X, planes, 1, np.result_type(X.dtype, self.coef_.dtype))

    def _middle(self) -> NDArray[Any]:
        return np.asarray(self.means_.mean(axis=0))

    def _check_known(self) -> None:
        check_determined(self)

    def _stores_single_rows(self) -> bool:
        return self.threshold != "scan"

    def _forget_bound(self, left: Any) -> float:
        return float(left.relative_noise(pooled=True))  # the scatter is one for both classes

    def _conclude(self, rows: Rows | None, final: bool) -> None:
        if self.threshold == "scan" and rows is None:
            raise rows_needed("threshold='scan'")
        with postponing(self, final):
            self._solve(rows)

    def _solve(self, rows: Rows | None) -> None:
        """Set the fitted attributes, or raise `Undetermined`."""
        statistic: Moments = self.statistics_
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass. "
                f"There are {len(self.classes_)} classes; LinearDiscriminantAnalysis takes more."
            )
        if len(statistic.classes) < 2:
            raise Undetermined("FisherDiscriminant needs two classes; got 1 class.")
        means, within = statistic.mean, statistic.scatter.sum(axis=0)
        whitening, _ = directions(shrink(within, self.shrinkage))
        if not whitening.shape[1]:
            raise Undetermined(
                "Neither class varies in any direction, so that none is the best; got "
                f"{len(statistic)} sample(s)."
            )
        # w = S_W^-1 (m_2 - m_1)
        apart = means[1] - means[0]
        w = whitening @ (apart @ whitening)
        between, spread = float(w @ apart), float(w @ within @ w)

        dtype = statistic.dtype
        self.direction_ = w.astype(dtype)
        self.criterion_ = between**2 / spread if spread > 0 else 0.0
        self.coef_ = self.direction_[None]
        self.means_ = means.astype(dtype)
        self.rank_, self.n_parameters_ = whitening.shape[1], len(w) + 1
        self._n_features_out = 1
        self.threshold_ = self._cut(w, means, spread, between, rows)
        self.intercept_ = np.array([-self.threshold_], dtype)

    def _cut(self, w: Array, means: Array, spread: float, between: float, rows: Any) -> float:
        """Return the threshold of w.x."""
        middle = float(w @ (means[0] + means[1]) / 2)
        if self.threshold == "midpoint" or between == 0:
            return middle
        weight = self.statistics_.weight
        if self.threshold == "prior":
            # two Gaussians of variance s^2 cross at middle + s^2 log(p_1 / p_2) / (w.(m_2 - m_1))
            variance = spread / weight.sum()
            return middle + float(variance * np.log(weight[0] / weight[1]) / between)
        X, y, sample_weight = rows
        return best_cut(self._project(X), y.codes, sample_weight, middle)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def best_cut(
    values: NDArray[Any], codes: NDArray[Any], weights: NDArray[Any] | None, middle: float
) -> float:
    """Return the threshold that puts the least weight of rows on the wrong side."""
    # Rows of code 0 belong below it, rows of code 1 at or above it. It lies midway between two
    # neighbors; of equal thresholds the one nearest to `middle` is chosen.
    order = np.argsort(values, kind="stable")
    line = values[order].astype(np.float64)
    second = codes[order] == 1
    each = np.ones(len(line)) if weights is None else np.asarray(weights)[order]
    # wrong[i]: the cut lies just below line[i]; the last cut is above all
    below = np.concatenate([[0.0], np.cumsum(np.where(second, each, 0.0))])
    above = np.concatenate([np.cumsum(np.where(second, 0.0, each)[::-1])[::-1], [0.0]])
    wrong = below + above
    ends = np.concatenate([[2 * line[0] - middle - 1], line, [2 * line[-1] - middle + 1]])
    cuts = (ends[:-1] + ends[1:]) / 2
    cuts[0], cuts[-1] = line[0], np.nextafter(line[-1], np.inf)
    between = np.concatenate([[True], line[1:] > line[:-1], [True]])
    wrong, cuts = wrong[between], cuts[between]
    best = cuts[wrong <= wrong.min() + 1e-9 * each.sum()]
    return float(best[np.abs(best - middle).argmin()])


ROW = Row(
    "FisherDiscriminant",
    page="discriminants.md",
    certificate="discriminants",
    compare=(
        Candidate(
            "Fisher's discriminant",
            "two classes; a projection onto one direction",
            {"shrinkage": (0.0001, 0.01, 0.1)},
            limits=("two classes", "few columns"),
            order=22,
        ),
    ),
    contract=Contract(
        settings=({}, {"threshold": "prior", "shrinkage": 0.2}, {"threshold": "scan"}),
        checked=({}, {"threshold": "prior", "shrinkage": 0.2}),
    ),
)
