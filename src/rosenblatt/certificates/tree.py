"""Decision trees: every count, impurity and split is derived again from the data.

Each split is compared with all others that were allowed at its node; trees of depth one to three
also with the best tree of their depth.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .claims import Certificate, Claim, total_weight, weights_in_range
from .closed_form import agrees, class_codes
from .input_checks import check_fitted
from .optimal_tree import DEPTHS, best_tree_claims, depth_of, is_searchable
from .tree_counts import NodeRows, count_claims
from .tree_routing import ROWS_AT_ONCE, Floats, Ints, PublishedTree, as_matrix, some_rows
from .tree_splits import Rules, Targets, best_score, chosen_score

CELLS = 20_000_000  # of columns that are sorted again, at effort 1
NEAREST = 1e-7  # scikit-learn takes values that are nearer than this to be equal
ALLOWANCE = 1e-9  # of rounding: of the node's weight times its impurity, of an error


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Route the rows again, weigh every split again, and compare with what is published."""
    check_fitted(model, "tree_")
    matrix, targets = as_matrix(model, X), targets_of(model, y)
    if hasattr(model, "categories_"):  # as our fits do
        weight = weights_in_range(weight)
    weight = weight * class_weights(model, y)
    given = np.flatnonzero(weight > 0)
    grown_on = np.intersect1d(given, getattr(model, "growth_rows_", given))
    tree = PublishedTree(model)
    criterion, end = str(model.criterion), tree.ends(matrix)
    errors = error_claims(model, tree, matrix, X, y, targets, weight, given, end)
    nodes = NodeRows(tree, grown_on, end[grown_on], lambda: some_rows(matrix, grown_on))
    claims = [
        *errors,
        *count_claims(model, nodes, targets, weight, criterion),
        *split_claims(model, nodes, matrix, targets, weight, criterion, effort),
    ]
    if targets.classes is not None and targets.n_outputs == 1:
        guess = tree.value[end[given], 0].argmax(axis=1)
        classes = targets.classes[given, 0]
        claims += best_tree_claims(
            model, tree, some_rows(matrix, given), classes, weight[given], guess != classes,
            errors[-1].value, effort,
        )  # fmt: skip
    problem = f"a tree whose splits lower the {criterion.replace('_', ' ')} most, one at a time"
    if getattr(model, "search", "greedy") == "optimal":
        problem = f"the fewest mistakes of a tree of depth {model.max_depth}"
    elif depth_of(model, tree) in DEPTHS and not is_searchable(tree, some_rows(matrix, given)):
        problem += "; the best tree of its depth is searched for in numbers without gaps alone"
    data = (
        f"the {len(given):,} rows and {X.shape[1]:,} columns given, {total_weight(weight[given])}"
    )
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def output_of(model: Any, X: Any, method: str = "predict") -> Any:
    """What a method of the model returns for rows."""
    found = getattr(model, method)(X)
    return found if isinstance(found, list) else np.asarray(found)


def targets_of(model: Any, y: NDArray[Any]) -> Targets:
    """The classes of y by number, or its numbers."""
    columns = y.reshape(len(y), -1)
    if not hasattr(model, "classes_"):
        numbers = columns.astype(np.float64)
        return Targets(None, numbers, (1,) * numbers.shape[1])
    known = model.classes_ if model.n_outputs_ > 1 else [model.classes_]
    codes = np.empty(columns.shape, np.int64)
    for o, classes in enumerate(known):
        codes[:, o] = class_codes(classes, columns[:, o])
    return Targets(codes, None, tuple(len(classes) for classes in known))


def class_weights(model: Any, y: NDArray[Any]) -> Floats:
    """What `class_weight` multiplies the weight of each row by (n,)."""
    given = getattr(model, "class_weight", None)
    if given is None or given == "balanced_subsample":
        return np.ones(len(y))
    columns, product = y.reshape(len(y), -1), np.ones(len(y))
    for o, column in enumerate(columns.T):
        kinds, place = np.unique(column, return_inverse=True)
        counts = np.bincount(place)
        each = given[o] if isinstance(given, list) else given
        if isinstance(each, str):
            factor = len(column) / (len(kinds) * counts)
        else:
            factor = np.array([each.get(kind, 1.0) for kind in kinds.tolist()])
        product *= factor[place]
    return product


