"""AdaBoost: the rounds replayed, and the bounds on the training error that follow from them.

Legend: D the weights of the rows, e the weight of a learner's mistakes under D, a its published
weight, twice alpha. A learner with a negative weight is read as its opposite, with -a and 1 - e.
Then every learner has a >= 0, and a row that the vote gets wrong has at least half of the vote
against it, so ``exp(sum of a/2 of those wrong - sum of a/2 of those right) >= 1``. The mean of this
exponential loss is the product over rounds of ``Z = (1 - e) exp(-a/2) + e exp(a/2)``, whatever the
number of classes. With two classes and ``a = ln((1 - e) / e)``, the product is at most
``exp(-2 sum (1/2 - e)**2)``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .claims import Certificate, Claim, measured, total_weight, weights_in_range, within
from .closed_form import agrees, class_codes
from .tree import least_mistakes_claim, output_of
from .tree_routing import Floats, Ints, PublishedTree, as_matrix

LEAST_WEIGHT = np.finfo(np.float64).eps  # that the fit leaves a row in each round
ALLOWANCE = 1e-9  # of rounding, relative
RECORDED = ("train_errors_", "error_bounds_", "edge_bounds_")


def certify_model(
    model: Any, X: Any, y: NDArray[Any], weight: Floats, *, tol: float, effort: int
) -> Certificate:
    """Ask every learner again, replay the weights of the rows, and state the bounds."""
    if not getattr(model, "estimators_", None):
        raise ValueError(f"This {type(model).__name__} is not fitted yet: call fit before certify.")
    weight = weights_in_range(weight)  # as our fits do
    codes = class_codes(model.classes_, y)
    given = np.flatnonzero(weight > 0)
    share = weight[given] / weight[given].sum()
    voted = np.array([voted_by(model, member, X)[given] for member in model.estimators_])
    run = Replay.of(model, voted, codes[given], share)
    labels = output_of(model, X)
    wrong = labels[given] != y[given]
    claims = [
        *vote_claims(class_codes(model.classes_, labels)[given], wrong, run),
        *bound_claims(run, float(share[wrong].sum())),
        *published_claims(model, run),
        *least_claims(model, X, codes[given], weight[given], given, wrong),
        *complexity_claims(model, len(given)),
    ]
    problem = f"a weighted vote of {len(voted):,} learners, each trained on reweighted rows"
    data = f"the {len(given):,} rows and {X.shape[1]:,} columns given"
    data += f", {total_weight(weight[given])}"
    return Certificate(type(model).__name__, problem, data, tuple(claims))


def voted_by(model: Any, member: Any, X: Any) -> Ints:
    """The class (n,) that one learner votes for: a tree is routed again, others are asked."""
    if hasattr(member, "tree_"):
        tree = PublishedTree(member)
        end = tree.ends(as_matrix(member, X))
        labels = np.asarray(member.classes_)[tree.value[end, 0].argmax(axis=1)]
    else:
        labels = output_of(member, X)
    return np.asarray(np.searchsorted(np.asarray(model.classes_), labels), np.int64)


@dataclass(frozen=True, eq=False)
class Replay:
    """The rounds of a fit, derived again from its learners, their weights and the rows."""

    K: int
    weights: Floats  # (T,) as published
    errors: Floats  # (T,) of the learners, under the weights that the fit gave the rows
    edges: Floats  # (T,) 1/2 - e under weights without a floor, e at most 1/2
    Z: Floats  # (T,)
    least_wrong: Floats  # (T,) weight of the rows that the vote after each round gets wrong,
    most_wrong: Floats  # (T,) and with the rows where it is equal, up to rounding
    losses: Floats  # (T,) mean exponential loss after each round
    votes: Floats  # (n, K) of all learners
    blur: float  # what rounding may do to a vote
    share: Floats  # (n,) of each row in the weight of all

    @staticmethod
    def of(model: Any, voted: Ints, codes: Ints, share: Floats) -> "Replay":
        K, n = len(model.classes_), len(codes)
        weights = np.asarray(model.estimator_weights_, np.float64)[: len(voted)]
        blur = float(1e-13 * len(weights) * np.abs(weights).sum())
        D, floored, everyone = share.copy(), share.copy(), np.arange(n)
        margin, votes, rounds = np.zeros(n), np.zeros((n, K)), []
        lead = np.zeros(n)  # of a row's own class over the best other one
        for guess, a in zip(voted, weights, strict=True):
            wrong = guess != codes
            error = float(floored[wrong].sum() / floored.sum())
            against = wrong if a >= 0 else ~wrong  # of the opposite, if it is flipped
            e, a_flipped = float(D[against].sum() / D.sum()), abs(a)
            Z = (1 - e) * np.exp(-a_flipped / 2) + e * np.exp(a_flipped / 2)
            margin += np.where(against, -a_flipped, a_flipped) / 2
            votes[everyone, guess] += a
            if K == 2:
                lead += np.where(wrong, -a, a)
            else:
                others = votes.copy()
                others[everyone, codes] = -np.inf
                lead = votes[everyone, codes] - others.max(axis=1, initial=-np.inf)
            wrongs = (float(share[lead < -blur].sum()), float(share[lead <= blur].sum()))
            rounds.append((error, 0.5 - e, Z, *wrongs, float(share @ np.exp(-margin))))
            D = np.where(against, D * np.exp(a_flipped), D)
            D /= D.sum()
            floored = np.where(wrong, floored * np.exp(a), floored)
            floored = np.maximum(floored / floored.sum(), LEAST_WEIGHT)
        errors, edges, Zs, least, most, losses = np.array(rounds).T
        return Replay(K, weights, errors, edges, Zs, least, most, losses, votes, blur, share)

    def best_alphas(self) -> bool:
        """Whether each weight is the best one for its round: ln((1 - e) / e)."""
        e = np.clip(0.5 - self.edges, 1e-300, 0.5)
        best = np.log((1 - e) / e)
        return bool(np.allclose(np.abs(self.weights), best, rtol=1e-6, atol=1e-9))


def vote_claims(told: Ints, wrong: NDArray[np.bool_], run: Replay) -> list[Claim]:
    """The training error, and that the classes told (n,) are those of the weighted vote."""
    n, errors = len(told), int(np.count_nonzero(wrong))
    off = run.votes[np.arange(n), told] < run.votes.max(axis=1) - run.blur
    strange = int(np.count_nonzero(off))
    follows = f"{n - strange:,} of {n:,} rows get the class of the weighted vote"
    return [
        Claim("training error", f"{errors:,} of {n:,} rows are predicted wrongly", errors, None,
              True, "proved"),
        within("vote", follows, strange, 0.0),
    ]  # fmt: skip


def bound_claims(run: Replay, error: float) -> list[Claim]:
    """The weighted error is at most the product of the Z, and that at most the edges' bound."""
    loss, product = float(run.losses[-1]), float(np.prod(run.Z))
    claims = [
        within(
            "error bound", f"the weighted training error {error:.6g} is at most {product:.6g}, the "
            f"product of Z over {len(run.Z):,} rounds", error, product * (1 + ALLOWANCE),
        ),
        within(
            "exponential loss", f"the product is the mean exponential loss, {loss:.6g}",
            abs(loss - product) / max(product, 1e-300), 1e-6,
        ),
    ]  # fmt: skip
    if run.K > 2:
        least = float(run.weights.min())
        statement = f"no learner has a negative weight; the least is {least:.6g}"
        claims.append(Claim("weights", statement, -least, 0.0, least >= 0, "proved"))
    if run.K == 2 and run.best_alphas():
        bound = float(np.exp(-2 * (run.edges**2).sum()))
        statement = f"the product of Z is at most exp(-2 sum (1/2 - e)^2), which is {bound:.6g}"
        claims.append(within("edge bound", statement, product, bound * (1 + ALLOWANCE)))
    return claims


