"""Draw `docs/_static/architecture.svg` from the layers of `pyproject.toml`.

Run ``python docs/architecture_figure.py`` after a change of the layers.
"""

import re
import tomllib
from pathlib import Path

DOCS = Path(__file__).resolve().parent
WIDTH, LEFT, GAP, HEIGHT = 900, 20, 6, 34
MOST_IN_A_ROW = 5
# The title of each band, its color, and the module whose layer is the first of the band.
BANDS = [
    ("applications", "#dbe9f6", "cli"),
    ("about fitted models", "#e6e0f3", "trace"),
    ("models: one module per algorithm, its loops next to it", "#dff0dc", "ensemble"),
    ("shared by models", "#fbe9d0", "data"),
    ("compiled loops", "#f7dcdc", "loops"),
    ("verifiers of fitted models", "#fff6c9", "certificates"),
    ("may be imported by all", "#ececec", "separation"),
]
NOTES = {
    "loops": "loops: compile policy, cache, rows, SIMD (Numba)",
    "certificates": "certificates: claims about a model from data and public attributes",
}


def layers():
    """Yield the modules of each layer, the highest first; loops belong to their modules."""
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    for layer in settings["tool"]["importlinter"]["contracts"][0]["layers"]:
        names = [name.strip() for name in re.split("[|:]", layer)]
        if names := [name for name in names if not re.match(r"[(_]|\w+_loops$", name)]:
            yield names


def bands():
    """Return title, color and rows of modules of each band; a long layer takes several rows."""
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


def figure():
    """Return the height and the parts of the figure."""
    inner, y, parts = WIDTH - 2 * LEFT, 36, []
    for title, fill, rows in bands():
        parts.append(text(LEFT, y - 8, title, 13, "bold", "start"))
        for names in rows:
            width = (inner - GAP * (len(names) - 1)) / len(names)
            for i, name in enumerate(names):
                x = LEFT + i * (width + GAP)
                parts += [
                    box(x, y, width, HEIGHT - GAP, fill),
                    text(x + width / 2, y + 19, NOTES.get(name, name), 13),
                ]
            y += HEIGHT
        y += 26
    return y - 16, parts


def main():
    height, parts = figure()
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif">'
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n'
    )
    place = DOCS / "_static" / "architecture.svg"
    place.write_text(svg + "\n".join(parts) + "\n</svg>\n", encoding="utf-8")
    print(place.name)


if __name__ == "__main__":
    main()
