"""The table `RESULTS.md`, and all details of one scenario for the terminal."""

from benchmarks.limits import ENGLISH, UNITS
from benchmarks.ratios import (
    CLOCKS,
    Spread,
    best_peer,
    did_the_job,
    limit_shares,
    memory_share,
    ratio,
    shortfalls,
)

SUMMARY = ["scenario", "best peer", "ratio (CPU)", "ratio (wall)", "wanted", "verdict"]

NOTES = (
    "*Time*: median CPU seconds of one job (all threads of the process), and wall seconds. "
    "*Quality*: mean over the rounds, each with its own seed, and the lowest. *Extra memory*: peak "
    "resident size during one job, less that with the data and the code loaded, in a fresh process "
    "with the default heap. *Cold*: import of the library and first job in a fresh process, with "
    "compiled loops on disk. Timings run with `MALLOC_MMAP_MAX_=0 "
    "MALLOC_TRIM_THRESHOLD_=30000000000`, so that the price of fresh pages does not count."
)


def render(rows: list[dict]) -> str:
    """Return the summary of all rows as a page."""
    machines = {"{processor}, {system}, Python {python}".format(**row["machine"]) for row in rows}
    parts = [
        "# Benchmarks",
        "Written by `make bench` from `results.jsonl`; `make bench SHOW=name` prints all details "
        "of a scenario. Ratio: the peer's time divided by ours, so above 1 we are faster. All "
        "contenders of a row ran interleaved in one process, after a warm-up, on one thread unless "
        "the name has another number; the ratio is the median over the rounds, with its quartiles. "
        "CPU time decides.",
        "Machines: " + "; ".join(sorted(machines)) + ".",
        _table(SUMMARY, [_summary_cells(row) for row in rows]),
    ]
    return "\n\n".join(parts) + "\n"


def _summary_cells(row: dict) -> list[str]:
    ours, peer = row["contenders"][0], best_peer(row)
    missed = shortfalls(row)
    verdict = "**below:** " + "; ".join(missed) if missed else "reached"
    if peer is None or "absent" in ours:
        return [row["name"], peer["name"] if peer else "none ran", "–", "–", "–", verdict]
    return [
        row["name"],
        peer["name"],
        _ratio_text(ratio(peer)),
        _ratio_text(ratio(peer, "wall")),
        _wanted_text(peer),
        verdict,
    ]


def section(row: dict) -> str:
    """Return all details of a row."""
    heads = ["contender", "time", "ratio (CPU)", "ratio (wall)", "wanted", row["quality"]["name"]]
    heads += ["extra memory", "cold"]
    lines = [
        f"## {row['name']}",
        row["job"],
        _table(heads, [_contender_cells(c, row) for c in row["contenders"]]),
        "\n".join(f"- {c['name']} ({c['package']}): {c['settings']}" for c in row["contenders"]),
    ]
    shares = [
        f"{share:.0%} of {ENGLISH[name]}" if share >= 0.01 else f"under 1% of {ENGLISH[name]}"
        for name, share in limit_shares(row).items()
    ]
    if shares:
        lines.append("Ours reaches " + ", ".join(shares) + ".")
    if row.get("text_bytes"):
        lines.append("Text read a second: " + _text_rates(row) + ".")
    if missed := shortfalls(row):
        tried = f" Tried: {row['tried']}" if row["tried"] else ""
        lines.append("**Below what is wanted:** " + "; ".join(missed) + "." + tried)
    limits = ", ".join(_limit_text(name, rate) for name, rate in row["limits"].items())
    lines.append(f"Machine in this run: {limits}. Measured at {row['commit']}, {row['date']}.")
    return "\n\n".join([*lines, NOTES])


def _text_rates(row: dict) -> str:
    """Return the megabytes of text that each contender reads in a second of CPU time."""
    return ", ".join(
        f"{c['name']} {row['text_bytes'] / 1e6 / c['cpu'][0]:.0f} MB"
        for c in row["contenders"]
        if "absent" not in c
    )


def _contender_cells(contender: dict, row: dict) -> list[str]:
    ours = row["contenders"][0]
    if "absent" in contender:
        return [
            contender["name"],
            contender["absent"],
            "–",
            "–",
            _wanted_text(contender),
            "–",
            "–",
            "–",
        ]
    cpu, wall = contender["cpu"][0], contender["wall"][0]
    ratios = ["1", "1"] if contender is ours else ["–", "–"]
    if contender is not ours and "absent" not in ours:
        ratios = [_ratio_text(ratio(contender, clock)) for clock in CLOCKS]
        if not did_the_job(contender, row):
            ratios = ["none: did not do the job", "–"]
    return [
        contender["name"],
        f"{_seconds_text(cpu)} ({_seconds_text(wall)} wall)",
        *ratios,
        _wanted_text(contender),
        _quality_text(contender["quality"]),
        _memory_text(contender),
        _cold_text(contender),
    ]


def _ratio_text(value: Spread) -> str:
    return f"{value.median:.2f}x ({value.low:.2f} to {value.high:.2f})"


def _wanted_text(contender: dict) -> str:
    return "–" if contender["wanted"] is None else f"{contender['wanted']:g}x"


def _seconds_text(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _quality_text(quality: dict[str, float]) -> str:
    mean, lowest = f"{quality['mean']:.4f}", f"{quality['lowest']:.4f}"
    if quality["rounds"] == 1:
        return f"{mean} (one run)"
    return mean if lowest == mean else f"{mean} (lowest {lowest})"


def _memory_text(contender: dict) -> str:
    share = memory_share(contender)
    if share is None:
        return "–"
    extra = f"{contender['memory']['extra'] / 2**20:.1f} MB"
    return f"{extra} ({share:.0%})" if share < 10 else f"{extra} ({share:.0f} times)"


def _cold_text(contender: dict) -> str:
    cold = contender.get("cold", {"absent": ""})
    if "absent" in cold:
        return "–"
    return f"{_seconds_text(cold['cpu'])} ({_seconds_text(cold['wall'])} wall)"


def _limit_text(name: str, rate: float) -> str:
    if UNITS[name] == "element":
        return f"{ENGLISH[name]} {1e9 / rate:.2f} ns an element"
    unit = {"B": "GB/s", "flop": "GF/s"}[UNITS[name]]
    return f"{ENGLISH[name]} {rate / 1e9:.1f} {unit}"


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |" for cells in lines
    )
