"""What all tests share."""

import os
import warnings
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

# A first call may compile, so there is no deadline. The test run draws the same examples each time;
# `make fuzz` draws new ones, and thirty times as many.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", max_examples=10, derandomize=True, **COMMON)
settings.register_profile("explore", max_examples=300, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_configure(config):
    config.addinivalue_line("markers", "needs_compiler: makes no sense with NUMBA_DISABLE_JIT=1")


@pytest.fixture
def data_folder():
    """The folder of real data sets beside the project; tests that read it skip without it."""
    if not DATA.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail("The folder of real data sets is not beside the project.")
        pytest.skip("The folder of real data sets is not beside the project.")
    return DATA


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path_factory, monkeypatch):
    """Openings of test sets are recorded in a folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / uuid4().hex))


@pytest.fixture
def few_draws(monkeypatch):
    """For comparisons whose intervals are not what is tested: fewer draws of the test rows."""
    from rosenblatt.workbench import significance

    monkeypatch.setattr(significance, "DRAWS", 20)
    monkeypatch.setattr(significance, "FEWER_DRAWS", 20)


@pytest.fixture
def unconverged():
    """For fits that are stopped early, have dependent columns or take defaults, on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The best (alpha|penalty)", UserWarning)
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.filterwarnings("ignore", "The default value", FutureWarning)
        yield
