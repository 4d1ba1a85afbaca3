"""A run as one self-contained page: the data as JSON, and the view that replays it."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from rosenblatt.drafts import drafted
from rosenblatt.trace.payload import MOST_STEPS, payload_of
from rosenblatt.trace.run import Run

PARTS = (
    "drawing", "geometry", "contours", "marks", "picture", "fit", "charts", "controls", "view",
)  # fmt: skip
MOST_BYTES = 4_800_000  # of data; the page as a whole stays below 5 MB


def save_page(
    path: str | os.PathLike[str], run: Run, unit: str, feature_names: Sequence[str] | None = None
) -> None:
    """Write the page whole or not at all."""
    # What a link points to, so that the link stays one; a shell leaves "~" alone within quotes.
    target = Path(os.path.realpath(os.path.expanduser(path)))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to save the page in.")
    page = page_of(run, unit, feature_names).encode()
    with drafted(target) as draft:
        draft.write_bytes(page)


def page_of(run: Run, unit: str, feature_names: Sequence[str] | None) -> str:
    """The page's HTML."""
    parts = {
        "title": html.escape(f"{run.name}, {unit} by {unit}"),
        "style": _source("view.css"),
        "view": view_source().replace("export default", "const view ="),
        "data": _data(run, unit, feature_names),
    }
    page = _source("page.html")
    for name in ("title", "style", "view", "data"):  # the data last: it may contain anything
        page = page.replace(f"%{name}%", parts[name])
    return page


def view_source() -> str:
    """The view as one ES module with ``export default { render }``: its parts, joined."""
    module = "\n".join(_source(f"{part}.js") for part in PARTS)
    module = re.sub(r"^import .*;\n", "", module, flags=re.M)
    return re.sub(r"^export (?=const|function)", "", module, flags=re.M)


def _data(run: Run, unit: str, feature_names: Sequence[str] | None) -> str:
    """The run as JSON, of as many steps as the page may weigh."""
    most = MOST_STEPS
    while True:
        payload = payload_of(run, unit, feature_names, most)
        data = json.dumps(payload, allow_nan=False, separators=(",", ":"))
        if len(data) <= MOST_BYTES or most == 2:
            # "<" as an escape: no label can close the script element it travels in.
            return data.replace("<", "\\u003c")
        most = max(2, int(0.95 * most * MOST_BYTES / len(data)))


def _source(name: str) -> str:
    return resources.files("rosenblatt.trace").joinpath("view", name).read_text(encoding="utf-8")
