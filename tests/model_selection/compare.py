"""Ours beside scikit-learn's: the same keys, kinds and numbers."""

import numpy as np
from sklearn.pipeline import Pipeline

TIMES = ("fit_time", "score_time", "mean_fit_time", "std_fit_time", "mean_score_time",
         "std_score_time")  # fmt: skip


def assert_same(ours, theirs):
    """Raise unless two results say the same, times apart."""
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        if key in TIMES:
            assert ours[key].shape == value.shape
            assert ours[key].dtype == value.dtype
            assert (ours[key] >= 0).all()
        elif key == "estimator":
            for a, b in zip(ours[key], value, strict=True):
                assert_same_fit(a, b)
        elif key == "indices":
            for part in ("train", "test"):
                for a, b in zip(ours[key][part], value[part], strict=True):
                    np.testing.assert_array_equal(a, b)
        elif key == "params":
            assert ours[key] == value
        elif isinstance(value, np.ma.MaskedArray):
            assert ours[key].dtype == value.dtype
            np.testing.assert_array_equal(ours[key].mask, value.mask)
            assert ours[key].tolist() == value.tolist()
        else:
            assert ours[key].dtype == value.dtype
            np.testing.assert_allclose(ours[key], value, rtol=1e-9, atol=1e-12, err_msg=key)


def assert_same_fit(ours, theirs):
    """Raise unless two estimators have learned the same, in the same attributes."""
    assert type(ours) is type(theirs)
    if isinstance(ours, Pipeline):
        for a, b in zip(ours, theirs, strict=True):
            assert_same_fit(a, b)
        return
    if isinstance(ours, str):
        assert ours == theirs == "passthrough"
        return
    assert ours.get_params() == theirs.get_params()
    mine, others = vars(ours), vars(theirs)
    public = {name for name in others if name.endswith("_")}
    assert {name for name in mine if name.endswith("_")} == public
    for name in public - {"statistics_"}:
        assert_same_value(mine[name], others[name], name)
    if "statistics_" in public:
        np.testing.assert_array_equal(ours.statistics_.rows, theirs.statistics_.rows)


def assert_same_value(a, b, name):
    """Raise unless two values of an attribute are the same: numbers to 1e-9, others exactly."""
    if isinstance(b, list):  # one table for each feature
        assert len(a) == len(b), name
        for mine, other in zip(a, b, strict=True):
            assert_same_value(mine, other, name)
        return
    if b is None:
        assert a is None, name
        return
    # Words are as long as the longest among them.
    kinds = (np.asarray(v).dtype for v in (a, b))
    assert len({"U" if kind.kind == "U" else kind for kind in kinds}) == 1, name
    if np.asarray(b).dtype.kind == "f":
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)
    else:
        np.testing.assert_array_equal(a, b, err_msg=name)
