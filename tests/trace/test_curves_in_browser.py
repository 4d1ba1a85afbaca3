"""Curved boundaries, supports and the current line, as a reader of the page meets them."""

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rosenblatt import AveragedPerceptron, KernelPerceptron, PocketPerceptron, Trace
from tests.trace.replay import read, slide

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

CURVES = "[...document.querySelectorAll('.boundary path')].map((path) => path.getAttribute('d'))"
FRAMES = "(document.querySelector('.chart .supports').getAttribute('d').match(/M/g) ?? []).length"
WORD = "document.querySelector('.lineless')?.textContent"


def traced(model, X, y, every="update"):
    trace = Trace(every)
    model.set_callbacks(trace).fit(X, y)
    return trace


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.15, random_state=0)


def places(page, n):
    """A function from pixels to the data, by the places of the points."""
    marks = page.run("""[...document.querySelectorAll('.marks path')].map((mark) =>
        mark.getAttribute('transform').match(/-?[\\d.]+/g).map(Number))""")
    points = np.array(page.run("rosenblatt.data.points.at"))
    to_data = np.linalg.lstsq(np.c_[marks, np.ones(n)], points, rcond=None)[0]
    return lambda pixels: np.c_[pixels, np.ones(len(pixels))] @ to_data


def vertices(page, path):
    return np.reshape([float(v) for v in path[1:].replace("L", ",").split(",")], (-1, 2))


def test_the_curve_is_where_the_score_is_zero_and_moves(moons, show):
    trace = traced(KernelPerceptron(gamma=2.0), *moons)
    page = show(trace, f"#step={len(trace) - 1}")
    page.wait("document.querySelectorAll('.boundary path').length > 0")
    curves = page.run(CURVES)
    pixels = np.concatenate([vertices(page, curve) for curve in curves])
    scores = trace[-1].estimator.decision_function(places(page, 80)(pixels))
    assert np.abs(scores).max() < 0.05
    assert len(pixels) > 30
    seen = set()
    for k in (3, 7, 11):
        slide(page, k)
        assert read(page, "n_support") == len(trace[k].estimator.support_) == page.run(FRAMES)
        seen.add(tuple(page.run(CURVES)))
        assert page.run("document.querySelectorAll('.trail path').length") > 0
    assert len(seen) == 3
    lead = page.run("document.querySelector('header').innerText")
    assert "Corners mark the supports" in lead
    assert "line" not in lead
    assert "support" in page.run("document.querySelector('.legend').innerText")


def test_the_regions_of_three_classes_fill_the_box_and_do_not_overlap(show, three_classes):
    trace = traced(KernelPerceptron(gamma=0.5, max_iter=3), *three_classes)
    page = show(trace, f"#step={len(trace) - 1}")
    page.wait("document.querySelectorAll('.region').length === 3")
    area = """(d) => d.split("z").filter(Boolean).reduce((total, ring) => {
        const points = ring.slice(1).split("L").map((pair) => pair.split(",").map(Number));
        const twice = points.reduce((sum, [x, y], i) => {
            const [p, q] = points[(i + 1) % points.length];
            return sum + x * q - p * y;
        }, 0);
        return total + Math.abs(twice) / 2;
    }, 0)"""
    areas = page.run(f"""[...document.querySelectorAll('.region')]
        .map((path) => ({area})(path.getAttribute('d')))""")
    box = page.run("""document.querySelector('.axes path').getAttribute('d')
        .match(/-?[\\d.]+/g).map(Number)""")
    left, top, _, bottom, right = box
    assert sum(areas) == pytest.approx((right - left) * (bottom - top), rel=1e-3)
    assert min(areas) > 1000


def test_nothing_learnt_is_said_in_the_words_of_kernels(show):
    X, y = [[1, 1], [-1, 1], [-1, -1], [1, -1]], ["same", "other", "same", "other"]
    square = KernelPerceptron("poly", degree=2, gamma=1, fit_intercept=False, shuffle=False)
    page = show(traced(square, X, y), "#step=0")
    page.wait(f"{WORD} === 'no supports: no curve yet'")
    assert page.run(CURVES) == []
    lead = page.run("document.querySelector('header').innerText")
    assert "there are no supports, so there is no curve" in lead
    assert "every point is predicted as “other”" in lead
    assert page.run("document.querySelectorAll('.region').length") == 0
    page.press("End")
    assert page.run(WORD) == ""
    assert page.run("document.querySelectorAll('.region').length") == 2


def test_the_keyboard_works_among_2000_updates(show):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), rng.integers(2, size=300)
    trace = traced(KernelPerceptron(gamma=20.0, max_updates=2000, tol=None), X, y)
    page = show(trace)
    assert read(page, "step") == len(trace) - 1
    page.wait("document.querySelectorAll('.boundary path').length > 0")
    page.press("ArrowLeft")
    assert read(page, "step") == len(trace) - 2
    page.press("Home")
    page.run("rosenblatt.model.set('speed', 64)")
    page.press(" ")
    page.wait("rosenblatt.model.get('step') >= 20")
    page.press(" ")
    assert read(page, "intercept") == trace[read(page, "step")].estimator.intercept_.tolist()


