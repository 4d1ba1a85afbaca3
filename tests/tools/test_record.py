"""Recordings of all estimators: equal for the same code, different for another."""

import numpy as np
import pytest

from tools import record

SIZES = {"two": (120, 5, 2)}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Return a function that records two estimators to a file."""
    for name in ("LARGER", "LARGE"):
        monkeypatch.setattr(record, name, {})
    monkeypatch.setattr(record, "SMALL", SIZES)

    def save(name):
        record.main(["save", str(tmp_path / name), "GaussianNB", "FisherDiscriminant"])
        return str(tmp_path / name)

    return save


def test_the_same_code_has_equal_bits_and_other_code_differs(recorded, monkeypatch, capsys):
    old, new = recorded("old.npz"), recorded("new.npz")
    assert record.main(["compare", old, new, "--all"]) == 0
    assert "GaussianNB() two csr float32 weights: equal bits" in capsys.readouterr().out

    fitted = record.fitted

    def tampered(*arguments):
        model, X = fitted(*arguments)
        if hasattr(model, "intercept_"):
            model.intercept_ *= 1 + 1e-5
        return model, X

    monkeypatch.setattr(record, "fitted", tampered)
    changed = recorded("changed.npz")
    assert record.main(["compare", old, changed]) == 1
    assert "FisherDiscriminant intercept_: 1e-05" in capsys.readouterr().out
    assert record.main(["compare", old, changed, "--within", "1e-4"]) == 0


def test_errors_and_crashes_are_recorded(recorded, monkeypatch, capsys):
    old = record.Recording(recorded("old.npz")).cases
    assert old["GaussianNB() gaps dense float64"]["fit()"][:2] == ["error", "ValueError"]

    def crash(*arguments):
        if arguments[-1] == ("csr", "float64"):
            record.os._exit(3)
        return np.zeros(1), None

    monkeypatch.setattr(record, "fitted", crash)
    new = record.Recording(recorded("new.npz")).cases
    assert new["GaussianNB() two csr float64"] == {"fit()": ["error", "Crash", "exit code 3"]}
    assert list(new) == list(old)