def error_claims(
    model: Any, tree: PublishedTree, matrix: Floats, X: Any, y: NDArray[Any], targets: Targets,
    weight: Floats, given: Ints, end: Ints,
) -> list[Claim]:  # fmt: skip
    """The training error, the agreement with `predict`, and the least that any model can reach."""
    if targets.classes is None:
        return _regression_errors(model, tree, X, matrix, targets, weight, given, end)
    guess = tree.value[end].argmax(axis=2)
    wrong = (guess != targets.classes).any(axis=1)
    said = output_of(model, X).reshape(len(y), -1) != y.reshape(len(y), -1)
    same = bool(np.array_equal(said.any(axis=1), wrong))
    errors = int(np.count_nonzero(wrong[given]))
    statement = f"{errors:,} of {len(given):,} rows are predicted wrongly"
    return [
        Claim("training error", statement, errors, None, True, "proved"),
        Claim(
            "predictions", "predict follows the published nodes" if same else
            "predict differs from what the published nodes say", float(not same), 0.0, same,
            "proved",
        ),
        least_mistakes_claim(
            some_rows(matrix, given), targets.classes[given], weight[given], wrong[given]
        ),
    ]  # fmt: skip


def _regression_errors(
    model: Any, tree: PublishedTree, X: Any, matrix: Floats, targets: Targets, weight: Floats,
    given: Ints, end: Ints,
) -> list[Claim]:  # fmt: skip
    assert targets.numbers is not None
    guess, w = tree.value[end][:, :, 0], weight[given][:, np.newaxis]
    said = output_of(model, X).reshape(guess.shape)
    error = float((w * (guess - targets.numbers)[given] ** 2).sum())
    statement = f"the squared error on these rows is {error:.6g}"
    return [
        Claim("training error", statement, error, None, True, "checked"),
        agrees("predictions", "predictions", said, guess),
        least_squares_claim(some_rows(matrix, given), targets.numbers[given], w, error),
    ]


