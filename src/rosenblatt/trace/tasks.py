"""Where a callback's task stands in scikit-learn's tree of tasks, and what to call it."""

from __future__ import annotations

import copy
from typing import Any


def path_of(context: Any) -> list[Any]:
    """The contexts from the outermost fit down to this one."""
    path = [context]
    while path[-1].parent is not None:
        path.append(path[-1].parent)
    return path[::-1]


def is_whole_fit(context: Any) -> bool:
    """Whether the task is an estimator's fit, alone or on behalf of a meta-estimator."""
    return context.parent is None or context.source_estimator_name is not None


def label_of(context: Any, fit: int) -> str:
    """A readable path such as ``GridSearchCV > search > candidate-split-evaluation 3 > SVC``."""
    root, *rest = path_of(context)
    words = [root.estimator_name if fit == 1 else f"{root.estimator_name} ({fit})"]
    for task in rest:
        numbered = task.task_id > 0 and not is_whole_fit(task)
        number = f" {task.task_id}" if numbered or not task.parent.sequential_subtasks else ""
        words.append((task.source_task_name or task.task_name) + number)
        if is_whole_fit(task):
            words.append(task.estimator_name)
    return " > ".join(words)


def detached(estimator: Any, **attributes: Any) -> Any:
    """A shallow copy with these attributes set, and without the callbacks of the running fit."""
    model = copy.copy(estimator)
    for name in _RUNNING:
        model.__dict__.pop(name, None)
    for name, value in attributes.items():
        setattr(model, name, value)
    return model


# What scikit-learn hangs on an estimator while it is fitted with callbacks.
_RUNNING = (
    "_skl_callbacks",
    "_skl_callbacks_to_teardown",
    "_callback_fit_ctx",
    "_parent_callback_ctx",
)
