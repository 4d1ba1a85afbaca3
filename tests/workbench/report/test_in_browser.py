"""The report in headless Chromium: no complaint, no request, no sideways scroll, at any width."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from rosenblatt import cluster_table
from rosenblatt.workbench.report import cluster_page, save
from rosenblatt.workbench.significance import hoeffding, wilson

pytestmark = pytest.mark.browser


@pytest.fixture
def show(browser, tmp_path):
    """Save findings and open the page; afterwards hear no complaint and see no request."""
    path = tmp_path / "report.html"

    def open_page(findings):
        save(findings, path)
        browser.requests.clear()
        browser.complaints.clear()
        browser.open(path.as_uri())
        return browser

    yield open_page
    assert browser.complaints == []
    assert set(browser.requests) <= {path.as_uri()}


@pytest.mark.parametrize("width", [1280, 900, 390, 360])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_never_scrolls_sideways(show, browser, findings, width, scheme):
    browser.resize(width, 900)
    browser.prefer(color_scheme=scheme)
    page = show(findings)
    page.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    wide = page.run("document.documentElement.scrollWidth")
    assert wide <= page.run("document.documentElement.clientWidth")
    # Nothing sticks out of the page either, save in boxes that scroll by themselves.
    out = """[...document.querySelectorAll("main *")].filter((element) =>
        !element.closest(".scroll, pre, svg, .unseen")
        && element.getBoundingClientRect().right > innerWidth + 1).length"""
    assert page.run(out) == 0


def test_the_ground_is_dark_in_the_dark(show, browser, iris):
    for scheme, wanted in (("light", "rgb(253, 252, 249)"), ("dark", "rgb(23, 25, 29)")):
        browser.prefer(color_scheme=scheme)
        show(iris)
        assert browser.run("getComputedStyle(document.body).backgroundColor") == wanted


def families(page):
    rows = "[...document.querySelectorAll('.board tbody .family')].map((e) => e.dataset.key)"
    return page.run(rows)


def test_the_leaderboard_is_sorted_by_keyboard(show, browser, iris):
    browser.resize(1280, 900)
    page = show(iris)
    ranked = families(page)
    assert ranked == [c.family for c in [*iris.contestants, iris.baseline]]
    page.run("document.querySelectorAll('.board th button')[1].focus()")
    page.press(" ")
    assert families(page) == sorted(ranked, key=str.lower)
    page.press(" ")
    assert families(page) == sorted(ranked, key=str.lower, reverse=True)
    sort = "document.querySelectorAll('.board thead th')[1].getAttribute('aria-sort')"
    assert page.run(sort) == "descending"


def test_families_without_a_score_come_last_however_they_are_sorted(show, browser, every_kind):
    findings = every_kind["unfinished"]
    page = show(findings)
    last = findings.contestants[-1].family
    for _ in range(2):
        page.run("document.querySelectorAll('.board th button')[2].click()")
        assert families(page)[-1] == last


def test_focus_is_seen(show, browser, iris):
    page = show(iris)
    page.press("Tab")
    assert page.run("document.activeElement.tagName") == "A"
    assert page.run("getComputedStyle(document.activeElement).outlineWidth") == "3px"


def test_folds_are_open_on_paper(show, browser, iris):
    page = show(iris)
    assert page.run("document.querySelectorAll('details').length") > 0
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.querySelectorAll('details:not([open])').length") == 0
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("document.querySelectorAll('details[open]').length") == 0


def test_nothing_small_is_cut_between_pages(show, browser, iris):
    page = show(iris)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        cut = """[...document.querySelectorAll("figure, tr, p, li, .answer, .matrix")].filter(
            (element) => getComputedStyle(element).breakInside !== "avoid").length"""
        alone = """[...document.querySelectorAll("h2, h3, summary, section > h2 + p")].filter(
            (element) => getComputedStyle(element).breakAfter !== "avoid").length"""
        assert page.run(cut) == 0
        assert page.run(alone) == 0
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_nothing_is_cut_off_or_alone_on_paper(show, browser, iris):
    """The command had a scroll bar, and each family's small curve a row of its own."""
    browser.resize(718, 900)
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        page = show(replace(iris, protocol=replace(iris.protocol, command="compare " * 40)))
        page.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        wide = "[...document.querySelectorAll('pre')].filter((e) => e.scrollWidth > e.clientWidth)"
        assert page.run(f"{wide}.length") == 0
        tops = """[...document.querySelectorAll("#search details")].map(
            (fold) => Math.round(fold.getBoundingClientRect().top))"""
        n = page.run(f"{tops}.length")
        assert n > 1
        assert page.run(f"new Set({tops}).size") < n
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_lighter_features_fill_the_width_of_paper(show, browser, every_kind):
    page = show(every_kind["wide"])
    page.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        places = """[...document.querySelectorAll(".lighter tbody tr")].map(
            (row) => Math.round(row.getBoundingClientRect().left))"""
        assert page.run(f"new Set({places}).size") == 3
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("score", [0.30, 0.45, 0.55, 0.70, 0.99])
def test_no_line_crosses_the_words_of_an_interval(show, browser, iris, width, score):
    near = [wilson(round(100 * score), 100), hoeffding(score, 100)]
    opening = replace(iris.opening, score=score, baseline_score=0.2, intervals=near)
    browser.resize(width, 900)
    page = show(replace(iris, opening=opening))
    crossed = """(() => {
        const box = (e) => e.getBoundingClientRect();
        const words = [...document.querySelectorAll(".scale text")]
            .filter((e) => /Wilson|Hoeffding/.test(e.textContent)).map(box);
        const x = box(document.querySelector(".scale path.line")).left;
        const out = words.filter((w) => w.left < 0 || w.right > innerWidth).length;
        const y = box(document.querySelector(".scale path.axis")).top;
        const low = words.filter((w) => w.bottom > y).length;
        return [words.length, words.filter((w) => w.left < x && x < w.right).length, out, low];
    })()"""
    assert page.run(crossed) == [2, 0, 0, 0]


