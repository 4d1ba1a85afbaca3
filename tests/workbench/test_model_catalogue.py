"""The page on choosing says what the list of families says."""

from pathlib import Path

from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.model_catalogue import (
    choosing_page,
    model_text,
    models_text,
    named_families,
)

PAGE = Path(__file__).resolve().parents[2] / "docs" / "choosing.md"


def test_the_page_is_what_the_families_make_of_it():
    assert PAGE.read_text(encoding="utf-8") == choosing_page(), (
        "python -m rosenblatt.workbench.model_catalogue > docs/choosing.md"
    )


def test_the_list_has_every_model_with_its_word_on_when():
    text = models_text()
    for family in FAMILIES:
        assert family.name in text
        assert family.when in text


def test_each_model_has_an_entry_with_all_parameters():
    for family in named_families():
        text = model_text(family)
        assert family.when in text
        assert "=" in text.splitlines()[-1]