def test_one_feature_and_many_are_replayed(moons, show):
    X, y = moons
    trace = traced(KernelPerceptron(gamma=2.0, max_iter=2), X[:, :1], y)
    page = show(trace, f"#step={len(trace) - 1}")
    page.wait("document.querySelectorAll('.boundary path').length > 0")
    wide = np.hstack([X, X**2])
    trace = traced(KernelPerceptron(gamma=0.5, max_iter=2), wide, y)
    page = show(trace)
    page.wait("Boolean(document.querySelector('.bars'))")
    assert page.run("document.querySelector('.bars .title').textContent").endswith("supports")
    page.press("End")
    assert read(page, "n_support") == len(trace[-1].estimator.support_)


@pytest.mark.parametrize(
    ("learner", "name"), [(AveragedPerceptron, "mean"), (PocketPerceptron, "pocket")]
)
def test_the_current_line_and_error_are_beside_the_published(show, five, learner, name):
    trace = traced(learner(shuffle=False, tol=None, max_iter=4), *five, "pass")
    page = show(trace, "#step=4")
    page.wait("document.querySelectorAll('.running path').length === 2")  # the key has one
    assert read(page, "last_coef") == trace[4].estimator.last_coef_.tolist()
    assert read(page, "last_error") == trace.to_frame().last_error[4]
    line = page.run("document.querySelector('.chart .running path').getAttribute('d')")
    ends = places(page, 5)(vertices(page, line))
    last = trace[4].estimator
    scores = ends @ last.last_coef_[0] + last.last_intercept_
    np.testing.assert_allclose(scores / np.linalg.norm(last.last_coef_), 0, atol=1e-3)
    keys = page.run("[...document.querySelectorAll('.curve .key')].map((key) => key.textContent)")
    assert keys == [f"{name} {trace.to_frame().error[4]:.4g}",
                    f"current {trace.to_frame().last_error[4]:.4g}"]  # fmt: skip
    assert page.run("document.querySelectorAll('.curve .series .past').length") == 2 + 2 + 1
    assert read(page, "last_objective") == trace.to_frame().last_objective[4]
    titles = "[...document.querySelectorAll('.curve .title')].map((title) => title.textContent)"
    assert page.run(titles) == ["training error", "objective of the current weights"]
    legend = page.run("document.querySelector('.legend').innerText").split("\n")
    assert legend == ["-1", "1", name, "current", "earlier"]
    dashes = "(kind) => getComputedStyle(document.querySelector(kind)).strokeDasharray !== 'none'"
    for kind in (".running path", ".curve .current .past"):
        assert page.run(f"({dashes})('{kind}')")
    for kind in (".boundary path", ".legend .trail path"):
        assert not page.run(f"({dashes})('{kind}')")


def test_arrows_and_their_words_hide_no_point_and_show_the_positive_side(show):
    rng = np.random.default_rng(3)
    y = np.repeat(["ham", "spam"], 30)
    X = rng.normal(size=(60, 2)) + np.repeat([[0, 0], [2, 1.5]], 30, axis=0)
    trace = traced(PocketPerceptron(max_iter=20, random_state=0), X, y, "pass")
    page = show(trace)
    page.wait("document.querySelectorAll('.normal path').length === 4")
    boxes = page.run("""[...document.querySelectorAll('.normal text')].map((word) =>
        word.getBoundingClientRect().toJSON())""")
    assert [box["width"] > 0 for box in boxes] == [True]
    marks = page.run("""[...document.querySelectorAll('.marks path')].map((mark) => {
        const box = mark.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    })""")
    (box,) = boxes
    for x, y in marks:
        across = box["left"] <= x <= box["right"]
        assert not (across and box["top"] + 4 <= y <= box["bottom"] - 4)
    last = trace[-1].estimator
    planes = {".of-boundary": (last.coef_[0], last.intercept_)}
    planes[".of-running"] = (last.last_coef_[0], last.last_intercept_)
    for kind, (w, b) in planes.items():
        path = page.run(f"document.querySelector('{kind} path').getAttribute('d')")
        foot, tip = places(page, 60)(vertices(page, f"M{path.split('M')[1]}"))
        assert abs(foot @ w + b) / np.linalg.norm(w) < 0.05
        assert tip @ w + b > 0


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_sticks_out_at_any_width(moons, show, width):
    page = show(traced(KernelPerceptron(gamma=2.0), *moons), "#step=2")
    try:
        page.resize(width, 800)
        page.wait(f"document.documentElement.clientWidth <= {width}")
        assert page.run(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
    finally:
        page.resize(1280, 900)
