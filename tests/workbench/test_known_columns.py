"""Another table, with columns in another order, beside others, or not as they were."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from rosenblatt.data import Table, TableError, read_batches, read_table
from rosenblatt.workbench.fitting import fit_table
from rosenblatt.workbench.known_columns import rows_for, targets_of, unknown_columns
from rosenblatt.workbench.problem import problem_of
from tests.workbench.models import fitted, mixed_frame


@pytest.fixture(scope="module")
def saved():
    return fitted("GaussianNB", certificate=False)


def table(frame):
    return Table(frame, "new.csv")


def predictions(saved, frame):
    return saved.model.predict_proba(rows_for(saved, table(frame)))


def test_order_does_not_matter_and_others_are_left_alone(saved):
    frame = mixed_frame(seed=3)
    shuffled = frame.select(reversed(frame.columns)).with_columns(pl.lit(1).alias("more"))
    assert np.array_equal(predictions(saved, shuffled), predictions(saved, frame))
    assert unknown_columns(saved, table(shuffled)) == ["more"]


def test_the_target_is_no_stranger(saved):
    frame = mixed_frame().with_columns(pl.lit("high").alias("target"))
    assert unknown_columns(saved, table(frame)) == []


@pytest.mark.parametrize("name", ["GaussianNB", "MixedNB"])
def test_words_of_a_csv_mean_what_the_types_of_a_frame_mean(name, tmp_path):
    saved = fitted(name, certificate=False)
    frame = mixed_frame(seed=5)
    frame.write_csv(tmp_path / "new.csv")
    (batch,) = read_batches(str(tmp_path / "new.csv"), words=True)
    assert set(batch.frame.dtypes) <= {pl.String, pl.Date}
    words = saved.model.predict_proba(rows_for(saved, batch))
    assert np.array_equal(words, predictions(saved, frame))


def test_missing_columns_are_named_with_the_nearest(saved):
    frame = mixed_frame().rename({"visits": "visit"})
    with pytest.raises(TableError) as caught:
        rows_for(saved, table(frame))
    assert str(caught.value) == (
        "new.csv lacks the column 'visits', which the model reads. Did you mean visit?"
    )
    with pytest.raises(TableError, match="lacks the columns 'age', 'visits', 'member', 'since'"):
        rows_for(saved, table(frame.select("town")))


@pytest.mark.parametrize(
    ("name", "value", "holds"),
    [
        ("age", "old", "numbers"),
        ("visits", "many", "numbers"),
        ("member", "perhaps", "yes or no"),
        ("since", "yesterday", "dates"),
    ],
)
def test_a_value_of_another_kind_is_named_with_its_row(saved, name, value, holds):
    words = mixed_frame().with_columns(pl.col(name).cast(pl.String))
    words[11, name] = value
    words[30, name] = value
    message = rf"{name!r} of new.csv must hold {holds}, but holds {value!r} in row 511 .rows count"
    with pytest.raises(TableError, match=message):
        rows_for(saved, table(words), start=500)


def test_infinity_is_no_number_to_predict_from(saved):
    frame = mixed_frame()
    frame[4, "age"] = float("inf")
    with pytest.raises(
        TableError, match=r"'age' of .* must hold finite numbers .* but holds inf in row 4"
    ):
        rows_for(saved, table(frame))


def test_gaps_and_categories_never_seen_are_no_mistakes(saved):
    frame = mixed_frame().with_columns(pl.lit("Perth").alias("town"), pl.lit(None).alias("since"))
    assert np.isfinite(predictions(saved, frame)).all()


def test_whole_numbers_that_became_others_are_still_numbers(saved):
    frame = mixed_frame().with_columns(pl.col("visits").cast(pl.Float64) + 0.5)
    assert np.isfinite(predictions(saved, frame)).all()


def test_a_moment_is_a_date_where_dates_were_learned_from(saved):
    frame = mixed_frame()
    moments = frame.with_columns(pl.col("since").cast(pl.Datetime("us")))
    assert np.array_equal(predictions(saved, moments), predictions(saved, frame))


def test_truth_values_and_their_words_agree():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"ok": rng.random(60) < 0.5, "x": rng.normal(size=60)})
    y = pl.Series("y", np.where(frame["ok"].to_numpy(), "a", "b"))
    saved = fit_table(table(frame.with_columns(y)), "y", "MixedNB", certificate=False)
    words = frame.with_columns(
        pl.when("ok").then(pl.lit("True")).otherwise(pl.lit("no")).alias("ok")
    )
    assert np.array_equal(predictions(saved, words), predictions(saved, frame))


def test_a_matrix_may_be_narrower_and_what_is_past_it_is_ignored():
    X = sp.random(80, 6, 0.5, "csr", random_state=0)
    y = pl.DataFrame({"target": np.arange(80) % 2})
    saved = fit_table(Table(y, "rows", X), "target", "MultinomialNB", certificate=False)
    narrow, wide = Table(y, "rows", X[:, :4].tocsr()), Table(y, "rows", sp.hstack([X, X]).tocsr())
    assert rows_for(saved, narrow).shape == (80, 6)
    assert np.array_equal(rows_for(saved, wide).toarray(), X.toarray())
    assert unknown_columns(saved, wide) == ["6 columns past the 6 it knows"]
    with pytest.raises(TableError, match="has columns with names"):
        rows_for(saved, table(mixed_frame()))
    with pytest.raises(TableError, match="has no names of columns"):
        rows_for(fitted("GaussianNB", certificate=False), narrow)


def test_targets_are_labels_as_the_model_knows_them(saved):
    frame = mixed_frame().with_columns(pl.lit("high").alias("target"))
    frame[3, "target"] = None
    rows, y = targets_of(saved, table(frame))
    assert len(rows) == len(y) == frame.height - 1
    assert set(y) == {"high"}
    with pytest.raises(TableError, match=r"No row of new.csv has a value of 'target'"):
        targets_of(saved, table(mixed_frame().with_columns(pl.lit(None).alias("target"))))


@pytest.mark.parametrize(("end", "noted"), [(" kg", True), ("-", True), ("", False)])
def test_numbers_with_units_are_left_out_with_a_note(end, noted):
    words, x = [f"{i / 7:.3f}{end}" for i in range(60)], [i % 7 for i in range(60)]
    frame = pl.DataFrame({"w": words, "x": x, "y": ["a", "b"] * 30})
    problem = problem_of(read_table(frame), "y")
    hints = [hint for hint in problem.hints if "'w' is left out" in hint]
    assert bool(hints) == noted
    assert ("w" in problem.used) != noted
