"""Traces of a model that is not linear: its curves, its supports, and what they cost."""

import base64
import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics.pairwise import rbf_kernel

from rosenblatt import SVC, KernelPerceptron, Trace
from rosenblatt.trace.model_views import SupportScores, heaviest
from rosenblatt.trace.page_points import Grid, box_around, quantised
from tests.trace.test_page import data_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

CORNERS = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
SAME = np.array(["same", "other", "same", "other"])


def traced(X, y, every="update", **parameters):
    trace = Trace(every)
    model = KernelPerceptron(**{"gamma": 2.0, "shuffle": False} | parameters)
    return trace, model.set_callbacks(trace).fit(X, y)


def xor(every="visit", **parameters):
    square = {"kernel": "poly", "degree": 2, "gamma": 1, "fit_intercept": False}
    return traced(CORNERS, SAME, every, **square | parameters)


@pytest.fixture(scope="module")
def moons():
    return make_moons(80, noise=0.15, random_state=0)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def decoded(data, state, K):
    """The scores of a page at the nodes, as the page reads them: (K or 1, up, across)."""
    units = np.frombuffer(base64.b64decode(state["scores"]), np.int8).astype(float)
    values = np.sign(units) * 2 ** ((np.abs(units) - 127) / 4)
    across, up = data["grid"]["shape"]
    return values.reshape(1 if K == 2 else K, up, across)


def nodes_of(data):
    (left, right), (low, high) = data["grid"]["box"]
    across, up = data["grid"]["shape"]
    grid = np.meshgrid(np.linspace(left, right, across), np.linspace(low, high, up))
    return np.column_stack([axis.ravel() for axis in grid])


