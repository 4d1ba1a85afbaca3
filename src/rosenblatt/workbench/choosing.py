"""What models there are, their parameters, and when to use which: for a terminal and a page."""

import textwrap
from typing import Any

from .families import CLASSIFICATION, FAMILIES, REGRESSION, Family
from .naming import class_of, named_families, parameters_of

TITLES = {CLASSIFICATION: "Classes to be told apart", REGRESSION: "Numbers to be predicted"}
TAKES = {
    "numbers": "numbers, centred and scaled; categories as columns of zeros and ones",
    "counts": "counts as they are; categories as columns of zeros and ones; words of texts",
    "table": "numbers, categories and gaps as they are",
}
WIDTH = 96


def models_text() -> str:
    """A list of all models for a terminal."""
    lines = []
    for task, title in TITLES.items():
        lines += ["", f"{title} ({task})", ""]
        for family in (family for family in FAMILIES if family.task == task):
            lines += _entry(family)
        others = [family.name for family in _others() if family.task == task]
        lines += textwrap.wrap(f"By class alone: {', '.join(others)}.", WIDTH, initial_indent="  ")
    return "\n".join([*lines[1:], "", "`rosenblatt models NAME` says more of one."])


def model_text(family: Family) -> str:
    """All parameters of one model, with their defaults, for a terminal."""
    kind = class_of(family)
    head = family.name if kind in ("", family.name) else f"{family.name} ({kind})"
    lines = [f"{head}: {family.task}", f"  when: {family.when}", f"  reads: {TAKES[family.takes]}"]
    if family.grid:
        lines.append(f"  compare tries: {_tried(family)}")
    lines.append("  parameters, with their defaults:")
    lines += [f"    {name}={value!r}" for name, value in sorted(parameters_of(family).items())]
    return "\n".join(lines)


def choosing_page() -> str:
    """The same as a page of the documentation."""
    lines = [
        "# Which model when",
        "",
        "Every family that `rosenblatt compare` tries, and that `rosenblatt fit` takes by its name",
        "or its class. `rosenblatt models` prints the same; `rosenblatt models NAME` adds all",
        "parameters of one with their defaults. If in doubt, let `compare` decide: it tries them",
        "all, and says which are no worse than the best.",
    ]
    for task, title in TITLES.items():
        lines += ["", f"## {title}", "", "| family | class | when | reads | tried by `compare` |"]
        lines.append("|---|---|---|---|---|")
        for family in (family for family in FAMILIES if family.task == task):
            before = "" if family.before is None else f"`{type(family.before()).__name__}`, "
            kind = f"{before}`{type(family.make()).__name__}`"
            tried = f"`{_tried(family)}`" if family.grid else "nothing to set"
            cells = [family.name, kind, family.when, family.takes, tried]
            lines.append(f"| {' | '.join(cells)} |")
        others = ", ".join(f"`{family.name}`" for family in _others() if family.task == task)
        lines += ["", f"`fit` and `trace` also take these by their class: {others}."]
    lines += ["", "## What models read", ""]
    lines += [f"- {name}: {text}." for name, text in TAKES.items()]
    return "\n".join([*lines, ""])


def _entry(family: Family) -> list[str]:
    kind = class_of(family)
    head = f"  {family.name}" + (f" ({kind})" if kind else "")
    tried = [f"      {_tried(family)}"] if family.grid else []
    return [head, f"      {family.when}", *tried]


def _others() -> list[Family]:
    return [family for family in named_families() if family not in FAMILIES]


def _tried(family: Family) -> str:
    return "; ".join(f"{name} = {_values(values)}" for name, values in family.grid.items())


def _values(values: list[Any]) -> str:
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)


if __name__ == "__main__":  # python -m rosenblatt.workbench.choosing > docs/choosing.md
    print(choosing_page(), end="")
