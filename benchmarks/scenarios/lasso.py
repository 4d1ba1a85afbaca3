"""Lasso paths: 100 penalties to a proved duality gap of 1e-6 of the mean square of y.

How far an answer is from the best is computed here, by NumPy, whoever it is from: its objective
less the value of a dual point, the same for all, from a fit to 1e-11. celer and skglm, and
scikit-learn a second time, get the columns one after the other, outside of the time.
"""

import numpy as np
from scipy import sparse

from benchmarks.data import kept
from benchmarks.lasso_data import few_matter, few_words_matter
from benchmarks.scenario import Contender, Data, Quality, Scenario

TOL = 1e-6


def scenarios(scale: float) -> list[Scenario]:
    def table(n, d):
        return lambda: kept(few_matter, int(n * scale), d)

    def texts():
        return kept(few_words_matter, int(20_000 * scale), 20_000, 60)

    return [
        scenario("lasso path, 100 penalties, dense 100k x 500", table(100_000, 500), 1e-3, 1.2),
        scenario("lasso path, 100 penalties, dense 1M x 50", table(1_000_000, 50), 1e-3, 1.5, 26),
        scenario("lasso path, 100 penalties, dense 1k x 5k", table(1_000, 5_000), 1e-2, 2.1, 1, 1),
        scenario("lasso path, 100 penalties, CSR 20k x 20k", texts, 1e-2, 2, 1, 1),
    ]


def scenario(name: str, data, eps: float, *wanted: float) -> Scenario:
    """scikit-learn beside us, and celer and skglm where they can do the job in minutes."""
    contenders = [scikit_learn, celer, skglm][: len(wanted)]
    prepared = scikit_learn(eps, 1, "scikit-learn, by columns", by_columns)
    return Scenario(
        name=name,
        job=f"All penalties from the largest useful one to {eps:g} of it, without intercept.",
        data=data,
        ours=ours(eps),
        peers=(
            *(make(eps, ratio) for make, ratio in zip(contenders, wanted, strict=True)),
            prepared,
        ),
        quality=Quality(
            "digits of the objective proved", digits, slack=6, least=-np.log10(TOL) - 0.01
        ),
        limits=read_and_multiply,
        rounds=5,
        memory_wanted=None,
        tried="On tall tables the Gram matrix is nearly all of the time. On wide ones it is the "
        "equations for the weights in use, hundreds towards the end: sweeps alone take longer, and "
        "equations at every penalty as well; they are solved when they cost no more than the "
        "sweeps before them.",
    )


def ours(eps: float) -> Contender:
    def run(data: Data, seed: int):
        from rosenblatt import lasso_path

        return lasso_path(data.X, data.y, eps=eps, tol=TOL)[:2]

    return Contender("rosenblatt", f"lasso_path(eps={eps:g}, tol={TOL:g})", "rosenblatt", run)


def scikit_learn(
    eps: float, wanted: float, name: str = "scikit-learn", prepare=lambda data: data
) -> Contender:
    def run(data: Data, seed: int):
        from sklearn.linear_model import lasso_path

        return lasso_path(data.X, data.y, eps=eps, tol=TOL, max_iter=100_000)[:2]

    shown = f"lasso_path(eps={eps:g}, tol={TOL:g})"
    return Contender(name, shown, "scikit-learn", run, wanted, prepare)


def celer(eps: float, wanted: float) -> Contender:
    def run(data: Data, seed: int):
        from celer import celer_path

        return celer_path(data.X, data.y, "lasso", alphas=penalties(data, eps), tol=TOL)[:2]

    return Contender("celer", f"celer_path(tol={TOL:g})", "celer", run, wanted, by_columns)


def skglm(eps: float, wanted: float) -> Contender:
    """Its tolerance is on the optimality conditions; 1e-4 of the largest penalty gives the gap."""

    def run(data: Data, seed: int):
        from skglm import Lasso

        grid = penalties(data, eps)
        tol = 1e-4 * grid[0]
        return Lasso(tol=tol, fit_intercept=False, max_iter=1000).path(data.X, data.y, grid)[:2]

    return Contender("skglm", "Lasso(tol=1e-4 alpha_max).path", "skglm", run, wanted, by_columns)


def by_columns(data: Data) -> Data:
    """The columns one after the other."""
    X = sparse.csc_matrix(data.X) if sparse.issparse(data.X) else np.asfortranarray(data.X)
    return Data(X, data.y, data.X_test, data.y_test, data.folder)


def penalties(data: Data, eps: float) -> np.ndarray:
    largest = np.abs(data.X.T @ data.y).max() / len(data.y)
    return np.geomspace(largest, largest * eps, 100)


def digits(path, data: Data) -> float:
    """How many digits of the objective are proved, at the worst penalty."""
    alphas, coefs = path
    X, y, n = data.X, data.y, len(data.y)
    worst = 0.0
    for alpha, w, bound in zip(alphas, coefs.T, lower_bounds(data, alphas), strict=True):
        used = np.flatnonzero(w)
        r = y - X[:, used] @ w[used]
        worst = max(worst, r @ r / (2 * n) + alpha * np.abs(w).sum() - bound)
    return float(-np.log10(max(worst / (y @ y / n), 1e-16)))


BOUNDS: dict = {}


def lower_bounds(data: Data, alphas: np.ndarray) -> np.ndarray:
    """Values of dual points (A,): multiples of the residuals of nearly exact fits."""
    from rosenblatt import lasso_path

    X, y, n = data.X, data.y, len(data.y)
    key = (data.folder, len(y), alphas.round(9).tobytes())
    if key not in BOUNDS:
        coefs, found = lasso_path(X, y, alphas=alphas, tol=1e-11)[1], []
        for alpha, w in zip(alphas, coefs.T, strict=True):
            r = y - X[:, np.flatnonzero(w)] @ w[w != 0]
            rr, tr = r @ r / n, y @ r / n
            a = min(tr / rr, alpha / (np.abs(X.T @ r).max() / n))
            found.append(a * tr - a * a / 2 * rr)
        BOUNDS[key] = np.array(found)
    return BOUNDS[key]


def read_and_multiply(data: Data) -> dict[str, float]:
    """Every value is read once; of a tall table's Gram matrix half is multiplied."""
    n, d = data.X.shape
    work: dict[str, float] = {"read": data.nbytes}
    if not sparse.issparse(data.X) and n > d:
        work["dgemm"] = n * d * d
    return work
