"""What the examples of pages and docstrings share."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _close_figures():
    """A page's figures are closed at its end: pyplot keeps them, and warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
