"""Summaries of measured rows: medians, ratios, shares of limits, and targets that were missed.

`runner.measure_row` returns the samples of each round; `summarize` reduces them to medians with
quartiles. The other functions read summaries. The first contender of a row is ours.
"""

import statistics
from typing import Any, NamedTuple

CLOCKS = ("cpu", "wall")


class Spread(NamedTuple):
    """Median and quartiles."""

    median: float
    low: float
    high: float


def summarize(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with medians and quartiles in place of the samples of each round."""
    ours = row["contenders"][0]
    return {**row, "contenders": [_summary(contender, ours) for contender in row["contenders"]]}


def _summary(contender: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    if "absent" in contender:
        return contender
    found = {**contender, "quality": _quality_summary(contender["quality"])}
    for clock in CLOCKS:
        found[clock] = _spread(contender[clock])
    if contender is not ours and "absent" not in ours:
        found["ratio"] = {clock: _ratio(contender[clock], ours[clock]) for clock in CLOCKS}
    return found


def _ratio(peer: list[float], ours: list[float]) -> Spread:
    """Return the peer's time over ours, round by round: above 1 we are faster."""
    return _spread([p / o for p, o in zip(peer, ours, strict=True)])


def _spread(values: list[float]) -> Spread:
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def _quality_summary(values: list[float]) -> dict[str, float]:
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return {
        "mean": statistics.fmean(values),
        "lowest": min(values),
        "deviation": deviation,
        "rounds": len(values),
    }


def ratio(peer: dict[str, Any], clock: str = "cpu") -> Spread:
    """Return the ratio of a peer that was summarized beside ours."""
    return Spread(*peer["ratio"][clock])


def did_the_job(contender: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether a contender ran, and the quality was high enough in every round."""
    least = row["quality"]["least"]
    return "absent" not in contender and (least is None or contender["quality"]["lowest"] >= least)


def present(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the peers that did the job; the others get no ratio."""
    return [c for c in row["contenders"][1:] if did_the_job(c, row)]


def best_peer(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the peer with the least CPU time, or None if no peer ran."""
    return min(present(row), key=lambda c: c["cpu"][0], default=None)


def limit_shares(row: dict[str, Any]) -> dict[str, float]:
    """Return the share of each limit of the machine that our median run reaches."""
    ours = row["contenders"][0]
    if "absent" in ours:
        return {}
    seconds = ours["cpu"][0]
    return {name: amount / seconds / row["limits"][name] for name, amount in row["work"].items()}


def shortfalls(row: dict[str, Any]) -> list[str]:
    """Return the targets that were missed, in a few words each."""
    ours = row["contenders"][0]
    if "absent" in ours:
        return [f"not measured: {ours['absent']}"]
    found = [] if did_the_job(ours, row) else [f"{row['quality']['name']}: not in every round"]
    for peer in present(row):
        reached = ratio(peer).median
        if peer["wanted"] is not None and reached < peer["wanted"]:
            found.append(f"{reached:.2f}x of {peer['wanted']:g}x over {peer['name']}")
    peer = best_peer(row)
    if peer is not None:
        # Means, not medians: a learner that fails on one seed in ten is not as good.
        lacking = peer["quality"]["mean"] - ours["quality"]["mean"]
        if lacking > row["quality"]["slack"] + two_errors(peer["quality"]):
            found.append(f"{row['quality']['name']} {lacking:.4f} below {peer['name']}")
    share = memory_share(ours)
    if share is not None and row["memory_wanted"] is not None and share > row["memory_wanted"]:
        found.append(f"memory +{share:.0%} of the input, wanted +{row['memory_wanted']:.0%}")
    return found


def two_errors(quality: dict[str, float]) -> float:
    """Return two standard errors of the difference of two means, both as scattered as the peer.

    The peer's scatter and not ours: a less steady result must not excuse a lower mean.
    """
    return 2 * quality["deviation"] * (2 / quality["rounds"]) ** 0.5


def memory_share(contender: dict[str, Any]) -> float | None:
    """Return the extra memory of a job relative to its input."""
    memory = contender.get("memory", {"absent": ""})
    return None if "absent" in memory else memory["extra"] / memory["input"]
