"""Faults while a fitted model is fitted anew: afterwards the old model is there whole, or the new one is."""

import sys
import warnings
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import lightgbm
import numpy as np

from dualboost.errors import DualBoostError
from dualboost.solvers import SOLVERS, Candidate, crossover
from dualboost.solvers import references as highs

from ..interrupts import after_seconds, at_event
from .sane import answers_of, require, require_same, require_sane

FAULTS = ("interrupt", "signal", "memory", "solvers raise", "solvers lose numbers", "crossover", "highs", "grower")
LAST = ("n_features_in_", "weights_", "duals_", "objective_", "gap_", "stop_reason_")


@contextmanager
def no_memory_at(number):
    """A ``MemoryError`` at that call or return of a function, and at no later one."""
    left = [number]

    def count(frame, event, argument):
        left[0] -= 1
        if left[0] == 0:
            raise MemoryError("no memory is left")

    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(None)


def _raise(*arguments, **options):
    raise RuntimeError("the solver broke")


def _without_numbers(found):
    return Candidate(*(np.nan * part for part in found))


@contextmanager
def failing_masters(spoil, n_good):
    """Every master solves ``n_good`` programmes, and spoils what it finds from then on."""
    n_solved = []
    with ExitStack() as stack:
        for solver in SOLVERS.values():

            def solve(self, *arguments, usual=solver.solve):
                found = usual(self, *arguments)
                n_solved.append(1)
                return found if len(n_solved) <= n_good else spoil(found)

            stack.enter_context(patch.object(solver, "solve", solve))
        yield


@contextmanager
def failing_grower(n_good):
    """LightGBM grows so many trees, and then raises its own error."""
    update, n_left = lightgbm.Booster.update, iter(range(n_good))

    def failing_at_last(booster, *arguments, **options):
        if next(n_left, None) is None:
            raise lightgbm.basic.LightGBMError("no tree can be grown")
        return update(booster, *arguments, **options)

    with patch.object(lightgbm.Booster, "update", failing_at_last):
        yield


def fault_of(name, when):
    """The context in which the fault of that name comes; ``when`` is from 0, at once, to 1, late."""
    return {
        "interrupt": lambda: at_event(1 + int(when**3 * 300_000)),
        "signal": lambda: after_seconds(1e-4 + when**2),
        "memory": lambda: no_memory_at(1 + int(when**3 * 300_000)),
        "solvers raise": lambda: failing_masters(_raise, int(20 * when)),
        "solvers lose numbers": lambda: failing_masters(_without_numbers, int(20 * when)),
        "crossover": lambda: patch.object(crossover, "run", _raise),
        "highs": lambda: patch.object(highs, "run", _raise),
        "grower": lambda: failing_grower(int(15 * when)),
    }[name]()


EXPECTED = {"interrupt": KeyboardInterrupt, "signal": KeyboardInterrupt, "memory": MemoryError}
"""What may come out of a fit with such a fault, beside errors of ours."""


def require_whole_after(case, model, other):
    """A refit to another case under a fault; returns whether it was refused."""
    was, answers = [getattr(model, name) for name in LAST], answers_of(model, case.X())
    fitted, refused = model._fitted, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            X, y, weights = other.X(), other.target(), other.sample_weight()
            with fault_of(case.more["fault"], case.more["when"]):
                model.fit(X, y, weights)
        refused = False
    except DualBoostError:
        pass
    except (KeyboardInterrupt, MemoryError) as raised:
        require(isinstance(raised, EXPECTED.get(case.more["fault"], ())), "raised", repr(raised))
    if model._fitted is fitted:
        require(refused, "no error, and yet the old model")
        require_same(answers_of(model, case.X()), answers, "the old model")
        require(all(map(np.array_equal, [getattr(model, name) for name in LAST], was)), "the old model has changed")
    else:
        require_sane(model, other)
    return refused
