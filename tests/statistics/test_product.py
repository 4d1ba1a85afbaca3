"""Statistics of different columns as one: the algebra holds part by part."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rosenblatt.statistics import CategoryCounts, Moments, ProductStatistic, load, save


def of(rows, names=None):
    rng = np.random.default_rng(0)
    X, words = rng.standard_normal((30, 2)), rng.choice(["a", "b", "c"], (30, 1))
    y = np.array([0, 1, 2] * 10)
    parts = {
        "numbers": Moments.of(X[rows], y[rows]),
        "words": CategoryCounts.of(words[rows], y[rows]),
    }
    return ProductStatistic.of(parts, {"numbers": [0, 2], "words": [1]}, names)


ROWS = st.integers(1, 28)


@given(cut=ROWS)
def test_parts_add_up_and_come_apart(cut):
    whole, a, b = of(slice(None)), of(slice(cut)), of(slice(cut, None))
    both = a + b
    assert both.parts == {name: a.parts[name] + b.parts[name] for name in a.parts}
    assert both.parts["words"] == whole.parts["words"]
    np.testing.assert_allclose(both.parts["numbers"].scatter, whole.parts["numbers"].scatter)
    assert len(both) == 30
    assert both.rows.tolist() == [10, 10, 10]
    left = whole - b
    assert left.parts["words"] == a.parts["words"]
    np.testing.assert_allclose(left.parts["numbers"].mean, a.parts["numbers"].mean)
    assert sum([a, b]) == both


def test_it_survives_a_file(tmp_path):
    statistic = of(slice(None), ("x", "w", "z"))
    save(statistic, tmp_path / "together.npz")
    again = load(tmp_path / "together.npz")
    assert again == statistic
    assert again.feature_names == ("x", "w", "z")
    assert again.n_features == 3
    assert again.columns == {"numbers": (0, 2), "words": (1,)}
    assert statistic.to_dict()["rows"] == [10, 10, 10]


def test_what_does_not_fit_is_refused():
    a = of(slice(None))
    other = ProductStatistic.of(a.parts, {"numbers": [0, 1], "words": [2]})
    with pytest.raises(ValueError, match="different columns"):
        a + other
    with pytest.raises(ValueError, match="must be of the same rows; 'words' has other rows"):
        ProductStatistic.of(
            {"numbers": a.parts["numbers"], "words": of(slice(9)).parts["words"]}, a.columns
        )
    with pytest.raises(ValueError, match="'words' has 1 features; got 2 columns"):
        ProductStatistic.of(a.parts, {"numbers": [0, 1], "words": [2, 3]})
    with pytest.raises(ValueError, match="at least one"):
        ProductStatistic.of({}, {})
    with pytest.raises(TypeError, match="Cannot subtract Moments and ProductStatistic"):
        a - a.parts["numbers"]
    with pytest.raises(ValueError, match="Cannot remove"):
        of(slice(5)) - a


def test_parts_must_be_of_the_same_classes_and_stand_side_by_side():
    a, b = Moments.of([[1.0], [2.0]], [0, 1]), Moments.of([[1.0], [2.0]], [0, 2])
    with pytest.raises(ValueError, match=r"same rows; 'b' has other classes"):
        ProductStatistic.of({"a": a, "b": b}, {"a": [0], "b": [1]})
    with pytest.raises(ValueError, match=r"places from 0 to 0, each once; got \[7\]"):
        ProductStatistic.of({"a": a}, {"a": [7]})
    with pytest.raises(ValueError, match=r"places from 0 to 1, each once; got \[0, 0\]"):
        ProductStatistic.of({"a": a, "b": a}, {"a": [0], "b": [0]})
