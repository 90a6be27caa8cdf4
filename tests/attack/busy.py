"""Fits beside processes that spin: with a time limit they end with a whole model; threads change no bit."""

import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import psutil
from joblib import cpu_count

from dualboost.errors import DualBoostError

from .drawing import random_case
from .sane import answers_of, require, require_same, require_sane

SPIN = "while True: pass"
THREADS = (1, 2, 5)
SLACK_FACTOR, SLACK_SECONDS = 10.0, 5.0
"""By how much a fit may exceed its limit on a machine that has other work: only a fit that hangs does so."""


def draw_busy(seed):
    """A case with or without a time limit; those with one are compared with nothing, as their time decides."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, 120)
    options = {name: source for name, source in case.options.items() if name != "n_jobs"}
    case = replace(case, options={"random_state": "0"} | options)
    if rng.random() < 0.5:
        return case
    options = case.options | {"max_trees": "300", "time_limit": repr(round(float(rng.uniform(0.05, 2.0) ** 2 / 2), 3))}
    return replace(case, options=options)


@contextmanager
def busy_processors():
    """A process that spins on every processor."""
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(cpu_count())]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def require_timely_and_same(case):
    """Returns whether the case was refused."""
    with busy_processors():
        limit = case.options.get("time_limit")
        return _is_refused(case, float(limit)) if limit else _differs_in_no_bit(case)


def _is_refused(case, limit):
    started = time.monotonic()
    try:
        model = case.fit()
    except DualBoostError:
        return True
    took = time.monotonic() - started
    require_sane(model, case)
    tol = model.get_params()["tol"]
    ended = model.gap_ <= tol or model.stop_reason_ in ("time_limit", "solver_failed")
    require(ended, "a gap of", model.gap_, "and", model.stop_reason_)
    require(took <= SLACK_FACTOR * limit + SLACK_SECONDS, took, "seconds for a limit of", limit)
    return False


def _differs_in_no_bit(case):
    found, before = [], 0
    for n_jobs in THREADS:
        try:
            model = case.fit(case.model().set_params(n_jobs=n_jobs))
        except DualBoostError as error:
            found.append(str(error))
            continue
        n_running = psutil.Process().num_threads()
        n_started = n_running - before if n_jobs > 1 else 0
        require(n_started <= 0, n_started, "threads were started for little work")
        before = n_running
        require_sane(model, case)
        answers = answers_of(model, case.X()) | {"weights": model.weights_, "gap": np.array(model.gap_)}
        found.append(answers)
    for other in found[1:]:
        require(isinstance(other, str) == isinstance(found[0], str), "refused on some numbers of threads only")
        if not isinstance(other, str):
            require_same(other, found[0], "another number of threads")
    return isinstance(found[0], str)
