"""``python -m tests.attacks``: attack every family, count tries and false certificates.

Options: ``--tries N`` of each family (1,000), ``--seed S`` (of the clock), ``--only NAME`` (again
for more), ``--seconds T`` for each family at most, ``--out FILE`` for the table as JSON.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from . import run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tries", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", action="append")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    columns = f"{'tries':>7} {'refused':>7} {'unclaimed':>9} {'false':>6} {'seconds':>8}"
    print(f"{'family':<26} {columns}   seed {seed}")
    counts = []
    for name in options.only or run.NAMES:
        count = run.attack(name, options.tries, seed, options.seconds)
        counts.append(count)
        print(count.line, flush=True)
        for words in count.false[:5]:
            print(f"    {words}", flush=True)
        if options.out:
            options.out.write_text(json.dumps([vars(c) for c in counts], indent=1, default=str))
    sys.exit(any(count.false or count.broken for count in counts))


if __name__ == "__main__":
    main()
