"""Kills and interrupts by the hundred: what is lost, torn or half-fitted, which should be nothing.

``python -m tests.kills`` from the root of the repository, on POSIX for its SIGKILL; ``-n 10`` for a tenth.
"""

import argparse
import json
import pickle
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from dualboost import DualBoostClassifier, load_model
from dualboost.errors import DualBoostError
from dualboost_study import read_results, run_study

from .interrupts import KINDS, Refitted, after_seconds, at_event
from .study.killing import TINY, kill, lines, started

SAVING = """
import pickle, sys
old, new = pickle.load(open(sys.argv[1], "rb"))
print("ready", flush=True)
while True:
    new.save(sys.argv[2])
    old.save(sys.argv[2])
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-n", type=int, default=100, help="kills and interrupts of each kind")
    n, rng = parser.parse_args().n, random.Random(0)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        told = [killed_studies(n, rng, Path(folder)), killed_saves(n, rng, Path(folder))]
    told += [interrupted_fits(kind, n) for kind in KINDS]
    sys.exit(1 if any(told) else 0)


def killed_studies(n, rng, folder):
    """Kill a study with two jobs n times, beginning another one whenever one is complete."""
    lost = torn = twice = n_killed = n_studies = 0
    while n_killed < n:
        n_studies += 1
        out = folder / f"study{n_studies}"
        while n_killed < n and len(lines(out)) < len(TINY.cells()):
            before = lines(out)
            n_killed += killed_run(out, rng)
            lost += lines(out)[: len(before)] != before
            torn += not_records(out)
        run_study(TINY, out)
        keys = [json.loads(line)["key"] for line in lines(out)]
        lost += len(set(keys)) != len(TINY.cells())
        twice += len(keys) - len(set(keys))
        read_results(out)
    print(f"{n_killed} kills of {n_studies} studies with two jobs: {lost} lost, {torn} torn, {twice} made twice")
    return lost + torn + twice


def killed_run(out, rng):
    """Kill a run at some moment after it has begun to write; whether it was there to be killed."""
    process, wanted = started(out, n_jobs=2), len(lines(out)) + rng.randint(0, 12)
    while process.poll() is None and len(lines(out)) < wanted:
        time.sleep(0.002)
    time.sleep(rng.uniform(0.0, 0.05))
    was_there = process.poll() is None
    kill(process)
    return was_there


def not_records(out):
    """How many complete lines are no JSON."""
    wrong = 0
    for line in lines(out):
        try:
            json.loads(line)
        except ValueError:
            wrong += 1
    return wrong


def killed_saves(n, rng, folder):
    """Kill a process that saves two models in turn to one file."""
    X = np.random.default_rng(0).normal(size=(400, 5))
    y = X[:, 0] * X[:, 1] > 0
    models = [DualBoostClassifier(max_trees=trees).fit(X, y) for trees in (5, 60)]
    answers, path, pickled = [model.decision_function(X) for model in models], folder / "model.json", folder / "models"
    pickled.write_bytes(pickle.dumps(models))
    models[0].save(path)
    found = Counter()
    for _ in range(n):
        process = subprocess.Popen(
            [sys.executable, "-c", SAVING, str(pickled), str(path)], stdout=subprocess.PIPE, start_new_session=True
        )
        process.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.3))
        assert process.poll() is None, "the process that saves has ended by itself"
        kill(process)
        found[whose(path, answers, X)] += 1
    left = len([one for one in folder.iterdir() if one.name.endswith(".tmp")])
    print(f"{n} kills during save: {found['torn']} torn; {found[0]} old, {found[1]} new; {left} temporary files left")
    return found["torn"]


def whose(path, answers, X):
    """Which model the file has."""
    try:
        scores = load_model(path).decision_function(X)
    except (DualBoostError, OSError):
        return "torn"
    return next((k for k, one in enumerate(answers) if np.allclose(one, scores)), "torn")


def interrupted_fits(kind, n):
    """Interrupt fits at n random points, and by n signals."""
    refitted, rng = Refitted(kind), np.random.default_rng(0)
    started_at = time.perf_counter()
    refitted.fitted(refitted.new_X, refitted.new_y)
    seconds, n_events = time.perf_counter() - started_at, refitted.n_events()
    found = Counter(refitted.interrupted(at_event(int(k))) for k in rng.integers(1, n_events, n))
    found += Counter(refitted.interrupted(after_seconds(s)) for s in rng.uniform(1e-4, seconds, n))
    wrong = {what: times for what, times in found.items() if what not in ("old", "new")}
    counts = f"{found['old']} old, {found['new']} new, {sum(wrong.values())} half-fitted"
    print(f"{2 * n} interrupts of fit, {kind}: {counts} {wrong or ''}", flush=True)
    return sum(wrong.values())


if __name__ == "__main__":
    main()
