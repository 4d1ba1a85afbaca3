"""The lists of models for a terminal have every model, its parameters and when to use it."""

from rosenblatt.workbench.families import FAMILIES
from rosenblatt.workbench.model_catalogue import model_text, models_text, named_families


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
