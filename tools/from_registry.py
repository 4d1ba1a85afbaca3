"""Write the files that are derived from the registry: type stubs, and two pages.

`python tools/from_registry.py` writes them; `tests/contract/test_registry.py` fails when one is
not what it would write.
"""

from importlib import import_module
from pathlib import Path

import rosenblatt
from rosenblatt import registry
from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.model_catalogue import TAKES, TITLES, called_by_class, tried_settings

ROOT = Path(__file__).resolve().parent.parent


def stubs() -> str:
    """Where type checkers find every public name: `src/rosenblatt/__init__.pyi`."""
    homes = registry.homes()
    lines = ["# Generated from the registry by tools/from_registry.py.", ""]
    lines += [f"from . import {module} as {module}" for module in registry.MODULES]
    for module, names in homes.items():
        ordered = sorted(names, key=lambda name: (not name.isupper(), name))  # as ruff does
        lines += [f"from .{module} import {name} as {name}" for name in ordered]
    names = [name for names in homes.values() for name in names]
    names.sort(key=lambda name: (not name.isupper(), name))  # ruff's order: PCA, AdaBoost...
    lines += ["", "__version__: str", "__all__ = ["]
    lines += [f'    "{name}",' for name in names]
    return "\n".join([*lines, "]", ""])


# Sections of the reference that follow those of the models: the modules of each, and its text.
SECTIONS = {
    "The workbench": (
        ("workbench", "data"),
        "[From a table to an answer](workbench.md) explains.",
    ),
    "Before models": (
        ("preprocessing", "feature_extraction"),
        "[Preprocessing](preprocessing.md) and [text](text.md) explain.",
    ),
    "Choosing among models": (
        ("model_selection",),
        "[Choosing among models](model_selection.md) and [splitting](splitting.md) explain.",
    ),
    "Proofs and reasons": (
        ("certificates", "explanation", "separation"),
        "[Certificates](certificates.md) and [separability](separability.md) explain.",
    ),
    "Records": (("trace",), "[Traces](traces.md) explains."),
    "Estimation": (("estimation",), "[Estimation](estimation.md) explains."),
    "Probability and information": (("information",), "[Information](information.md) explains."),
}
MODELS = """\
`from rosenblatt.linear_model import Perceptron` gives the same class, for scripts that come
from scikit-learn."""


def reference() -> str:
    """Every public name, in sections: `docs/api.md`."""
    listed = {module for modules, _ in SECTIONS.values() for module in modules}
    homes = set(registry.homes()) | set(registry.MODULES)
    models = {row.home for row in registry.ROWS} - listed
    sections = {"Models": (sorted(models), MODELS), **SECTIONS}
    others = {module for module in homes - models - listed if names_of(module)}
    sections["Other modules"] = (sorted(others), "")
    lines = [
        "# Reference",
        "",
        "Every public name. Those with a dot are imported from the module before it; all others",
        "from `rosenblatt` itself, or from their module.",
        "",
    ]
    for title, (modules, text) in sections.items():
        lines += [f"## {title}", ""] + ([text, ""] if text else [])
        for module in modules:
            lines += [f"### {module}", ""] if len(modules) > 1 else []
            lines += ["```{eval-rst}", ".. currentmodule:: rosenblatt", ".. autosummary::"]
            lines += ["   :toctree: api", "", *names_of(module), "```", ""]
    return "\n".join(lines)


def names_of(module: str) -> list[str]:
    """Lines with a module's public names, those last that need the module before them."""
    top = registry.homes().get(module, [])
    home = import_module(f"rosenblatt.{module}")
    known = home.__all__ if module in registry.MODULES else []
    # What has a home elsewhere and is imported here for scikit-learn's users is listed once.
    below = [name for name in known if getattr(rosenblatt, name, None) is not getattr(home, name)]
    below = sorted(f"{module}.{name}" for name in below)
    return [f"   {name}" for name in [*top, *below]]


def choosing_page() -> str:
    """What `rosenblatt models` prints: `docs/choosing.md`."""
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
            kind = before + link(type(family.make()).__name__)
            tried = f"`{tried_settings(family)}`" if family.grid else "nothing to set"
            cells = [family.name, kind, family.when, family.takes, tried]
            lines.append(f"| {' | '.join(cells)} |")
        others = [link(family.name) for family in called_by_class() if family.task == task]
        lines += ["", f"`fit` and `trace` also take these by their class: {', '.join(others)}."]
    lines += ["", "## What models read", ""]
    lines += [f"- {name}: {text}." for name, text in TAKES.items()]
    return "\n".join([*lines, ""])


def link(name: str) -> str:
    """A class, with a link to its page."""
    return f"[`{name}`]({registry.row_of(name).page})"


DERIVED = {
    "src/rosenblatt/__init__.pyi": stubs,
    "docs/choosing.md": choosing_page,
    "docs/api.md": reference,
}


def main() -> None:
    """Write each file."""
    for path, content in DERIVED.items():
        (ROOT / path).write_text(content(), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