def test_the_grid_of_a_page_has_the_models_sign_at_every_node(moons, tmp_path):
    trace, _ = traced(*moons)
    trace.save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    for step in data["steps"][:: len(trace) // 5]:
        model = trace[step["step"]].estimator
        scores = model.decision_function(nodes_of(data))
        told = decoded(data, data["states"][step["state"]], 2)[0].ravel()
        clear = np.abs(scores) > 1e-9
        np.testing.assert_array_equal(np.sign(told)[clear], np.sign(scores)[clear])
        # Up to a common factor they are the scores themselves, within a quarter of an octave.
        near = np.abs(scores) > 1e-6 * np.abs(scores).max()
        if near.any():
            octaves = np.log2(np.abs(scores[near] / told[near]))
            assert np.ptp(octaves) <= 0.26


def test_the_grid_of_several_classes_knows_the_best_at_every_node(three_classes, tmp_path):
    trace, model = traced(*three_classes, gamma=0.5, max_iter=3)
    trace.save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    told = decoded(data, data["states"][-1], 3)
    best = model.decision_function(nodes_of(data)).argmax(axis=1)
    np.testing.assert_array_equal(told.argmax(axis=0).ravel(), best)
    assert (told.max(axis=0) == 0).all()


def test_bytes_keep_the_order_of_scores_of_any_size():
    behind = np.array([[[0.0, 3.0], [1e-30, 0.0], [0.0, 0.0], [0.0, 1.5]]])
    assert quantised(behind).tolist() == [[[0, 127], [1, 0], [0, 0], [0, 123]]]
    assert quantised(np.zeros((1, 1, 2))).tolist() == [[[0, 0]]]


def test_a_box_has_one_unit_for_both_axes_where_that_is_sensible():
    box = box_around(np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert np.ptp(box, axis=1).tolist() == pytest.approx([1.25 * 1.24, 1.24])
    assert box.mean(axis=1).tolist() == pytest.approx([0.5, 0.5])
    assert np.ptp(box_around(np.array([[0.0, 0.0], [9.0, 1.0]])), axis=1)[1] == pytest.approx(1.24)


def test_a_grid_is_finer_when_there_are_fewer_of_it():
    points = np.random.default_rng(0).normal(size=(500, 2))
    few, many = Grid.around(points, 2, 50), Grid.around(points, 2, 2000)
    assert few.shape[0] > many.shape[0] >= 24
    assert Grid.around(points[:, :1], 2, 50).shape[1] == 1


def test_supports_are_told_by_what_turned(moons, tmp_path):
    trace, _ = traced(*moons)
    trace.save(tmp_path / "run.html")
    data, chosen = data_of(tmp_path / "run.html"), set()
    for step in data["steps"]:
        state = data["states"][step["state"]]
        chosen ^= set(state["turned"])
        model = trace[step["step"]].estimator
        assert [data["points"]["row"][i] for i in sorted(chosen)] == sorted(model.support_)
        assert state["n_support"] == len(model.support_)


def test_a_model_without_supports_is_flat(tmp_path):
    trace, _ = xor()
    trace.save(tmp_path / "run.html")
    states = data_of(tmp_path / "run.html")["states"]
    assert [state["flat"] for state in states] == [True, False, False]
    assert "coef" not in states[0]


def test_2000_updates_stay_below_5_mb_and_are_told_soon(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.integers(2, size=600)
    trace, model = traced(X, y, max_updates=2000, tol=None)
    begun = time.perf_counter()
    trace.save(tmp_path / "run.html")
    assert time.perf_counter() - begun < 60
    data = data_of(tmp_path / "run.html")
    assert model.n_updates_ == 2000
    assert len(data["steps"]) == 2000
    assert (tmp_path / "run.html").stat().st_size < 5_000_000
    assert np.prod(data["grid"]["shape"]) >= 600


@pytest.mark.parametrize(
    ("convert", "K"),
    [(np.asarray, 2), (np.float32, 3), (csr_array, 2), (csr_array, 3), (pd.DataFrame, 3),
     (pl.DataFrame, 2), (np.ndarray.tolist, 3)],
)  # fmt: skip
def test_measures_are_those_of_the_model(three_classes, convert, K, tmp_path):
    X, y = three_classes[0][: 40 * K], three_classes[1][: 40 * K]
    X, weight = convert(X), np.linspace(0.5, 2, len(y))
    trace = Trace("update")
    KernelPerceptron(max_iter=2).set_callbacks(trace).fit(X, y, sample_weight=weight)
    for step, row in zip(trace, trace.to_frame().itertuples(), strict=True):
        expected = step.estimator.objective(X, y, sample_weight=weight)
        assert row.objective == pytest.approx(expected, rel=1e-4, abs=1e-4)
        assert row.error == np.average(step.estimator.predict(X) != y, weights=weight)
        assert row.n_support == len(step.estimator.support_)
    trace.save(tmp_path / "run.html")
    trace.plot()


@pytest.mark.parametrize(
    "kernel", ["rbf", "poly", "laplacian", "linear", lambda U, V: rbf_kernel(U, V, 0.3)]
)
def test_kept_kernel_values_give_the_models_own_scores(moons, kernel, monkeypatch):
    trace, model = traced(*moons, kernel=kernel, max_iter=5)
    scores = SupportScores(moons[0])
    for step in trace[:: len(trace) // 4]:
        expected = step.estimator.decision_function(moons[0])
        np.testing.assert_allclose(scores.of(step.estimator), expected, atol=1e-9)
    monkeypatch.setattr("rosenblatt.trace.model_views.MOST_VALUES", 0)
    fresh = SupportScores(moons[0])
    np.testing.assert_array_equal(fresh.of(model), model.decision_function(moons[0]))


def test_a_precomputed_kernel_can_be_traced(moons, tmp_path):
    X, y = moons
    trace, model = traced(rbf_kernel(X, gamma=2), y, kernel="precomputed")
    assert trace.to_frame().error.iloc[-1] == np.mean(model.predict(rbf_kernel(X, gamma=2)) != y)
    trace.save(tmp_path / "run.html")
    assert data_of(tmp_path / "run.html")["points"] is None


def test_one_feature_has_a_row_of_scores(moons, tmp_path):
    trace, model = traced(moons[0][:, :1], moons[1], max_iter=2)
    trace.save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    assert data["grid"]["shape"][1] == 1
    nodes = np.linspace(*data["grid"]["box"][0], data["grid"]["shape"][0])[:, None]
    told = decoded(data, data["states"][-1], 2).ravel()
    np.testing.assert_array_equal(np.sign(told), np.sign(model.decision_function(nodes)))


def test_of_many_features_the_heaviest_supports_are_shown(tmp_path):
    rng = np.random.default_rng(0)
    trace, model = traced(rng.normal(size=(90, 5)), rng.integers(2, size=90), max_iter=4)
    trace.save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    assert len(data["supports"]) == 24 < data["states"][-1]["n_support"]
    place = {int(row): j for j, row in enumerate(model.support_)}
    shown = [[model.dual_coef_[0, place[row]] for row in data["supports"]]]
    assert data["states"][-1]["dual"] == shown
    assert np.abs(shown).min() >= np.sort(np.abs(model.dual_coef_[0]))[-24]
    assert data["grid"] is None


def test_the_kernel_perceptron_is_worked_by_hand():
    # XOR with (u.v)^2, as one does it on paper: f(x) = 2 x1 x2 + ..., then 4 x1 x2.
    table = xor()[0].table()
    assert table.columns == ("step", "pass", "row", "x", "y", "a", "score", "right?", "update")
    assert table.rows[0][5:] == ("[0,0,0,0]", "0", "no", "a0 += 1")
    assert table.rows[1][5:] == ("[1,0,0,0]", "0", "no", "a1 -= 1")
    assert table.rows[2][5:] == ("[1,-1,0,0]", "4", "yes", "-")
    assert table.rows[-1][5:] == ("[1,-1,0,0]", "", "", "")
    assert "a has a number for each row of X" in table.caption
    assert xor("pass")[0].table().columns == (
        "pass", "mistakes", "so far", "error", "objective", "supports",
    )  # fmt: skip


def test_with_a_bias_and_classes_the_table_says_whose_counts_change(three_classes):
    trace, _ = traced(*three_classes, max_iter=1)
    table = trace.table()
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert first["update"] == "ash: a0 += 1, b += 1; elm: a0 -= 1, b -= 1"
    assert (first["a"], first["b"]) == ("0 supports", "[0,0,0]")
    X, y = three_classes[0][:80], three_classes[1][:80]
    trace, _ = traced(X, y, max_iter=1)
    table = trace.table()
    second = dict(zip(table.columns, table.rows[1], strict=True))
    assert (second["a"], second["b"]) == ("a0 = -1", "-1")
    assert second["update"].endswith(" += 1, b += 1")


def test_rows_that_are_the_same_count_as_one():
    # The first of them speaks for the other, which was corrected second.
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    trace, _ = traced(X, [1, 0, 0], kernel="linear", fit_intercept=False, max_iter=1)
    assert trace.table().rows[-2][-1] == "a2 -= 1"


def test_the_figure_marks_the_supports_and_says_so(moons):
    # Rings around them were taken for hollow points of the first class: corners have no such twin.
    trace, model = traced(*moons)
    ax = trace.plot().axes[0]
    assert [text.get_text() for text in ax.get_legend().texts] == ["0", "1", "support", "earlier"]
    (frames,) = [c for c in ax.collections if c.get_zorder() == 3.2]
    assert sorted(frames.get_offsets().tolist()) == sorted(moons[0][model.support_].tolist())
    assert len(frames.get_paths()[0].to_polygons(closed_only=False)) == 4
    ends = [c for c in ax.collections if c.get_linewidth()[0] == 1.6][-1].get_paths()[0].vertices
    assert np.abs(model.decision_function(ends)).max() < 0.05


def test_the_figure_of_an_empty_model_says_that_there_are_no_supports():
    trace, _ = traced(np.ones((4, 2)), [0, 1, 0, 1], max_iter=1)
    title = trace.plot().axes[0].get_legend().get_title().get_text()
    assert title.startswith("no supports: no curve yet; hollow: predicted wrongly")


def test_supports_that_count_alike_are_shown_of_every_class():
    """Of 163 supports at the bound the first 24 were shown, all of one class."""
    X, y = load_iris(return_X_y=True)
    few = SVC(C=0.1).fit(X, y)
    assert np.bincount(y[heaviest(few, 12)], minlength=3).min() >= 3
    two = SVC(C=0.1).fit(X[50:], y[50:])
    shown = y[50:][heaviest(two, 24)]
    assert np.count_nonzero(shown == 1) == 12
    largest = np.sort(np.abs(two.dual_coef_).max(axis=0))[-24:]
    assert np.isin(heaviest(two, 24), two.support_).all()
    sizes = dict(zip(two.support_.tolist(), np.abs(two.dual_coef_[0]), strict=True))
    np.testing.assert_array_equal(np.sort([sizes[i] for i in heaviest(two, 24)]), largest)
