"""The by-hand tables."""

import sys
from io import StringIO

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from rich.console import Console
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, Trace, checks
from rosenblatt.trace.notation import Table, number, rounding, tidied, vector


def test_the_visits_of_the_lecture_notes_are_reproduced(watch):
    # Five points, bias first, start [-1, 0, 0], data order: the table worked by hand.
    trace, _ = watch("visit", max_iter=1)
    table = trace.table()
    assert table.columns == ("step", "x", "y", "w", "score", "right?", "update")
    assert table.rows == (
        ("1", "[1,1]", "-1", "[-1,0,0]", "-1", "yes", "-"),
        ("2", "[3,2]", "1", "[-1,0,0]", "-1", "no", "+[1,3,2]"),
        ("3", "[2,4]", "1", "[0,3,2]", "14", "yes", "-"),
        ("4", "[3,4]", "1", "[0,3,2]", "17", "yes", "-"),
        ("5", "[2,3]", "-1", "[0,3,2]", "12", "no", "-[1,2,3]"),
        ("end", "", "", "[-1,1,-1]", "", "", ""),
    )


def test_a_table_prints_as_markdown(watch):
    trace, _ = watch("visit", max_iter=1)
    lines = str(trace.table()).splitlines()
    assert lines[0] == "| step | x     | y  | w         | score | right? | update   |"
    assert lines[3] == "| 2    | [3,2] | 1  | [-1,0,0]  | -1    | no     | +[1,3,2] |"
    assert lines[-1] == "Perceptron: 5 visits; w has the bias first."
    assert repr(trace.table()) == str(trace.table())
    assert str(trace.table()).isascii()


def test_a_table_is_understood_by_rich_and_by_notebooks(watch):
    table = watch("visit", max_iter=1)[0].table()
    console = Console(width=100, record=True, file=StringIO())
    console.print(table)
    assert "+[1,3,2]" in console.export_text()
    assert "<td>+[1,3,2]</td>" in table._repr_html_()


def test_cells_are_text_and_never_markup():
    table = Table(("[bold]a",), (("<b>[red]x",),))
    assert "[bold]a" in str(table)
    assert "[red]x" in str(table)
    assert "&lt;b&gt;" in table._repr_html_()


def test_updates_over_several_passes_say_where_they_happened(watch):
    trace, model = watch("update")
    table = trace.table(max_rows=4)
    assert table.columns == ("step", "pass", "row", "x", "y", "w", "score", "right?", "update")
    assert table.rows[0] == ("1", "1", "1", "[3,2]", "1", "[-1,0,0]", "-1", "no", "+[1,3,2]")
    assert table.rows[2] == ("...",) * 9
    assert table.caption.endswith("; rows count from 0, as in X.")
    assert table.rows[-2][0] == str(model.n_updates_)
    assert f"{model.n_updates_} updates, 4 of {model.n_updates_} rows shown" in table.caption


def test_passes_show_mistakes_error_objective_and_weights(watch):
    # I5: the perceptron criterion: how far the mistakes are on the wrong side
    table = watch(max_iter=1)[0].table()
    assert table.columns == ("pass", "mistakes", "so far", "error", "objective", "w")
    # From [-1,0,0] three "+" are wrong by 1 each; at [-1,1,-1] scores are -1, 0, -3, -2, -2.
    assert table.rows == (
        ("0", "", "0", "0.6", "3", "[-1,0,0]"),
        ("1", "2", "2", "0.6", "5", "[-1,1,-1]"),
    )


def test_the_mistakes_of_a_pass_are_its_own(watch):
    # A total under the name of "mistakes" was read as the mistakes of the pass.
    passes, visits = watch(max_iter=6)[0], watch("visit", max_iter=6)[0].to_frame()
    made = visits[visits.step > 0].groupby("epoch").mistake.sum().tolist()
    assert passes.to_frame().mistakes.tolist() == [pd.NA, *made]
    assert passes.to_frame().n_updates.tolist() == [0, *np.cumsum(made)]
    rows = [dict(zip(passes.table().columns, row, strict=True)) for row in passes.table().rows]
    assert [row["mistakes"] for row in rows] == ["", *map(str, made)]
    assert [row["so far"] for row in rows] == ["0", *map(str, np.cumsum(made))]
    assert "mistakes" not in visits


def test_what_rounding_left_over_of_a_weight_is_printed_as_0(five):
    # 0.1 + 0.1 + 0.1 - 0.3 is 5.6e-17, and stood so in the table.
    assert vector(tidied([0.1 + 0.1 + 0.1 - 0.3, 2.0, -3.819e-14], 3e-14)) == "[0,2,0]"
    assert vector(tidied([1e-30, 2e-30], 3e-14)) == "[1e-30,2e-30]"
    assert tidied([np.inf, 1.0, 1e-20], 3e-14).tolist() == [np.inf, 1.0, 0.0]
    assert tidied([1e-17], 3e-14, beside=[[1.0]]).tolist() == [0.0]
    for kind in (np.float64, np.float32):
        trace = Trace("visit")
        model = Perceptron(eta0=0.1, shuffle=False, tol=None).set_callbacks(trace)
        model.fit(five[0].astype(kind), five[1])
        planes = [[*s.estimator.intercept_, *s.estimator.coef_[0]] for s in trace]
        left = [p for p in planes if 0 < np.abs(p).min() < rounding(model) * np.abs(p).max()]
        assert left
        column = trace.table().columns.index("w")
        assert not any("e-" in row[column] for row in trace.table(max_rows=2000).rows)


