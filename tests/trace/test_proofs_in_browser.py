"""Gap and gradient norm of each iteration, as a reader of the page meets them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

from rosenblatt import (
    BasisExpansion,
    KernelLogisticRegression,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    Trace,
)
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


@pytest.mark.parametrize("model", [Lasso(0.05), Ridge(0.1), LinearRegression()], ids=str)
def test_the_line_of_a_regression_moves_among_its_points(model, show):
    X = np.linspace(0, 4, 30)[:, None]
    y = 2 * X[:, 0] - 1 + np.sin(9 * X[:, 0])
    trace = traced(model, X, y)
    page = show(trace, f"#step={len(trace) - 1}")
    line = "document.querySelector('.boundary path').getAttribute('d')"
    page.wait(f"{line}.length > 0")
    marks = page.run("""[...document.querySelectorAll('.marks path')].map((mark) =>
        mark.getAttribute('transform').match(/-?[\\d.]+/g).map(Number))""")
    to_data = np.linalg.lstsq(np.c_[marks, np.ones(30)], np.c_[X, y], rcond=None)[0]

    def ends(path):
        pixels = np.reshape([float(v) for v in path[1:].replace("L", ",").split(",")], (-1, 2))
        return np.c_[pixels, np.ones(2)] @ to_data

    last = ends(page.run(line))
    np.testing.assert_allclose(last[:, 1], model.predict(last[:, :1]), atol=0.05)
    assert page.run("document.querySelectorAll('.trail path').length") > 0
    slide(page, 0)
    page.run("new Promise((done) => setTimeout(done, 400))")
    np.testing.assert_allclose(ends(page.run(line))[:, 1], y.mean(), atol=0.05)
    assert page.run(TITLES)[0] == "objective"
    assert "The line is what the model predicts" in page.run("document.body.innerText")
    assert not page.complaints


def test_the_curve_behind_an_expansion_moves_above_its_weights(show):
    x = np.linspace(0, 4, 30)[:, None]
    y = np.sin(2 * x[:, 0])
    pipeline = make_pipeline(BasisExpansion("gaussian", n_functions=6), Lasso(0.001))
    trace = traced(pipeline, x, y)
    page = show(trace, f"#step={len(trace) - 1}")
    line = "document.querySelector('.boundary path').getAttribute('d')"
    page.wait(f"{line}.length > 0")
    marks = page.run("""[...document.querySelectorAll('.marks path')].map((mark) =>
        mark.getAttribute('transform').match(/-?[\\d.]+/g).map(Number))""")
    to_data = np.linalg.lstsq(np.c_[marks, np.ones(30)], np.c_[x, y], rcond=None)[0]
    path = page.run(line)
    pixels = np.reshape([float(v) for v in path[1:].replace("L", ",").split(",")], (-1, 2))
    curve = np.c_[pixels, np.ones(len(pixels))] @ to_data
    assert len(curve) > 100
    np.testing.assert_allclose(curve[:, 1], pipeline.predict(curve[:, :1]), atol=0.02)
    names = page.run("[...document.querySelectorAll('.bars title')].map((t) => t.textContent)")
    assert names == list(pipeline[0].get_feature_names_out(["x1"]))
    assert "The curve is what the model predicts" in page.run("document.body.innerText")
    slide(page, 1)
    page.wait(f"{line} !== {path!r}")
    page.resize(390, 800)
    page.wait("document.documentElement.scrollWidth <= 390")
    page.resize(1280, 900)


def test_the_boundary_behind_an_expansion_has_its_region_and_its_weights(show):
    X, y = make_moons(80, noise=0.2, random_state=0)
    pipeline = make_pipeline(BasisExpansion("polynomial", degree=3), LogisticRegression())
    trace = traced(pipeline, X, y)
    page = show(trace, f"#step={len(trace) - 1}")
    page.wait("document.querySelectorAll('.boundary path').length > 0")
    assert page.run("document.querySelectorAll('.normal path').length") == 0  # no arrow on a curve
    labels = "[...document.querySelectorAll('.bars text')].map((t) => t.firstChild?.textContent)"
    assert "x₁² x₂" in page.run(labels)
    slide(page, 0)
    assert page.run("document.querySelector('.lineless').textContent") == "w = 0: no curve yet"


def test_a_penalty_that_is_searched_for_is_shown_with_the_features_kept(show):
    X = np.random.default_rng(0).normal(size=(60, 8))
    trace = traced(Lasso(n_features=3), X, X[:, :4] @ [4.0, 3.0, 2.0, 1.0])
    page, frame = show(trace), trace.to_frame()
    for k in (0, 2, len(trace) - 1):
        slide(page, k)
        assert read(page, "alpha") == pytest.approx(frame.alpha[k], rel=1e-12)
        assert read(page, "n_kept") == frame.n_kept[k]
    page = show(traced(Lasso(0.1), X, X[:, 0]))
    assert page.run("document.querySelector('[data-quantity=alpha]')") is None
