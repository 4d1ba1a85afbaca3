"""What the coverage page calls finished exists, and its tests cite it."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "coverage.md"
COLUMNS = ["id", "what", "public name", "test", "page", "planned"]

# The last entry of each numbered section; 0, U, X and Y are single entries.
LAST = "A14 B12 C13 D8 E12 F12 G3 H10 I5 J11 K9 L8 M9 N4 O15 P8 Q7 R6 S6 T18 V14 W11"
IDS = {f"{last[0]}{i}" for last in LAST.split() for i in range(1, int(last[1:]) + 1)}
IDS |= {"0", "U", "X", "Y"}


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def read_page():
    """Return the ids called finished and every table row as a dict by column."""
    text = PAGE.read_text(encoding="utf-8")
    (finished,) = re.findall(r"^finished: (.*)$", text, flags=re.M)
    rows = [cells(line) for line in text.splitlines() if line.startswith("|")]
    heads = [row for row in rows if row[0] == "id"]
    assert all(row == COLUMNS for row in heads), heads
    entries = [row for row in rows if row[0] != "id" and not set(row[0]) <= set("-:")]
    wrong = [row for row in entries if len(row) != len(COLUMNS)]
    assert not wrong, f"rows with another number of cells: {wrong}"
    return finished.split(", "), [dict(zip(COLUMNS, row, strict=True)) for row in entries]


FINISHED, ROWS = read_page()
BY_ID = {row["id"]: row for row in ROWS}


def code(cell):
    return re.findall(r"`([^`]+)`", cell)


def links(cell):
    return re.findall(r"\]\(([^)]+)\)", cell)


# A test cites entries at the head of a docstring or comment: """GC06, J3, T1: five points."""
ENTRY = r"(?:[A-Z]{0,2}\d+|[A-Z])"
CITATION = re.compile(rf'^\s*(?:"""|# )({ENTRY}(?:, {ENTRY})*): ', flags=re.M)


def cited(path):
    """The ids of the entries and worked cases that a test file cites."""
    heads = CITATION.findall((ROOT / path).read_text(encoding="utf-8"))
    return {entry for head in heads for entry in head.split(", ")}


def heading_slugs(page):
    """The anchors that the documentation builder gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower()).replace(" ", "-") for h in headings}


def test_every_entry_has_exactly_one_row():
    counts = Counter(row["id"] for row in ROWS)
    assert not [i for i, n in counts.items() if n > 1]
    assert set(counts) == IDS


def test_every_row_has_a_title_and_is_either_finished_or_planned():
    untitled = [row["id"] for row in ROWS if not row["what"]]
    assert not untitled
    adrift = [row["id"] for row in ROWS if not row["planned"] and row["id"] not in FINISHED]
    assert not adrift


def test_finished_ids_exist_and_occur_once():
    assert set(FINISHED) <= set(BY_ID)
    assert len(FINISHED) == len(set(FINISHED))


@pytest.mark.parametrize("entry", FINISHED)
def test_a_finished_entry_has_no_empty_cell(entry):
    row = BY_ID[entry]
    assert code(row["public name"])
    assert code(row["test"])
    assert links(row["page"])
    assert not row["planned"]


@pytest.mark.parametrize("entry", [i for i in BY_ID if code(BY_ID[i]["public name"])])
def test_public_names_can_be_reached(entry):
    for name in code(BY_ID[entry]["public name"]):
        thing = importlib.import_module("rosenblatt")
        for part in name.split("."):
            thing = getattr(thing, part)


@pytest.mark.parametrize("entry", [i for i in BY_ID if code(BY_ID[i]["test"])])
def test_tests_named_on_the_page_exist(entry):
    missing = [path for path in code(BY_ID[entry]["test"]) if not (ROOT / path).is_file()]
    assert not missing


@pytest.mark.parametrize("entry", FINISHED)
def test_the_tests_of_a_finished_entry_cite_it(entry):
    silent = [path for path in code(BY_ID[entry]["test"]) if entry not in cited(path)]
    assert not silent, f"no docstring or comment in {silent} begins with {entry}"


@pytest.mark.parametrize("entry", [i for i in BY_ID if links(BY_ID[i]["page"])])
def test_links_on_the_page_lead_somewhere(entry):
    for link in links(BY_ID[entry]["page"]):
        file, _, anchor = link.partition("#")
        target = PAGE.parent / file
        assert target.is_file(), link
        assert not anchor or anchor in heading_slugs(target), link