def published_claims(model: Any, run: Replay) -> list[Claim]:
    """That published errors are those of the replay, and weights those of the errors."""
    T = len(run.weights)
    said = np.asarray(model.estimator_errors_, np.float64)
    claims = [agrees("errors", "estimator_errors_", said[:T], run.errors, 1.0, slack=1e-7)]
    wanted = weights_of(model, run.errors, run.K)
    claims.append(agrees("weights of learners", "estimator_weights_", run.weights, wanted,
                         np.maximum(1.0, np.abs(wanted)), slack=1e-6))  # fmt: skip
    rest = np.asarray(model.estimator_weights_, np.float64)[T:]
    statement = "rounds after the last have weight 0 and error 1"
    off = float(np.abs(rest).sum() + np.abs(said[T:] - 1).sum())
    claims.append(within("rounds", statement, off, 0.0))
    if all(hasattr(model, name) for name in (*RECORDED, "alphas_")):
        claims += record_claims(model, run)
    return claims


def weights_of(model: Any, errors: Floats, K: int) -> Floats:
    """What the fit makes of the errors (T,) of learners: ``rate (ln((1 - e) / e) + ln(K - 1))``."""
    cap, e = getattr(model, "alpha_cap", None), np.clip(errors, 1e-300, 1 - 1e-16)
    weights = model.learning_rate * (np.log1p(-e) - np.log(e) + np.log(max(K - 1, 1)))
    perfect = (errors <= 0) | (errors >= 1)
    sign = np.where(errors > 0.5, -1.0, 1.0) if getattr(model, "flip", False) else 1.0
    if cap is None:
        return np.asarray(np.where(perfect, sign, weights))
    return np.asarray(np.where(perfect, sign * 2 * cap, np.clip(weights, -2 * cap, 2 * cap)))


