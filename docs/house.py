"""Draw `docs/_static/house.svg`: the layers of `pyproject.toml`. ``python docs/house.py``."""

import re
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
WIDTH, LEFT, GAP, HEIGHT = 880, 20, 6, 36
MOST_IN_A_ROW = 5
# The title of each band, its colour, and the module whose layer is the first of the band.
BANDS = [
    ("the jobs people have", "#dbe9f6", "cli"),
    ("what reads models", "#e6e0f3", "trace"),
    ("the models", "#dff0dc", "ensemble"),
    ("tables", "#dbe9f6", "data"),
    ("what models share", "#fbe9d0", "prediction"),
    ("the work", "#f7dcdc", "statistics"),
    ("open to all", "#ececec", "separation"),
]
NOTES = {"base": "base  (labels, weights, linear scores)", "loops": "loops  (Numba)"}
APART = ("certificates", ["re-derive what a fit", "achieved, from data", "and attributes alone"])


def layers():
    """The modules of each layer, the highest first; those in parentheses do not exist yet."""
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    for layer in contract["layers"]:
        names = [name.strip() for name in re.split("[|:]", layer)]
        names = [name for name in names if name[0] not in "(_" and name != APART[0]]
        if names:
            yield names


def bands():
    """Title, colour and rows of modules of each band; a long layer takes several rows."""
    found, left = [], list(BANDS)
    for names in layers():
        if left and left[0][2] in names:
            title, fill, _ = left.pop(0)
            found.append((title, fill, []))
        n_rows = -(-len(names) // MOST_IN_A_ROW)
        size = -(-len(names) // n_rows)
        found[-1][2].extend(names[i : i + size] for i in range(0, len(names), size))
    return found


def text(x, y, words, size=14, weight="normal", anchor="middle"):
    return (
        f'<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" '
        f'text-anchor="{anchor}" fill="#222">{words}</text>'
    )


def box(x, y, width, height, fill):
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}" rx="5" fill="{fill}" '
        'stroke="#555" stroke-width="1"/>'
    )


def drawn():
    """The picture: one band per group of layers, what may be imported always further down."""
    inner, y, parts, middle = 640, 40, [], {}
    for title, fill, rows in bands():
        parts.append(text(LEFT, y - 8, title, 13, "bold", "start"))
        for names in rows:
            width = (inner - GAP * (len(names) - 1)) / len(names)
            for i, name in enumerate(names):
                x = LEFT + i * (width + GAP)
                size = 14 if 9 * len(name) < width or len(names) < 5 else 11
                parts += [
                    box(x, y, width, HEIGHT - GAP, fill),
                    text(x + width / 2, y + 20, NOTES.get(name, name), size),
                ]
                middle[name] = y + (HEIGHT - GAP) / 2
            y += HEIGHT
        y += 26
    bottom = y - 26
    x, width = LEFT + inner + 30, WIDTH - inner - 2 * LEFT - 30
    top = middle["trace"] - (HEIGHT - GAP) / 2
    parts += [
        box(x, top, width, 124, "#fff6c9"),
        text(x + width / 2, top + 28, APART[0], 15, "bold"),
    ]
    parts += [text(x + width / 2, top + 58 + 22 * i, line, 12) for i, line in enumerate(APART[1])]
    target = middle["registry"]
    parts.append(
        f'<path d="M {x + width / 2} {top + 124} V {target} H {LEFT + inner + 6}" fill="none" '
        'stroke="#555" stroke-width="1.5" marker-end="url(#arrow)"/>'
    )
    for i, line in enumerate(["imports separation,", "the registry and runtime"]):
        parts.append(text(x + width / 2, target + 24 + 18 * i, line, 12))
    return bottom + 10, parts


def main():
    height, parts = drawn()
    arrow = (
        '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        'markerHeight="8" orient="auto"><path d="M 0 0 L 10 5 L 0 10 z" fill="#555"/>'
        "</marker></defs>"
    )
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif">'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>{arrow}\n'
    )
    place = DOCS / "_static" / "house.svg"
    place.write_text(svg + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")
    print(place.name)


if __name__ == "__main__":
    main()
