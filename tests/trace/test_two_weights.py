"""Learners that publish a mean or a pocket: what a trace tells of it, and of the run itself."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rosenblatt import AveragedPerceptron, Perceptron, PocketPerceptron, Trace
from tests.trace.test_page import data_of

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

both = pytest.mark.parametrize(
    ("learner", "name"), [(AveragedPerceptron, "mean"), (PocketPerceptron, "pocket")]
)


def traced(learner, X, y, every="pass", **parameters):
    trace = Trace(every)
    model = learner(**{"shuffle": False, "tol": None, "max_iter": 4} | parameters)
    return trace, model.set_callbacks(trace).fit(X, y)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@both
def test_the_frame_has_the_error_of_the_run_beside_it(three_classes, learner, name):
    for K in (2, 3):
        X, y = three_classes[0][: 40 * K], three_classes[1][: 40 * K]
        trace, _ = traced(learner, X, y)
        plain, _ = traced(Perceptron, X, y)
        frame = trace.to_frame()
        assert list(frame.columns[:9]) == [
            "run", "step", "epoch", "objective", "error", "last_objective", "last_error",
            "mistakes", "n_updates",
        ]  # fmt: skip
        # The run is that of the plain perceptron.
        np.testing.assert_array_equal(frame.last_error, plain.to_frame().error)
        np.testing.assert_array_equal(frame.last_objective, plain.to_frame().objective)
        assert (frame.error != frame.last_error).any()
        assert not any(column.startswith("last") for column in plain.to_frame())


def test_the_error_of_a_pocket_is_the_pockets_own(five):
    trace, model = traced(PocketPerceptron, *five, "update", boundary="negative")
    frame = trace.to_frame()
    assert [step.estimator.pocket_error_ for step in trace] == frame.error.tolist()
    assert frame.error.iloc[-1] == model.pocket_error_ <= frame.last_error.min()


def test_the_pocket_is_worked_by_hand(five):
    # Data order from zero: after (2, 3) the run is worse than the pocket, which stays.
    trace, _ = traced(PocketPerceptron, *five, "visit", max_iter=1)
    table = trace.table()
    assert table.columns == ("step", "x", "y", "w", "pocket", "score", "right?", "update")
    assert table.rows == (
        ("1", "[1,1]", "-1", "[0,0,0]", "[0,0,0]", "0", "no", "-[1,1,1]"),
        ("2", "[3,2]", "1", "[-1,-1,-1]", "[-1,-1,-1]", "-6", "no", "+[1,3,2]"),
        ("3", "[2,4]", "1", "[0,2,1]", "[0,2,1]", "8", "yes", "-"),
        ("4", "[3,4]", "1", "[0,2,1]", "[0,2,1]", "10", "yes", "-"),
        ("5", "[2,3]", "-1", "[0,2,1]", "[0,2,1]", "7", "no", "-[1,2,3]"),
        ("end", "", "", "[-1,0,-2]", "[0,2,1]", "", "", ""),
    )
    assert table.caption.endswith("w has the bias first; w is the run's, beside its pocket.")


def test_the_mean_is_worked_by_hand(five):
    # The mean over the visits so far of the weights after each; right visits count, too.
    trace, _ = traced(AveragedPerceptron, *five, "visit", max_iter=1)
    rows = [dict(zip(trace.table().columns, row, strict=True)) for row in trace.table().rows]
    assert [row["w"] for row in rows[:3]] == ["[0,0,0]", "[-1,-1,-1]", "[0,2,1]"]
    assert [row["mean"] for row in rows] == [
        "[0,0,0]", "[-1,-1,-1]", "[-0.5,0.5,0]", "[-0.3333,1,0.3333]", "[-0.25,1.25,0.5]",
        "[-0.4,1,0]",
    ]  # fmt: skip
    assert [row["update"] for row in rows[:3]] == ["-[1,1,1]", "+[1,3,2]", "-"]


@both
def test_w_before_an_update_is_what_scored_the_example(three_classes, learner, name):
    X, y = three_classes
    trace, _ = traced(learner, X.round(), y, "update", max_iter=2)
    for k in (1, 7, len(trace) - 1):
        step, before = trace[k], trace[k - 1].estimator
        scores = before.last_coef_ @ X.round()[step.row] + before.last_intercept_
        np.testing.assert_allclose(step.score, scores, atol=1e-9)
    table = trace.table()
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert first["w"].startswith("ash: [0,0,0]")
    assert first["update"].endswith((" to ash", " from ash", " from elm", " to elm"))


@both
def test_passes_show_both_errors_and_the_objective_of_the_run(five, learner, name):
    table = traced(learner, *five)[0].table()
    assert table.columns == (
        "pass", "mistakes", "so far", "error of w", "objective of w", f"error of {name}", "w", name,
    )  # fmt: skip
    # The run is at [-1,0,-2], with -3 to -9 for three "+": -(-1-4) - (-1-8) - (-1-8) = 23.
    assert table.rows[1][3:7] == ("0.6", "23", "0.4", "[-1,0,-2]")


@both
def test_the_figure_draws_both_errors_and_both_lines(five, learner, name):
    trace, model = traced(learner, *five)
    plane, errors, objective = trace.plot().axes
    assert objective.get_title(loc="left") == "objective of the current weights"
    assert objective.lines[0].get_ydata().tolist() == trace.to_frame().last_objective.tolist()
    assert [text.get_text() for text in errors.get_legend().texts] == [name, "current"]
    keys = [text.get_text() for text in plane.get_legend().texts]
    # The pockets' lines are outside the picture, the earlier ones and the last.
    assert keys == ["-1", "1", name, "current", *(["earlier"] if name == "mean" else [])]
    styles = [handle.get_linestyle() for handle in plane.get_legend().legend_handles[2:4]]
    assert styles == ["-", "--"]  # the current is dashed, there and in the curves
    assert [line.is_dashed() for line in errors.lines if len(line.get_xdata()) > 1] == [False, True]
    assert objective.lines[0].is_dashed()
    drawn = {line.get_label(): line.get_ydata().tolist() for line in errors.lines}
    assert drawn[name] == trace.to_frame().error.tolist()
    assert drawn["current"] == trace.to_frame().last_error.tolist()
    (dashed,) = [c for c in plane.collections if c.get_zorder() == 3.9]
    ends = dashed.get_paths()[0].vertices
    scores = ends @ model.last_coef_[0] + model.last_intercept_
    np.testing.assert_allclose(scores, 0, atol=1e-9)


def test_dashes_between_three_classes_are_drawn_once(three_classes):
    plane = traced(AveragedPerceptron, *three_classes)[0].plot().axes[0]
    dashed = [c for c in plane.collections if c.get_zorder() == 3.9]
    ends = np.concatenate([path.vertices for c in dashed for path in c.get_paths()])
    assert len(np.unique(ends.round(9), axis=0)) >= len(ends) - 4


@both
def test_the_page_has_the_weights_of_the_run_besides(five, learner, name, tmp_path):
    trace, _ = traced(learner, *five)
    trace.save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    assert data["published"] == name
    for step in data["steps"]:
        state, model = data["states"][step["state"]], trace[step["step"]].estimator
        assert state["coef"] == model.coef_.tolist()
        assert state["last_coef"] == model.last_coef_.tolist()
        assert state["last_intercept"] == model.last_intercept_.tolist()
        assert state["last_error"] == trace.to_frame().last_error[step["step"]]
        assert state["last_objective"] == trace.to_frame().last_objective[step["step"]]


def test_the_page_of_a_plain_perceptron_says_nothing_of_it(watch, tmp_path):
    watch()[0].save(tmp_path / "run.html")
    data = data_of(tmp_path / "run.html")
    assert data["published"] is data["supports"] is data["grid"] is None
    assert not any(name.startswith("last") for state in data["states"] for name in state)