def record_claims(model: Any, run: Replay) -> list[Claim]:
    """That the curves a fit recorded are those of the replay."""
    derived = {"alphas_": run.weights / 2, "error_bounds_": np.cumprod(run.Z)}
    if np.isfinite(model.edge_bounds_).any():
        derived["edge_bounds_"] = np.exp(-2 * np.cumsum(run.edges**2))
    claims = [
        agrees(name, name, getattr(model, name), curve, np.maximum(1.0, np.abs(curve)), 1e-6)
        for name, curve in derived.items()
    ]
    # Where a vote is equal, up to rounding, either class is right.
    said = np.asarray(model.train_errors_, np.float64)
    nearest = run.least_wrong
    if said.shape == nearest.shape:
        nearest = np.clip(said, run.least_wrong, run.most_wrong)
    return [*claims, agrees("train_errors_", "train_errors_", said, nearest, 1.0)]


def least_claims(
    model: Any, X: Any, codes: Ints, weight: Floats, given: Ints, wrong: NDArray[np.bool_]
) -> list[Claim]:
    """The least error that any model of these columns can have, where learners are trees."""
    if not all(hasattr(member, "tree_") for member in model.estimators_):
        return []
    matrix = as_matrix(model.estimators_[0], X)[given]
    return [least_mistakes_claim(matrix, codes[:, np.newaxis], weight, wrong)]


def complexity_claims(model: Any, n: int) -> list[Claim]:
    """The term sqrt(T d / m) of the bound on new rows, for stumps; a report and no promise."""
    depths = [member.get_depth() for member in model.estimators_ if hasattr(member, "get_depth")]
    if len(depths) < len(model.estimators_) or max(depths) > 1:
        return []
    T, d = len(depths), dimension_of_stumps(int(model.n_features_in_))
    term = float(np.sqrt(T * d / n))
    statement = (
        f"sqrt(T d / m) is {term:.4g} for T = {T:,} stumps of VC dimension d <= {d} and m = {n:,} "
        "rows; of the error on new rows nothing is proved"
    )
    return [measured("complexity", statement, term)]


def dimension_of_stumps(n_columns: int) -> int:
    """The most points that stumps on some columns could tell apart in every way.

    m points have at most ``2 (p (m - 1) + 1)`` labellings by stumps on p columns.

    >>> [dimension_of_stumps(p) for p in (1, 2, 30)]
    [2, 3, 8]
    """
    m = 1
    while 2**m <= n_columns * m + 1:
        m += 1
    return m
