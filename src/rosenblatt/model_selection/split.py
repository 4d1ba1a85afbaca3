"""Three parts of the data: to fit on, to choose by, and to judge with once.

Legend: n rows, K classes, G groups; sizes (3,) the rows of training, development and test part.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from scipy.optimize import linprog
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import _num_samples

PARTS = ("training", "development", "test")

Whole = NDArray[np.int64]


def train_dev_test_split(
    *arrays: Any,
    dev_size: float = 0.2,
    test_size: float = 0.2,
    shuffle: bool = True,
    stratify: Any = None,
    groups: Any = None,
    random_state: Any = None,
    return_indices: bool = False,
) -> list[Any]:
    """Split arrays into a training, a development and a test part, in one call.

    Fit on the first, choose between models by the second, and look at the third once, at the end
    (`SealedTest` counts how often). Every row is in exactly one part. The development and the test
    part have as many rows as asked, a share being rounded to the nearest number of rows, and the
    training part has the rest, which is within one of its share.

    Parameters
    ----------
    *arrays : indexables of one length
        Lists, arrays, sparse matrices, data frames.
    dev_size, test_size : int or float
        How many rows, or which share of them (between 0 and 1).
    shuffle : bool
        Whether to mix the rows. With False the parts are the first rows, those after them, and the
        last, as for a series in time.
    stratify : array-like of shape (n,) or None
        Labels whose shares every part should have: the rows of each class in each part are its
        share rounded up or down, and the sizes of the parts are still as asked.
    groups : array-like of shape (n,) or None
        Rows of one group stay together. The parts then have about as many rows as asked, as far as
        whole groups allow.
    random_state : int, RandomState or None
        The seed of the mixing.
    return_indices : bool
        Whether the row numbers of the three parts follow at the end.

    Returns
    -------
    parts : list
        For each array its training, development and test part.

    Examples
    --------
    >>> import numpy as np
    >>> from rosenblatt import train_dev_test_split
    >>> X, y = np.arange(240).reshape(120, 2), np.arange(120) % 2
    >>> X_train, X_dev, X_test, y_train, y_dev, y_test = train_dev_test_split(
    ...     X, y, dev_size=20, test_size=20, stratify=y, random_state=0)
    >>> len(X_train), len(X_dev), len(X_test), int(y_test.sum())
    (80, 20, 20, 10)
    """
    if not arrays:
        raise ValueError("train_dev_test_split needs at least one array to split; got none.")
    arrays = tuple(indexable(*arrays))
    n = _num_samples(arrays[0])
    sizes = _sizes(n, dev_size, test_size)
    if shuffle:
        rng = check_random_state(random_state)
        part_of = _dealt(n, sizes, stratify, groups, rng)
        order = rng.permutation(n)
        rows = [order[part_of[order] == p] for p in range(3)]
    else:
        for name, value in (("stratify", stratify), ("groups", groups)):
            if value is not None:
                raise ValueError(
                    f"shuffle=False keeps the rows in order, which {name} cannot; give one of them."
                )
        rows = np.split(np.arange(n), np.cumsum(sizes)[:-1])
    parts = [_safe_indexing(array, chosen) for array in arrays for chosen in rows]
    return parts + rows if return_indices else parts


def _sizes(n: int, dev_size: Any, test_size: Any) -> Whole:
    """The rows of each part."""
    dev, test = _rows("dev_size", dev_size, n), _rows("test_size", test_size, n)
    if dev + test >= n:
        raise ValueError(
            f"dev_size={dev_size!r} and test_size={test_size!r} ask for {dev} and {test} of {n} "
            "rows, which leaves none to train on; ask for less."
        )
    return np.array([n - dev - test, dev, test])


def _rows(name: str, size: Any, n: int) -> int:
    """How many rows a size asks for."""
    if isinstance(size, int | np.integer) and not isinstance(size, bool) and size >= 1:
        return int(size)
    if isinstance(size, float | np.floating) and 0 < size < 1:
        rows = int(np.floor(float(size) * n + 0.5))
        if rows:
            return rows
        raise ValueError(f"{name}={size!r} of {n} rows is less than half a row; ask for more.")
    raise ValueError(
        f"{name} must be a number of rows >= 1, or a share between 0 and 1; got {size!r}."
    )


def _dealt(n: int, sizes: Whole, stratify: Any, groups: Any, rng: np.random.RandomState) -> Whole:
    """The part (n,) of each row."""
    if stratify is None:
        classes, codes = np.zeros(1), np.zeros(n, np.int64)
    else:
        classes, codes = _encoded("stratify", stratify, n)
    if groups is not None:
        names, members = _encoded("groups", groups, n)
        if len(names) < 3:
            raise ValueError(
                f"groups must hold at least 3 groups, one for each part; got {len(names)}."
            )
        return _deal_groups(members, codes, sizes, rng)[members]
    if stratify is not None:
        _check_classes(classes, np.bincount(codes), sizes)
    table = _fair_table(np.bincount(codes), sizes, rng)
    part_of = np.empty(n, np.int64)
    for k in range(len(classes)):
        part_of[codes == k] = rng.permutation(np.repeat(np.arange(3), table[k]))
    return part_of


def _encoded(name: str, labels: Any, n: int) -> tuple[NDArray[Any], Whole]:
    """The different labels, and the number (n,) of each row's."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise ValueError(f"{name} must have one label for each of the {n} rows; got shape "
                         f"{labels.shape}.")  # fmt: skip
    different, codes = np.unique(labels, return_inverse=True)
    return different, codes.astype(np.int64, copy=False)