def test_the_bias_of_a_kernel_model_is_printed_without_what_rounding_left(five):
    trace = Trace("update")
    KernelPerceptron("linear", shuffle=False, tol=None).set_callbacks(trace).fit(*five)
    trace[-1].estimator.intercept_[:] = 0.1 + 0.1 + 0.1 - 0.3
    last = dict(zip(trace.table().columns, trace.table().rows[-1], strict=True))
    assert last["b"] == "0"


def test_several_classes_say_who_gains_and_who_loses(three_classes):
    X, y = three_classes
    trace = Trace("update")
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=1, shuffle=False, tol=None).set_callbacks(trace).fit(X.round(), y)
    first = dict(zip(trace.table().columns, trace.table().rows[0], strict=True))
    assert first["w"] == "ash: [0,0,0]\nelm: [0,0,0]\noak: [0,0,0]"
    x = vector([1, *X.round()[0]])
    assert set(first["update"].split(", ")) == {f"+{x} to ash", f"-{x} from elm"}


def test_another_rate_and_no_bias_are_written_as_they_are(five):
    trace = Trace("update")
    model = Perceptron(eta0=0.5, fit_intercept=False, max_iter=1, tol=None, shuffle=False)
    with pytest.warns(ConvergenceWarning):
        model.set_callbacks(trace).fit(*five)
    assert trace.table().rows[0][-1] == "-0.5 [1,1]"
    assert trace.table().caption.startswith(f"Perceptron: {len(trace) - 1} updates; rows count")


def test_many_features_are_shortened():
    assert vector(range(7)) == "[0,1,2,3,4,5,6]"
    assert vector(range(8)) == "[0,1,2,3,...,7]"


def test_numbers_are_short():
    numbers = [0.0, -0.0, 3.5, -1.0, 1 / 3, 123456.0, 1e-7, None, np.nan]
    assert [number(v) for v in numbers] == [
        "0",
        "0",
        "3.5",
        "-1",
        "0.3333",
        "123456",
        "1e-07",
        "",
        "",
    ]


def test_max_rows_must_be_sensible(watch):
    with pytest.raises(ValueError, match=r"max_rows must be an integer >= 2; got 1\."):
        watch(max_iter=1)[0].table(max_rows=1)


def test_a_frame_has_a_row_per_step(watch, five):
    X, y = five
    trace, _ = watch(max_iter=3)
    frame = trace.to_frame()
    first = ["run", "step", "epoch", "objective", "error", "mistakes", "n_updates"]
    assert list(frame.columns) == [*first, "intercept", "coef_0", "coef_1"]
    for step, row in zip(trace, frame.itertuples(), strict=True):
        assert row.error == np.mean(step.estimator.predict(X) != y)
        assert row.objective == step.estimator.objective(X, y)
        assert [row.coef_0, row.coef_1] == step.estimator.coef_[0].tolist()


def test_a_frame_of_visits_has_their_rows_scores_and_mistakes(watch):
    frame = watch("visit", max_iter=1)[0].to_frame()
    assert frame.row.tolist() == [pd.NA, 0, 1, 2, 3, 4]
    assert frame.score.tolist()[1:] == [-1, -1, 14, 17, 12]
    assert frame.mistake.tolist() == [pd.NA, False, True, False, False, True]
    assert frame.n_updates.tolist() == [0, 0, 1, 1, 1, 2]
    assert frame.intercept.tolist() == [-1, -1, 0, 0, 0, -1]


def test_errors_are_weighted_as_the_fit_was(five):
    X, y = five
    weight = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    trace = Trace()
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=2, tol=None).set_callbacks(trace).fit(X, y, sample_weight=weight)
    wrong = trace[0].estimator.predict(X) != y
    assert trace.to_frame().error[0] == weight[wrong].sum() / weight.sum()


def test_named_columns_and_bare_arrays_are_both_measured(five):
    X, y = five
    trace = Trace()
    Perceptron(tol=None).set_callbacks(trace).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert trace.to_frame().error.iloc[-1] == 0


