"""The five points of the lecture notes, and fits of them that are watched."""

import warnings

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from rosenblatt import Perceptron, Trace
from tests.browser import Browser

matplotlib.use("agg")

FIVE = np.array([[1.0, 1.0], [3.0, 2.0], [2.0, 4.0], [3.0, 4.0], [2.0, 3.0]])
SIGNS = np.array([-1, 1, 1, 1, -1])


@pytest.fixture
def five():
    """The points and their labels."""
    return FIVE, SIGNS


@pytest.fixture
def watch():
    """Fit a perceptron on the five points from w = [-1, 0, 0], in data order, under a trace."""

    def fit(every="pass", **parameters):
        trace = Trace(every)
        model = Perceptron(**{"shuffle": False, "tol": None} | parameters).set_callbacks(trace)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(FIVE, SIGNS, coef_init=[[0, 0]], intercept_init=[-1])
        return trace, model

    return fit


@pytest.fixture
def three_classes():
    """Forty points in each of three classes with names, which no lines part."""
    rng = np.random.default_rng(0)
    y = np.repeat(["ash", "elm", "oak"], 40)
    X = rng.normal(size=(120, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 40, axis=0)
    return X, y


@pytest.fixture(scope="module")
def browser():
    with Browser() as browser:
        yield browser


@pytest.fixture
def show(browser, tmp_path):
    """Save a trace, open it at a fragment, and afterwards hear no complaint and see no request."""
    opened = []

    def open_page(trace, fragment=""):
        path = tmp_path / f"run{len(opened)}.html"
        trace.save(path)
        opened.append(path.as_uri())
        browser.requests.clear()
        browser.complaints.clear()
        browser.open(path.as_uri() + fragment)
        # Charts are drawn once they know their width, which on a busy machine is a while after.
        browser.wait("[...document.querySelectorAll('.chart')].every((c) => c.childElementCount)")
        return browser

    yield open_page
    browser.run("new Promise((done) => setTimeout(done, 350))")  # the address is written late
    assert browser.complaints == []
    assert set(browser.requests) <= set(opened)
