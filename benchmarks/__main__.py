"""``python -m benchmarks [--only NAME]... [--show NAME]... [--scale S] [--times-only]``"""

import argparse

from benchmarks import ratios, report, results, runner
from benchmarks.scenario import choose
from benchmarks.scenarios import all_scenarios


def main(arguments=None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="a name or a part of its slug"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="share of the rows; unless 1, nothing is written"
    )
    parser.add_argument("--times-only", action="store_true", help="leave out memory and cold calls")
    parser.add_argument("--list", action="store_true", help="print the slugs and stop")
    parser.add_argument(
        "--show", action="append", default=[], metavar="NAME", help="print stored results and stop"
    )
    given = parser.parse_args(arguments)

    scenarios = all_scenarios(given.scale)
    order = [s.name for s in scenarios]
    if given.list:
        print("\n".join(s.slug for s in scenarios))
    elif given.show:
        stored = results.load()
        for scenario in choose(scenarios, given.show):
            print(report.section(stored[scenario.name]), end="\n\n")
    else:
        try:
            chosen = choose(scenarios, given.only)
        except ValueError as error:
            parser.error(str(error))
        for scenario in chosen:
            row = runner.measure_row(scenario, given.scale, given.times_only)
            print(report.section(ratios.summarize(row)), end="\n\n", flush=True)
            if given.scale == 1.0:
                results.save([row], runner.machine(), order)


if __name__ == "__main__":
    main()
