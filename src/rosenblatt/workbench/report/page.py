"""Render pages from the templates in `templates/`: self-contained, without network or fonts."""

import math
import os
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from rosenblatt.data.files import whole_file

from . import format as formats
from . import svg


def render(template: str, **values: Any) -> str:
    """Return a page as HTML; all values are escaped unless they are markup."""
    page = _environment().get_template(template)
    return page.render(style=_source("style.css"), script=_source("page.js"), **values)


def write(text: str, path: str | os.PathLike[str]) -> None:
    """Write a page atomically."""
    with whole_file(path) as draft:
        draft.write_bytes(text.encode("utf-8", "replace"))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rosenblatt.workbench.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=svg.printable,
        lstrip_blocks=True,
    )
    environment.filters.update(
        article=_with_article,
        clip=formats.clipped,
        count=formats.count,
        difference=formats.difference,
        enumerate_words=_enumerated,
        error_name=lambda name: formats.metric(name.removeprefix("neg_")),
        key=_sort_key,
        metric=formats.metric,
        named=formats.named,
        p_value=formats.p_value,
        plain=formats.plain,
        plural=lambda n, *names: formats.plural(n, *names),
        score=formats.score,
        seconds=formats.seconds,
        share=formats.share,
        short=formats.short,
        size=formats.size,
        title=formats.title,
        unsigned=lambda text: text.lstrip(formats.MINUS),
        value=formats.value_of,
        weight=formats.weight,
    )
    environment.globals.update(bar=svg.bar, dash=svg.dash, line_key=svg.line_key)
    return environment


def _with_article(name: str) -> str:
    vowel = name[0].lower() in "aeiou" or name.startswith("f1")
    return f"{'an' if vowel else 'a'} {name}"


def _enumerated(names: Sequence[str]) -> str:
    """Return "a, b and c"."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _sort_key(value: float) -> Markup:
    """Return the attribute by which a cell is sorted; cells without a number have none."""
    return Markup(f' data-key="{value}"') if math.isfinite(value) else Markup("")


def _source(name: str) -> Markup:
    folder = resources.files("rosenblatt.workbench.report").joinpath("templates")
    return Markup(folder.joinpath(name).read_text(encoding="utf-8"))
