"""What was learned of a table's columns, as a model file holds it: columns of numbers as arrays.

An object for each column would be a dozen nodes of the file's tree, and take most of the time that
it takes to write and to read a file of thousands of columns.
"""

import json
from typing import Any

import numpy as np

from .column_parts import Numbers, Part

ARRAYS = ("place", "mean", "scale", "marks")  # place: which of all columns


def packed(state: dict[str, Any]) -> dict[str, Any]:
    """The attributes of `TableFeatures`, few objects whatever the number of columns."""
    state = {**state, "kinds": json.dumps(state["kinds"])}
    if "parts_" not in state:
        return state
    parts: list[Part] = state["parts_"]
    numbers = [(j, part) for j, part in enumerate(parts) if type(part) is Numbers]
    state["parts_"] = [part for part in parts if type(part) is not Numbers]
    state["numbers_"] = {
        "place": np.array([j for j, _ in numbers], np.int64),
        "mean": np.array([part.mean for _, part in numbers], np.float64),
        "scale": np.array([part.scale for _, part in numbers], np.float64),
        "marks": np.array([part.marks for _, part in numbers], bool),
    }
    return state


def unpacked(state: dict[str, Any]) -> dict[str, Any]:
    """The same attributes again; those of a file of the first format are as they should be.

    >>> age = Numbers("age")
    >>> age.mean, age.scale, age.marks = 40.0, 10.0, False
    >>> state = {"kinds": {"age": "numeric"}, "parts_": [age]}
    >>> [again] = unpacked(packed(state))["parts_"]
    >>> again.name, again.mean, again.scale, again.marks
    ('age', 40.0, 10.0, False)
    """
    state = dict(state)
    if isinstance(state["kinds"], str):
        state["kinds"] = json.loads(state["kinds"])
    arrays = state.pop("numbers_", None)
    if arrays is None:
        return state
    names, others = list(state["kinds"]), iter(state["parts_"])
    columns = (arrays[name].tolist() for name in ARRAYS)
    numbers = {j: _numbers(names[j], *rest) for j, *rest in zip(*columns, strict=True)}
    state["parts_"] = [
        numbers[j] if j in numbers else next(others, None) for j in range(len(names))
    ]
    if None in state["parts_"] or next(others, None) is not None:
        raise ValueError("there is not one part for each column")
    return state


def _numbers(name: str, mean: float, scale: float, marks: bool) -> Numbers:
    part = Numbers(name)
    part.mean, part.scale, part.marks = mean, scale, marks
    return part
