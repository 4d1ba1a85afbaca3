"""The arithmetic of a row: ratios with their spread, shares of limits, what is below the wanted.

A row is the plain dict that `runner.measure_row` makes: its first contender is ours.
"""

import statistics
from typing import NamedTuple


class Spread(NamedTuple):
    """Median and quartiles."""

    median: float
    low: float
    high: float


def spread(values: list[float]) -> Spread:
    if len(values) == 1:
        return Spread(values[0], values[0], values[0])
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(median, low, high)


def ratio(peer: dict, ours: dict, clock: str = "cpu") -> Spread:
    """Peer's time over ours, round by round: above 1 we are faster."""
    return spread([p / o for p, o in zip(peer[clock], ours[clock], strict=True)])


def did_the_job(contender: dict, row: dict) -> bool:
    """It ran, and every model it made was good enough to count."""
    least = row["quality"]["least"]
    return "absent" not in contender and (least is None or min(contender["quality"]) >= least)


def present(row: dict) -> list[dict]:
    """The peers that did the job: only they can be beaten."""
    return [c for c in row["contenders"][1:] if did_the_job(c, row)]


def best_peer(row: dict) -> dict | None:
    """The peer with the least CPU time, or None when no peer ran."""
    return min(present(row), key=lambda c: spread(c["cpu"]).median, default=None)


def limit_shares(row: dict) -> dict[str, float]:
    """Of each limit of the machine, the share our median run reaches."""
    ours = row["contenders"][0]
    if "absent" in ours:
        return {}
    seconds = spread(ours["cpu"]).median
    return {name: amount / seconds / row["limits"][name] for name, amount in row["work"].items()}


def shortfalls(row: dict) -> list[str]:
    """What is below what was wanted, each in a few words; empty when all is well."""
    ours = row["contenders"][0]
    if "absent" in ours:
        return [f"not measured: {ours['absent']}"]
    found = [] if did_the_job(ours, row) else [f"{row['quality']['name']}: not in every round"]
    for peer in present(row):
        reached = ratio(peer, ours).median
        if peer["wanted"] is not None and reached < peer["wanted"]:
            found.append(f"{reached:.2f}x of {peer['wanted']:g}x over {peer['name']}")
    peer = best_peer(row)
    if peer is not None:
        # Means, not medians: a learner that fails on one seed in ten is not as good.
        lacking = statistics.fmean(peer["quality"]) - statistics.fmean(ours["quality"])
        if lacking > row["quality"]["slack"] + luck(peer["quality"]):
            found.append(f"{row['quality']['name']} {lacking:.4f} below {peer['name']}")
    share = memory_share(ours)
    if share is not None and row["memory_wanted"] is not None and share > row["memory_wanted"]:
        found.append(f"memory +{share:.0%} of the input, wanted +{row['memory_wanted']:.0%}")
    return found


def luck(qualities: list[float]) -> float:
    """Two standard errors of the difference of two means, were both as scattered as the peer.

    The peer's scatter, not ours: being less steady than the peer must not excuse a lower mean.
    """
    if len(qualities) == 1:
        return 0.0
    return 2 * statistics.stdev(qualities) * (2 / len(qualities)) ** 0.5


def memory_share(contender: dict) -> float | None:
    memory = contender.get("memory", {"absent": ""})
    return None if "absent" in memory else memory["extra"] / memory["input"]