def _groups(matrix: Any) -> Ints:
    """The number (n,) of each row's group of equal rows; sparse ones may be in CSR form."""
    if sp.issparse(matrix):
        return _groups_of_sparse(matrix)
    if not matrix.shape[1]:
        return np.zeros(len(matrix), np.int64)
    # Equal rows have equal sums of their bits; only rows that share a sum are compared.
    factor = np.random.default_rng(0).integers(2**63, size=matrix.shape[1], dtype=np.uint64) | 1
    sums = np.empty(len(matrix), np.uint64)
    for first in range(0, len(matrix), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        sums[some] = (_bits(matrix[some]) * factor).sum(axis=1, dtype=np.uint64)
    _, group, counts = np.unique(sums, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[group] > 1)
    if len(shared):
        bits = _bits(matrix[shared])
        kind = np.dtype((np.void, bits.dtype.itemsize * bits.shape[1]))
        rows = np.unique(bits.view(kind).ravel(), return_inverse=True)[1]
        group[shared] = len(counts) + rows.ravel()
        group = np.unique(group, return_inverse=True)[1]
    return group


def _bits(matrix: Floats) -> NDArray[np.uint64]:
    """The bits of numbers: the same for equal ones, of which NaN are some."""
    numbers = np.where(np.isnan(matrix), np.inf, matrix) + 0.0  # -0.0 is 0.0
    return np.ascontiguousarray(numbers).view(np.uint64)


def _groups_of_sparse(X: Any) -> Ints:
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    numbers: dict[tuple[bytes, bytes], int] = {}
    spans = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    keys = ((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in spans)
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def least_mistakes_claim(matrix: Any, classes: Ints, w: Floats, wrong: NDArray[np.bool_]) -> Claim:
    """That the mistakes, `wrong` (n,), weigh no less than those that any model must make."""
    least, rows = least_mistakes(matrix, classes, w)
    made = float(w[wrong].sum())
    reach = f"no model of these columns can have mistakes of less weight than {least:.6g}"
    if least > 0:
        reach += f": {rows:,} rows have an equal with another class"
    allowed = made + ALLOWANCE * max(made, 1.0)
    exact = bool((w == np.floor(w)).all()) and w.sum() < 2.0**53
    grade: Any = "proved" if exact else "checked"
    return Claim("least error", reach, least, allowed, least <= allowed, grade)


def least_squares_claim(matrix: Any, numbers: Floats, w: Floats, error: float) -> Claim:
    """That the squared error is no less than that which any model must make."""
    least = least_squares_of_equals(matrix, numbers, w)
    allowed = error + ALLOWANCE * max(float((w * numbers**2).sum()), 1e-300)
    reach = f"no model of these columns can have less than {least:.6g}"
    return Claim("least error", reach, least, allowed, least <= allowed, "checked")


def least_mistakes(matrix: Any, classes: Ints, w: Floats) -> tuple[float, int]:
    """The weight that any model gets wrong, since equal rows differ in class; and such rows."""
    group = _groups(matrix)
    kinds = classes[:, 0]
    if classes.shape[1] > 1:
        kinds = np.unique(classes, axis=0, return_inverse=True)[1].ravel()
    pairs, place = np.unique(group * (kinds.max() + 1) + kinds, return_inverse=True)
    group_of_pair = pairs // (kinds.max() + 1)
    held, total = np.bincount(place, w), np.bincount(group, w)
    heaviest = np.zeros(len(total))
    np.maximum.at(heaviest, group_of_pair, held)
    n_kinds = np.bincount(group_of_pair)
    return float(np.maximum(total - heaviest, 0.0).sum()), int((n_kinds[group] > 1).sum())


def least_squares_of_equals(matrix: Any, numbers: Floats, w: Floats) -> float:
    """The squares about the means of equal rows."""
    group = _groups(matrix)
    total, W = 0.0, np.bincount(group, w.ravel())
    for y in numbers.T:
        mean = np.bincount(group, w.ravel() * y) / W
        total += float((w.ravel() * (y - mean[group]) ** 2).sum())
    return total


def split_claims(
    model: Any, nodes: NodeRows, matrix: Floats, targets: Targets, weight: Floats, criterion: str,
    effort: int,
) -> list[Claim]:  # fmt: skip
    """That each split gains, and where all columns were tried, that no other gains more."""
    tree = nodes.tree
    inner = tree.inner[nodes.counts[tree.inner] > 0]
    if not len(inner) or criterion == "absolute_error":
        return []
    rules = rules_of(model, nodes.rows, weight)
    inner = inner[np.lexsort((inner, -nodes.counts[inner]))]  # parents before their children
    cells = np.cumsum(nodes.counts[inner] * matrix.shape[1])
    checked = inner[: max(1, int(np.searchsorted(cells, CELLS * max(effort, 0.05))))].tolist()
    excess, short = 0.0, 0.0
    exhaustive = tries_every_split(model)
    rows_of = nodes.rows_of(checked)
    for node in checked:
        rows = rows_of[node]
        children = [rows_of[child] for child in tree.children(node)]
        if any(not len(child) for child in children):
            continue
        split, whole = chosen_score(children, rows, targets, weight, rules)
        # Logarithms of pure branches add up to zero, and are rounded by their weight.
        floor = float(weight[rows].sum()) if targets.classes is not None else 1e-300
        scale = max(abs(whole), abs(split), floor)
        short = max(short, (whole - split) / scale)
        if exhaustive:
            best = best_score(matrix, rows, targets, weight, rules, tree.n_categories)
            excess = max(excess, (best - split) / scale)
    some = f"{len(checked):,} of {len(inner):,} splits"
    claims = [
        Claim(
            "gains", f"no split of {some} raises the impurity", max(short, 0.0), ALLOWANCE,
            short <= ALLOWANCE, "checked",
        )
    ]  # fmt: skip
    if exhaustive:
        holds = excess <= ALLOWANCE
        statement = f"no other split is better at the nodes of {some}"
        if not holds:
            statement = f"a node of {some} has a split that is better by {excess:.3g} of its score"
        claims.append(
            Claim("best splits", statement, max(excess, 0.0), ALLOWANCE, holds, "checked")
        )
    return claims


def tries_every_split(model: Any) -> bool:
    """Whether a fit with these parameters compares all columns and thresholds at each node."""
    return (
        model.splitter == "best"
        and getattr(model, "search", "greedy") == "greedy"
        and getattr(model, "max_features_", model.n_features_in_) >= model.n_features_in_
        and getattr(model, "monotonic_cst", None) is None
    )


def rules_of(model: Any, rows: Ints, weight: Floats) -> Rules:
    """What a split of the model had to keep to."""
    n = len(rows)
    leaf = model.min_samples_leaf
    leaf = int(leaf) if float(leaf) >= 1 else int(np.ceil(leaf * n))
    ours = type(model).__module__.startswith("rosenblatt.")
    criterion = str(model.criterion)
    missing = getattr(model, "missing", "best")
    return Rules(
        criterion="squared_error" if criterion == "friedman_mse" else criterion,
        min_rows=leaf,
        min_weight=float(model.min_weight_fraction_leaf) * float(weight[rows].sum()),
        missing="best" if missing == "error" else missing,
        nearest=0.0 if ours else NEAREST,
    )
