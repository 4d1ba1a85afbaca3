"""What a benchmark is made of: a scenario, its data, its contenders, its measure of quality."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Data:
    """Training rows, held-out rows, and a folder for what a peer derives from them."""

    X: Any  # (n, d) array or CSR
    y: Any  # (n,)
    X_test: Any
    y_test: Any
    folder: Path

    @property
    def nbytes(self) -> int:
        """Bytes of the training input: what one pass must at least read."""
        X = self.X
        arrays = (X,) if hasattr(X, "nbytes") else (X.data, X.indices, X.indptr)
        return sum(a.nbytes for a in arrays) + self.y.nbytes


@dataclass(frozen=True)
class Contender:
    """One way of doing the job. Imports happen inside `run`: the cold call pays for them."""

    name: str
    settings: str  # as documented by the peer, shown in the row
    package: str  # whose version is recorded
    run: Callable[[Any, int], Any]  # what is timed: (prepared data, seed) -> model
    wanted: float | None = None  # the ratio we want over this peer
    prepare: Callable[[Data], Any] = lambda data: data  # untimed: the peer's own form of the data

    # For a peer that cannot run the job once on its own:
    # seconds per job = (seconds of `run` - seconds of `baseline`) / jobs.
    baseline: Callable[[Any, int], Any] | None = None
    jobs: float = 1.0
    full: Callable[[Any, int], Any] | None = None  # exactly one job: quality, memory, cold call


@dataclass(frozen=True)
class Quality:
    """How good a model is, and how far below the fastest peer ours may be before it is marked."""

    name: str
    of: Callable[[Any, Data], float]
    slack: float = 0.0
    least: float | None = None  # a peer below this did not do the job, and gets no ratio


@dataclass(frozen=True)
class Scenario:
    name: str
    job: str  # one sentence: what is timed, on which data
    data: Callable[[], Data]
    ours: Contender
    peers: tuple[Contender, ...]
    quality: Quality
    limits: Callable[[Data], dict[str, float]]  # limit's name -> amount one run must at least move
    rounds: int = 11
    memory_wanted: float | None = 0.10  # share of the input's bytes a fit may add
    tried: str = ""  # for a row below the wanted ratio
    threads: int = 1
    score_only: bool = False  # run once, in the time it is given: no warm-up, memory or cold call
    text_bytes: Callable[[Data], int] | None = None  # read by one run, if it reads texts

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def contenders(self) -> tuple[Contender, ...]:
        return (self.ours, *self.peers)


def on_two_threads(scenario: Scenario) -> Scenario:
    """The same job, with two threads for everyone."""
    return replace(
        scenario,
        name=f"{scenario.name}, two threads",
        job=scenario.job.replace("one thread", "two threads"),
        threads=2,
    )


def choose(scenarios: list[Scenario], wanted: list[str]) -> list[Scenario]:
    """The scenarios asked for, each by name, slug or a part of its slug; all when none is named."""
    if not wanted:
        return scenarios
    chosen = set()
    for word in wanted:
        exact = {s.slug for s in scenarios if word in (s.name, s.slug)}
        found = exact or {s.slug for s in scenarios if word.lower() in s.slug}
        if not found:
            names = ", ".join(s.slug for s in scenarios)
            raise ValueError(f"only must name a scenario of {names}; got {word!r}.")
        chosen |= found
    return [s for s in scenarios if s.slug in chosen]