def test_wide_models_give_their_weights_as_arrays():
    X = np.eye(150)
    trace = Trace()
    Perceptron(tol=None).set_callbacks(trace).fit(X, np.arange(150) % 2)
    assert trace.to_frame().coef.iloc[-1].shape == (1, 150)
    assert trace.table().columns == ("pass", "mistakes", "so far", "error", "objective")


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [("pandas", "tables", "to_frame"), ("rich", "cli", "table"), ("matplotlib", "plot", "plot")],
)
def test_a_missing_package_is_named_with_its_extra(watch, monkeypatch, package, extra, call):
    trace, _ = watch(max_iter=1)
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # importing it now raises ImportError
    with pytest.raises(ImportError, match=rf'{package}: pip install "rosenblatt\[{extra}\]"\.$'):
        str(getattr(trace, call)())


def test_polars_frames_are_read_like_arrays(five):
    tables = []
    for X in (five[0], pl.DataFrame(five[0], schema=["a", "b"])):
        trace = Trace("visit")
        Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(X, five[1])
        tables.append((str(trace.table()), trace.to_frame()))
    assert tables[0][0] == tables[1][0]
    plain, named = tables[0][1], tables[1][1]
    assert plain.rename(columns={"coef_0": "a", "coef_1": "b"}).equals(named)


def test_examples_of_many_features_are_not_written_out():
    trace = Trace("visit")
    Perceptron(tol=None).set_callbacks(trace).fit(np.eye(5), [0, 1, 0, 1, 0])
    assert "x" not in trace.table().columns


@pytest.mark.parametrize("form", ["coo", "dok", "dia"])
def test_every_sparse_format_that_fits_can_be_read_out(five, form):
    # COO has no rows to index: the fit went through and its table raised TypeError.
    tables = []
    for X in (five[0], csr_array(five[0]).asformat(form)):
        trace = Trace("visit")
        Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(X, five[1])
        tables.append((str(trace.table()), trace.to_frame()))
    assert tables[0][0] == tables[1][0]
    assert tables[0][1].equals(tables[1][1])


@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
def test_labels_in_a_column_are_read_like_those_in_a_row(five, tmp_path):
    trace = Trace("visit")
    Perceptron(shuffle=False, tol=None).set_callbacks(trace).fit(five[0], five[1][:, None])
    assert trace.to_frame().error.iloc[-1] == 0
    assert trace.table().rows[1][4] == "1"
    plt.close(trace.plot())
    trace.save(tmp_path / "run.html")


def test_one_weight_for_all_is_everybodys(five):
    frames = []
    for weight in (2.0, np.full(5, 2.0)):
        trace = Trace()
        Perceptron(tol=None).set_callbacks(trace).fit(*five, sample_weight=weight)
        frames.append(trace.to_frame())
    assert frames[0].equals(frames[1])


def test_weights_are_named_after_features_and_classes(five, three_classes):
    X, y = three_classes
    trace = Trace()
    Perceptron(tol=None).set_callbacks(trace).fit(
        pd.DataFrame(five[0], columns=["length", "error"]), five[1]
    )
    assert list(trace.to_frame().columns[-3:]) == ["intercept", "length", "coef_error"]
    with pytest.warns(ConvergenceWarning):
        Perceptron(max_iter=2).set_callbacks(trace).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    frame = trace.to_frame(trace.runs[-1])
    assert frame["oak: b"].iloc[-1] == trace[-1].estimator.coef_[2, 1]
    assert frame["elm: intercept"].iloc[-1] == trace[-1].estimator.intercept_[1]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("boundary", ["mistake", "positive", "negative"])
@pytest.mark.parametrize("convert", [np.asarray, np.float32, np.rint, csr_array, pd.DataFrame])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron])
def test_measures_are_bit_for_bit_those_of_the_model(three_classes, boundary, convert, K, learner):
    X, y = three_classes[0][: 40 * K], three_classes[1][: 40 * K]
    X, weight = convert(X), np.linspace(0.5, 2, len(y))
    trace = Trace("update")
    model = learner(max_iter=2, tol=None, boundary=boundary).set_callbacks(trace)
    model.fit(X, y, sample_weight=weight)
    for step, row in zip(trace, trace.to_frame().itertuples(), strict=True):
        assert row.objective == step.estimator.objective(X, y, sample_weight=weight)
        assert row.error == np.average(step.estimator.predict(X) != y, weights=weight)


def test_the_data_are_checked_once_and_not_for_every_step(watch, monkeypatch):
    # Checking them twice a step made a frame of 13,096 steps take half a minute.
    trace, _ = watch("update")
    calls = []
    really = checks.validate_data
    monkeypatch.setattr(checks, "validate_data", lambda *a, **k: calls.append(a) or really(*a, **k))
    monkeypatch.setattr(Perceptron, "_validate_params", lambda self: calls.append(self))
    trace.to_frame()
    assert len(calls) == 1


def test_a_learner_with_a_rule_of_its_own_is_asked_itself(five):
    class Contrary(Perceptron):
        def predict(self, X):
            return -super().predict(X)

    trace = Trace()
    Contrary(tol=None, shuffle=False).set_callbacks(trace).fit(*five)
    assert trace.to_frame().error.iloc[-1] == 1
