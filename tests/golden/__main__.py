"""Compares what users see with what was frozen: ``python -m tests.golden``; ``--write`` freezes it.

Everything is computed anew. The check prints each difference, and ends with 1 if there is any.
"""

import argparse
import gzip
import json
import math
import os
import platform
import sys
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatchcase
from importlib.metadata import version
from multiprocessing import get_context
from os.path import commonpath

from . import FROZEN

EXPECTED: dict[str, str] = {}
"""Changes made by intent: a pattern of ``case: field``, such as ``"names: *"``, and the reason."""

LOOSE: dict[str, float] = {}
"""Relative tolerances of the fields that match a pattern; of all others ``RELATIVE``."""
RELATIVE, ABSOLUTE = 1e-9, 1e-12
LIBRARIES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "catboost",
    "highspy",
    "clarabel",
    "pandas",
    "onnx",
)
SHOWN = 160
SETTINGS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
SETTINGS |= {"COLUMNS": "100", "MPLBACKEND": "Agg", "PYTHONHASHSEED": "0"}


def compute(pattern, processes):
    """The facts of the cases that match, in processes that are started with our settings."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    from .cases import CASES, facts_of  # imported late, because libraries read the settings when they are imported

    names = [name for name in CASES if fnmatchcase(name, f"*{pattern}*")]
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        return dict(sorted(pool.map(facts_of, names, chunksize=4)))


def differences(before, after, field, tolerance):
    """Each place where two values differ: where, before, after."""
    both = type(before), type(after)
    if both == (dict, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from differences(
                before.get(key, "(nothing)"), after.get(key, "(nothing)"), f"{field}.{key}", tolerance
            )
    elif both == (list, list) and len(before) == len(after):
        for k, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{field}[{k}]", tolerance)
    elif float in both and set(both) <= {int, float}:
        is_nan = math.isnan(before) and math.isnan(after)
        if not is_nan and not math.isclose(before, after, rel_tol=tolerance, abs_tol=ABSOLUTE):
            yield field, before, after
    elif before != after or both[0] is not both[1]:
        yield field, before, after


def shown(before, after):
    """Both values, from a little before the first place where they differ."""
    texts = [value if isinstance(value, str) else json.dumps(value) for value in (before, after)]
    start = max(len(commonpath(texts)) - SHOWN // 4, 0)
    return [("..." if start else "") + repr(text[start : start + SHOWN]) for text in texts]


def compare(before, after):
    """Print the differences that are not expected; how many there are."""
    found, expected = 0, dict.fromkeys(EXPECTED, 0)
    for case in sorted({*before, *after}):
        pair = before.get(case, "(nothing)"), after.get(case, "(nothing)")
        for place, one, other in differences(*pair, "", RELATIVE):
            where = f"{case}: {place.lstrip('.')}"
            tolerance = next((value for pattern, value in LOOSE.items() if fnmatchcase(where, pattern)), None)
            if tolerance is not None and not [*differences(one, other, "", tolerance)]:
                continue
            reason = next((pattern for pattern in EXPECTED if fnmatchcase(where, pattern)), None)
            if reason is not None:
                expected[reason] += 1
                continue
            found += 1
            print(
                where,
                *(f"\n    {what} {text}" for what, text in zip(("before", "after "), shown(one, other), strict=True)),
                sep="",
            )
    for pattern, times in expected.items():
        print(f"{times} expected changes of {pattern!r}: {EXPECTED[pattern]}")
    return found


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="freeze what is seen now")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="cases with this in their names; * is anything")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    frozen = json.loads(gzip.decompress(FROZEN.read_bytes())) if FROZEN.exists() else {"versions": {}, "cases": {}}
    versions = {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    cases = compute(asked.only, asked.processes)
    if asked.write:
        kept = {} if asked.only == "*" else frozen["cases"]
        text = json.dumps({"versions": versions, "cases": dict(sorted((kept | cases).items()))}, separators=(",", ":"))
        FROZEN.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{len(cases)} cases written, {FROZEN.stat().st_size:,} bytes")
        return
    for name, now in versions.items():
        if frozen["versions"].get(name) != now:
            print(f"{name} is {now}; it was {frozen['versions'].get(name)} when this was frozen")
    before = {name: facts for name, facts in frozen["cases"].items() if fnmatchcase(name, f"*{asked.only}*")}
    found = compare(before, cases)
    print(f"{len(cases)} cases, {found} differences")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
