"""Numbers and vectors as one writes them by hand."""

from __future__ import annotations

import html
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rosenblatt.capabilities import trace_view

if TYPE_CHECKING:
    import rich.table

MOST_NUMBERS = 7  # a bias and six features still fit on a line
ROUNDINGS = 256  # what is smaller than so many roundings of the largest number is printed as 0


def number(value: float | None) -> str:
    """0, 3.5, -1: integers whole, others to four digits; nothing for what is missing."""
    if value is None or np.isnan(value):
        return ""
    if float(value).is_integer() and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.4g}"


def vector(values: ArrayLike) -> str:
    """[-1,0,3.5]; a long vector keeps its first four numbers and its last."""
    words = [number(value) for value in np.ravel(values)]
    if len(words) > MOST_NUMBERS:
        words = [*words[:4], "...", words[-1]]
    return f"[{','.join(words)}]"


def rounding(estimator: Any) -> float:
    """The part of a model's largest number below which others are what its sums left over.

    0.1 added three times and taken away again leaves 2.8e-17; by hand it leaves 0.
    """
    view = trace_view(estimator)
    weights = view.get("weights", view.get("support_weights"))
    kind = getattr(weights, "dtype", np.dtype(np.float64))
    return ROUNDINGS * float(np.finfo(kind if kind.kind == "f" else np.float64).eps)


def tidied(values: ArrayLike, part: float, beside: ArrayLike = 0.0) -> NDArray[np.float64]:
    """Numbers, with 0 for those below a part of the largest of them, or of numbers beside them."""
    numbers = np.asarray(values, dtype=np.float64)
    sizes = np.abs(np.concatenate([numbers.ravel(), np.ravel(beside)]))
    largest = sizes[np.isfinite(sizes)].max(initial=0.0)
    return np.where(np.abs(numbers) < part * largest, 0.0, numbers)


def score(value: Any) -> str:
    """A score, or one per class."""
    return number(float(value)) if np.ndim(value) == 0 else vector(value)


def planes(estimator: Any) -> NDArray[np.float64] | None:
    """The weights of a linear model, bias first, one row per plane; None for other models."""
    view = trace_view(estimator)
    if "weights" not in view:
        return None
    coef = np.asarray(view["weights"], dtype=np.float64)
    if not has_bias(estimator):
        return coef
    bias = np.broadcast_to(np.asarray(view["intercept"], dtype=np.float64), len(coef))
    return np.column_stack([bias, coef])


def has_bias(estimator: Any) -> bool:
    """Whether the model learns an intercept."""
    return bool(getattr(estimator, "fit_intercept", hasattr(estimator, "intercept_")))


# A small table that prints as Markdown, and richly where rich or HTML is understood.


@dataclass(frozen=True)
class Table:
    """Named columns and rows of text, with a caption below."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __rich__(self) -> rich.table.Table:
        from rich import box
        from rich.text import Text

        table = self._built(box.SIMPLE_HEAD)
        table.caption, table.caption_justify = Text(self.caption), "left"
        return table

    def __str__(self) -> str:
        """The table in Markdown, to print or to paste."""
        try:
            from rich import box
            from rich.console import Console
        except ImportError as error:
            raise ImportError(
                'A trace\'s table is drawn by rich: pip install "rosenblatt[cli]".'
            ) from error
        cells = zip(self.columns, *self.rows, strict=True)
        width = 20 + sum(max(map(len, column)) + 3 for column in cells)
        console = Console(file=StringIO(), width=width, color_system=None)
        console.print(self._built(box.MARKDOWN))
        lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
        return "\n".join([line.strip() for line in lines if line.strip()] + [self.caption])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        body = "\n".join(f"<tr>{_cells(row)}</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"

    def _built(self, lines: rich.box.Box) -> rich.table.Table:
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=lines)
        for name in self.columns:
            table.add_column(Text(name), no_wrap=True)
        for row in self.rows:
            table.add_row(*map(Text, row))  # as text: "[w]" is no markup here
        return table


def _cells(row: tuple[str, ...]) -> str:
    return "".join(f"<td>{html.escape(cell).replace(chr(10), '<br>')}</td>" for cell in row)
