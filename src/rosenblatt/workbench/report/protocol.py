"""How it was done, and how to do it again."""

from rosenblatt.workbench.results import Findings, Protocol

from . import numbers
from .markup import Markup, tag

STANDARD_INPUT = "standard input"  # what a table read from there is called
PARTS = (("train", 0, "search and fit"), ("dev", 2, "judge"), ("test", 1, "open once"))


def protocol(findings: Findings) -> Markup:
    """The section."""
    how = findings.protocol
    score = f"{numbers.metric(how.metric)} {how.positive_words}".strip()
    pairs = [
        ("task", f"{how.task} of {numbers.clipped(how.target)}"),
        ("score", numbers.clipped(score, 80)),
        ("split", _how_split(how)),
        ("folds", _folds(how)),
        ("budget", "none" if how.budget is None else numbers.seconds(how.budget)),
        ("took", numbers.seconds(how.seconds)),
        ("ended", {"": "all done", "budget": "out of time"}.get(how.stopped, "interrupted")),
    ]
    pairs += [(name, version) for name, version in how.versions.items()]
    lines = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    return tag(
        "section", tag("h2", "To repeat it"),
        tag("pre", tag("code", how.command), class_="command", tabindex=0, aria_label="command"),
        _piped(findings), _split(how), _fewer(how), tag("dl", *lines, class_="facts"), id="repeat",
    )  # fmt: skip


def _piped(findings: Findings) -> Markup | None:
    """A word on a table that came from nowhere that could be named."""
    if findings.source != STANDARD_INPUT:
        return None
    how = findings.protocol
    rows = numbers.plural(how.n_table or how.n_used, "row")
    columns = numbers.plural(len(findings.columns) + 1, "column")
    return tag(
        "p", f"The table came from standard input ({rows}, {columns}), and this page does not know "
        "what wrote it: the command repeats this if it is given the same rows again.",
    )  # fmt: skip


def _fewer(how: Protocol) -> Markup | None:
    """A word on rows that the search did not see, and on those that the chosen model did."""
    if not how.fewer_words:
        return None
    fitted = f"; the chosen model was fitted to {numbers.plural(how.n_fitted, 'row')}"
    return tag("p", f"{how.fewer_words}{fitted if how.n_fitted else ''}.")


def _folds(how: Protocol) -> str:
    """How many, and why, if not as many as usual."""
    why = numbers.clipped(how.folds_words, 300)
    return f"{numbers.count(how.n_folds)}, {why}" if why else numbers.count(how.n_folds)


def _how_split(how: Protocol) -> str:
    """How rows came into their parts; where nothing is left to chance, without a seed."""
    words = numbers.clipped(how.split_words, 300) or how.split
    return words if how.split == "by time" else f"{words}, seed {how.random_state}"


def _split(how: Protocol) -> Markup | None:
    """The three parts of the rows as one bar, in proportion."""
    sizes = {"train": how.n_train, "dev": how.n_dev, "test": how.n_test}
    total = sum(sizes.values())
    if not total:
        return None
    start, shapes, words = 0.0, [], []
    for name, k, use in PARTS:
        width = 100 * sizes[name] / total
        shapes.append(
            tag("rect", x=round(start, 2), y=0, width=round(max(width - 0.4, 0), 2), height=10,
                class_=f"bar c{k}")
        )  # fmt: skip
        text = f"{name}: {numbers.plural(sizes[name], 'row')} ({use})"
        words.append(tag("li", tag("span", class_=f"dot c{k}", aria_hidden="true"), text))
        start += width
    said = ", ".join(f"{name} {numbers.count(sizes[name])}" for name, _, _ in PARTS)
    bar = tag("svg", *shapes, viewBox="0 0 100 10", preserveAspectRatio="none", class_="split",
              role="img", aria_label=f"Rows: {said}.")  # fmt: skip
    return tag("figure", bar, tag("ul", *words, class_="legend"), class_="wide")
