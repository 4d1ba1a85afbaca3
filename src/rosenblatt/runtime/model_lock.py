"""One thread at a time for a model that several read and change.

A change is made to a copy of the model, and the copy's attributes then take the place of the
model's, all in one step: who reads meanwhile sees the model as it was or as it is, and nothing in
between; a change that fails is none. Those who change the same model take turns.
"""

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Model = TypeVar("Model")

_lock = threading.Lock()
_turns: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()  # beside the models, which are pickled


def turn_of(model: Any) -> Any:
    """The lock of a model; a thread that has it may take it again."""
    turn = _turns.get(model)
    if turn is None:
        with _lock:
            turn = _turns.setdefault(model, threading.RLock())
    return turn


def copy_of(model: Model, attributes: dict[str, Any]) -> Model:
    """A model of the same kind with these attributes."""
    copy = object.__new__(type(model))
    copy.__dict__ = dict(attributes)
    return copy


def in_turn(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method that changes a model, and returns it, change it all at once or not at all."""

    @functools.wraps(method)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        with turn_of(self):
            changed = copy_of(self, vars(self))
            method(changed, *args, **kwargs)
            self.__dict__ = vars(changed)
        return self

    return whole


def _forget_turns() -> None:
    """In a forked child the threads whose turn it was do not exist."""
    global _lock, _turns
    _lock, _turns = threading.Lock(), WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_turns)
