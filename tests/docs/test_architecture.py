"""The picture of the layers in docs/architecture.md."""

import re
from pathlib import Path

import rosenblatt

ROOT = Path(rosenblatt.__file__).parent
PICTURE = Path(__file__).resolve().parents[2] / "docs" / "_static" / "architecture.svg"


def test_the_picture_shows_every_folder_and_module_once():
    found = [path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"]
    names = sorted(
        name for name in found if not name.startswith("_") and not name.endswith("_loops")
    )
    words = re.findall(r"<text [^>]*>(\w+)", PICTURE.read_text(encoding="utf-8"))
    advice = "Add it to the layers of pyproject.toml, then run python docs/architecture_figure.py."
    assert sorted(word for word in words if word in names) == names, advice
