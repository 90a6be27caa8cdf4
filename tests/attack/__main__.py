"""``python -m tests.attack --minutes 5``: attacks by two processes, failures as code, and a table at the end.

``--kinds proof --seed 7 --cases 1`` draws one case again; ``--kinds files tables --cases 100000`` reads so many.
"""

import argparse
import os
import sys

from .attacks import ATTACKS
from .jobs import Table, attack


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=None, help="how long; 5 unless --cases says how many")
    parser.add_argument("--cases", type=int, default=None, help="how many of each kind")
    parser.add_argument("--seed", type=int, default=None, help="that of the first case; any unless it is given")
    parser.add_argument("--kinds", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    minutes = asked.minutes if asked.minutes is not None else 5.0 if asked.cases is None else 1e6
    seed = asked.seed if asked.seed is not None else int.from_bytes(os.urandom(4), "big")
    print(f"seeds from {seed} on, {asked.jobs} processes", flush=True)
    table = Table()
    attack(table, asked, seed, 60.0 * minutes)
    print(table.text(), flush=True)
    sys.exit(1 if table.n_failures else 0)


if __name__ == "__main__":
    main()
