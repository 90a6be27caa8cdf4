"""Rules that stop a fit before the optimum is reached, each asked after every iteration.

How long a fit may take is no such rule, since it holds for all that a fit does (``deadlines.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .history import Iteration


class StoppingRule(Protocol):
    """Answers with a stop reason, or None to go on."""

    def reason(self, iteration: Iteration) -> str | None: ...


class NoImprovement:
    """Stops when the validation score has not risen for ``patience`` iterations; where none was computed, goes on."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._best = -np.inf
        self._best_iteration = 0

    def reason(self, iteration: Iteration) -> str | None:
        if iteration.validation_score > self._best:
            self._best, self._best_iteration = iteration.validation_score, iteration.iteration
        if np.isnan(iteration.validation_score):
            return None
        waited = iteration.iteration - self._best_iteration
        return "no_improvement" if waited >= self._patience else None


class Callbacks:
    """Hands every iteration to the user's functions, as an observer; stops once one of them has returned True."""

    def __init__(self, functions: Sequence[Callable[[Iteration], Any]]) -> None:
        self._functions = functions
        self._asked_to_stop = False

    def __call__(self, iteration: Iteration) -> None:
        answers = [function(iteration) for function in self._functions]
        self._asked_to_stop |= any(isinstance(answer, (bool, np.bool_)) and bool(answer) for answer in answers)

    def reason(self, iteration: Iteration) -> str | None:
        return "callback" if self._asked_to_stop else None
