"""Is there a plane between two classes? Against one linear program on the whole problem."""

import numpy as np

from benchmarks.data import kept, two_sides
from benchmarks.scenario import Contender, Data, Quality, Scenario


def scenarios(scale: float) -> list[Scenario]:
    n = int(10_000 * scale)
    return [
        Scenario(
            name="separability 10,000 x 100, separable",
            job="Find a plane between two classes of 10,000 x 100 points, thin gap.",
            data=lambda: kept(two_sides, n, 100, 0),
            ours=ours(),
            peers=linear_programs(),
            quality=right(True),
            limits=read_once,
            rounds=5,
            memory_wanted=None,
        ),
        Scenario(
            name="separability 10,000 x 100, not separable",
            job="Prove that no plane exists: 10,000 x 100, one label in a hundred on the wrong "
            "side of a planted plane.",
            data=lambda: kept(two_sides, n, 100, n // 100),
            ours=ours(),
            peers=linear_programs(),
            quality=right(False),
            limits=read_once,
            rounds=5,
            memory_wanted=None,
        ),
    ]


def ours() -> Contender:
    def run(data: Data, seed: int):
        from rosenblatt.separation import separability

        return separability(data.X, data.y)

    settings = "separability(X, y): the plane, or the proof that none exists"
    return Contender("rosenblatt", settings, "rosenblatt", run)


def right(truth: bool) -> Quality:
    """1 for the right verdict; ours must also come with a plane or proof that verifies."""

    def of(answer, data: Data) -> float:
        if answer is None or isinstance(answer, bool):
            return float(answer is truth)
        return float(answer.separable == truth and bool(answer.verify(data.X, data.y)))

    return Quality("verdict right", of, least=1.0)


def linear_programs() -> tuple[Contender, ...]:
    """Both ways of asking, with the solvers of HiGHS that answer them best.

    Which is best depends on the data, so each stands here. Left out: the default method (dual
    simplex) for the plane, which had no verdict after 44 s where none exists.
    """
    return (
        _program("plane", "highs-ipm", _look_for_plane),
        _program("common point", "highs-ds", _look_for_common_point),
        _program("common point", "highs-ipm", _look_for_common_point),
    )


FORMS = {
    "plane": "y (w.x + b) >= 1 for every row; no proof when there is no plane",
    "common point": "weights of both classes with equal averages; no plane when there are none",
}


def _program(form: str, method: str, look) -> Contender:
    return Contender(
        name=f"SciPy, {form}, {method}",
        settings=f"linprog(method='{method}'): {FORMS[form]}",
        package="scipy",
        run=lambda data, seed: look(data, method),
        wanted=1,
    )


def _look_for_plane(data: Data, method: str) -> bool | None:
    """Feasible: separable; status 2 is SciPy's word for infeasible, others are no verdict."""
    from scipy.optimize import linprog

    sign = np.where(data.y == 1, 1.0, -1.0)[:, None]
    rows = -sign * np.hstack([data.X, np.ones((len(sign), 1))])
    n, m = rows.shape
    answer = linprog(np.zeros(m), A_ub=rows, b_ub=-np.ones(n), bounds=(None, None), method=method)
    return {0: True, 2: False}.get(answer.status)


def _look_for_common_point(data: Data, method: str) -> bool | None:
    from scipy.optimize import linprog

    first = data.y == 1
    n, d = data.X.shape
    A = np.vstack([np.where(first, 1.0, -1.0) * data.X.T, first, ~first])
    b = np.concatenate([np.zeros(d), [1.0, 1.0]])
    answer = linprog(np.zeros(n), A_eq=A, b_eq=b, bounds=(0, None), method=method)
    return {0: False, 2: True}.get(answer.status)


def read_once(data: Data) -> dict[str, float]:
    return {"read": data.nbytes}
