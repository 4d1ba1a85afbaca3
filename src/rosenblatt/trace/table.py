"""A small table that prints as Markdown, and richly where rich or HTML is understood."""

from __future__ import annotations

import html
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import rich.table


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