@pytest.mark.parametrize("width", [1280, 800, 390, "paper"])
def test_intervals_of_the_leaderboard_have_a_scale_above_them(show, browser, iris, width):
    """In cards, and on paper, there was none."""
    browser.resize(718 if width == "paper" else width, 900)
    browser.call("Emulation.setEmulatedMedia", media="print" if width == "paper" else "")
    try:
        page = show(iris)
        lefts = """[...document.querySelectorAll(".board svg.interval")].map(
            (picture) => Math.round(picture.getBoundingClientRect().left))"""
        numbers = """[...document.querySelectorAll(".ruler text")].map((e) => {
            const { left, right } = e.getBoundingClientRect(); return [left, right]; })"""
        assert page.run(f"new Set({lefts}).size") == 1
        places = page.run(numbers)
        assert len(places) >= 2
        assert all(right + 5 < left for (_, right), (left, _) in pairwise(places))
        assert all(0 < left < right for left, right in places)
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")


def test_hostile_names_run_nothing(show, every_kind):
    page = show(every_kind["hostile"])
    assert page.run("document.scripts.length") == 1


def test_everything_is_readable_without_a_script(browser, binary, tmp_path):
    save(binary, tmp_path / "report.html")
    browser.resize(390, 900)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.call("Page.navigate", url=(tmp_path / "report.html").as_uri())
        browser.wait("document.readyState === 'complete' && document.title.includes('diagnosis')")
        assert not browser.run("'rosenblatt' in window")
        assert "Logistic regression" in browser.run("document.body.innerText")
        assert "Sort by" not in browser.run("document.body.innerText")
        headings = """[...document.querySelectorAll(".board thead th[data-sort]")].filter(
            (heading) => getComputedStyle(heading).display !== "none").length"""
        assert browser.run(headings) == 0
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_command_is_seen_whole(show, browser, iris, width):
    """It ran out of its box, with a bar to scroll by that a telephone does not show."""
    browser.resize(width, 900)
    words = "rosenblatt compare /somewhere/far/down/in/folders/table.csv --target species " * 4
    page = show(replace(iris, protocol=replace(iris.protocol, command=words + "x" * 300)))
    hidden = "(() => { const box = document.querySelector('#repeat pre');"
    assert page.run(f"{hidden} return box.scrollWidth - box.clientWidth; }})()") == 0


@pytest.fixture(scope="module")
def clusters():
    """Eight clusters of animals, described by columns of truth values."""
    rng = np.random.default_rng(0)
    kind = np.arange(160) % 8
    names = ["venomous", "breathes", "airborne", "backbone", "domestic", "predator"]
    table = {name: (kind >> j % 3) % 2 ^ (rng.random(160) < 0.03) for j, name in enumerate(names)}
    table["colour_of_the_fur"] = np.array(["brown and white", "black", "grey", "red"])[kind // 2]
    return cluster_table(pl.DataFrame(table), k=8).findings


@pytest.mark.parametrize("width", [1200, 390])
def test_a_wide_table_of_clusters_is_whole_or_seen_to_go_on(browser, tmp_path, clusters, width):
    browser.resize(width, 900)
    cluster_page.save(clusters, tmp_path / "clusters.html")
    browser.open((tmp_path / "clusters.html").as_uri())
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    lines = """[...document.querySelectorAll(".profile tbody th")].flatMap((head) => {
        const words = head.textContent.split(" "), text = head.firstChild;
        return words.map((word) => {
            const range = document.createRange(), start = text.data.indexOf(word);
            range.setStart(text, start); range.setEnd(text, start + word.length);
            return range.getClientRects().length;
        });
    })"""
    assert set(browser.run(lines)) == {1}  # no word is broken
    overall = "document.querySelector('.profile thead th:nth-child(2)')"
    assert browser.run(f"{overall}.textContent") == "all rows"
    assert browser.run(f"{overall}.getBoundingClientRect().right < innerWidth")
    box = "document.querySelector('.scroll:has(.profile)')"
    goes_on = browser.run(f"{box}.scrollWidth > {box}.clientWidth")
    assert goes_on == (width == 390)
    assert "linear-gradient" in browser.run(f"getComputedStyle({box}).backgroundImage")
    if goes_on:  # the names of columns stay in place
        left = "document.querySelector('.profile tbody th').getBoundingClientRect().left"
        before = browser.run(left)
        assert browser.run(f"({box}.scrollLeft = 90, {left})") == before