def _check_classes(classes: NDArray[Any], counts: Whole, sizes: Whole) -> None:
    """Raise if the classes cannot be spread over the parts."""
    k = int(counts.argmin())
    if counts[k] < 3:
        raise ValueError(
            f"Class {classes[k]!s} of stratify has {counts[k]} rows, too few for three parts; "
            "each class must have 3 or more. Leave it out, join it with another, or do not "
            "stratify."
        )
    p = int(sizes.argmin())
    if sizes[p] < len(classes):
        raise ValueError(
            f"The {PARTS[p]} part has {sizes[p]} rows, too few for the {len(classes)} classes of "
            "stratify; ask for more rows."
        )


def _fair_table(counts: Whole, sizes: Whole, rng: np.random.RandomState) -> Whole:
    """How many rows (K, 3) of each class go to each part: shares, rounded up or down."""
    # The shares have the right sums by row and by column, so a rounding that has them, too, exists
    # (a transport problem with whole margins has whole corners). A class that has less than one row
    # to give to a part gives one where it can; who rounds up otherwise is left to chance.
    n, K = int(counts.sum()), len(counts)
    if K == 1:
        return sizes[None]
    floor, over = np.divmod(counts[:, None] * sizes, n)
    wish = rng.uniform(size=(K, 3)) - 2 * (floor == 0)
    by_class = sp.kron(sp.eye(K), np.ones((1, 3)))
    by_part = sp.kron(np.ones((1, K)), sp.eye(3))
    solution = linprog(
        wish.ravel(),
        A_eq=sp.vstack([by_class, by_part]),
        b_eq=np.concatenate([counts - floor.sum(axis=1), sizes - floor.sum(axis=0)]),
        bounds=np.stack([np.zeros(3 * K), (over > 0).ravel()], axis=1),
        method="highs-ds",
    )
    table: Whole = floor + np.rint(solution.x).reshape(K, 3).astype(np.int64)
    return table


def _deal_groups(members: Whole, codes: Whole, sizes: Whole, rng: np.random.RandomState) -> Whole:
    """The part (G,) of each group: large groups first, each where it brings the parts nearest."""
    # Near means: least sum of (rows - wanted)^2 / wanted over classes and parts. For groups of one
    # size this is the method of Webster, and no part is a whole group away from its share.
    n_groups, n_classes = int(members.max()) + 1, int(codes.max()) + 1
    held = np.zeros((n_groups, n_classes))
    np.add.at(held, (members, codes), 1)
    wanted = np.outer(sizes, held.sum(axis=0)) / len(members)
    rows = np.zeros_like(wanted)
    part_of = np.empty(n_groups, np.int64)
    order = rng.permutation(n_groups)
    for g in order[np.argsort(-held.sum(axis=1)[order], kind="stable")]:
        growth = (held[g] * (held[g] + 2 * (rows - wanted)) / wanted).sum(axis=1)
        part_of[g] = growth.argmin()
        rows[part_of[g]] += held[g]
    _leave_none_empty(part_of, held.sum(axis=1))
    return part_of


def _leave_none_empty(part_of: Whole, group_rows: NDArray[np.float64]) -> None:
    """Give each part without a group the smallest of a part that has several; in place."""
    for p in range(3):
        if not (part_of == p).any():
            several = np.bincount(part_of, minlength=3)[part_of] > 1
            part_of[np.where(several, group_rows, np.inf).argmin()] = p
