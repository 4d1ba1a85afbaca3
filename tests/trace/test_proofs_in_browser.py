"""Gap and gradient norm of each iteration, as a reader of the page meets them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rosenblatt import KernelLogisticRegression, Lasso, LogisticRegression, Perceptron, Trace
from tests.trace.replay import read, slide

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("unconverged")]

TITLES = "[...document.querySelectorAll('.side .title')].map((title) => title.textContent)"
TICKS = """[...document.querySelectorAll('.side svg')].at(-1)
    .querySelectorAll('.axes text')[0].textContent"""


def traced(model, X, y):
    trace = Trace()
    model.set_callbacks(trace).fit(X, y)
    return trace


@pytest.mark.parametrize(
    "model", [LogisticRegression(tol=1e-9), KernelLogisticRegression(tol=1e-9)], ids=str
)
def test_the_page_has_curves_of_gap_and_gradient_on_axes_of_powers_of_ten(model, show):
    trace = traced(model, *make_moons(80, noise=0.3, random_state=0))
    page = show(trace, f"#step={len(trace) - 1}")
    assert page.run(TITLES) == ["training error", "objective", "duality gap", "gradient norm"]
    assert page.run(TICKS).startswith("10⁻")
    for k in (0, 1, len(trace) - 1):
        slide(page, k)
        last = trace[k].estimator
        assert read(page, "dual_gap") == pytest.approx(last.dual_gap_, rel=1e-6, abs=1e-300)
        assert read(page, "gradient_norm") == pytest.approx(last.gradient_norm_, rel=1e-6)


def test_a_gap_that_is_not_known_is_no_point_of_the_curve(show):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    trace = traced(LogisticRegression(C=np.inf), X, y)
    page = show(trace)
    assert "duality gap" in page.run(TITLES)


def test_regressions_have_them_and_perceptrons_do_not(show):
    X, y = make_moons(60, noise=0.3, random_state=0)
    page = show(traced(Lasso(0.01, tol=1e-10), X, y * 1.0))
    assert page.run(TITLES)[-2:] == ["duality gap", "gradient norm"]
    page = show(traced(Perceptron(max_iter=5), X, y))
    assert page.run(TITLES) == ["training error", "objective"]
