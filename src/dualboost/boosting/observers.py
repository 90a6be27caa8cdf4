"""Stopping rules, progress bars and logs."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from ..arguments import how_to_install
from ..errors import MissingDependencyWarning
from ..escaping import printable
from ..formulations.base import Formulation
from ..matrix.rows import Rows
from ..workers import Traffic
from .history import Iteration, Trace


class StoppingRule(Protocol):
    """Ends a loop; the time limit is no such rule, since it holds for all parts of a fit (``deadlines.py``)."""

    def reason(self, iteration: Iteration) -> str | None:
        """The reason to stop; None to go on."""


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
    """An observer that calls the user's functions after every iteration; stops once one of them has returned True."""

    def __init__(self, functions: Sequence[Callable[[Iteration], Any]]) -> None:
        self._functions = functions
        self._must_stop = False

    def __call__(self, iteration: Iteration) -> None:
        returned = [function(iteration) for function in self._functions]
        self._must_stop |= any(isinstance(value, (bool, np.bool_)) and bool(value) for value in returned)

    def reason(self, iteration: Iteration) -> str | None:
        return "callback" if self._must_stop else None


class ProgressBar:
    """An observer of the loop; use as a context manager."""

    def __init__(self, total: int | None, enabled: bool, unit: str = "tree") -> None:
        self._bar: Any = None
        if not enabled:
            return
        try:
            from tqdm import tqdm
        except ImportError:
            warnings.warn(
                f"verbose=1 shows a progress bar if tqdm is installed: {how_to_install('tqdm')}.",
                MissingDependencyWarning,
                stacklevel=4,
            )
            return
        self._bar = tqdm(total=total, unit=unit, disable=None)

    def __call__(self, iteration: Iteration) -> None:
        figures = {"objective": f"{iteration.objective:.5g}", "gap": f"{iteration.gap:.0e}"}
        figures["accuracy"] = f"{iteration.train_score:.3f}"
        if iteration.validation_score == iteration.validation_score:
            figures["validation"] = f"{iteration.validation_score:.3f}"
        self.advance(**figures)

    def advance(self, **figures: object) -> None:
        """Move the bar by one unit and show the figures next to it."""
        if self._bar is not None:
            self._bar.set_postfix(figures, refresh=False)
            self._bar.update()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


logger = logging.getLogger("dualboost")
logger.addHandler(logging.NullHandler())


def log_start(formulation: Formulation, rows: Rows, max_trees: int) -> None:
    logger.info(
        "fit of %s with C=%.6g: %d distinct rows, at most %d trees",
        formulation.name,
        formulation.C,
        rows.n_all_data,
        max_trees,
    )


def log_iteration(iteration: Iteration) -> None:
    """An observer of the loop."""
    logger.debug(
        "iteration %d: objective %.6g, gap %.1e, edge %.6g, accuracy %.4f, %d trees used",
        iteration.iteration,
        iteration.objective,
        iteration.gap,
        iteration.edge,
        iteration.train_score,
        iteration.n_trees,
    )


def log_end(trace: Trace) -> None:
    logger.info(
        "fit ended (%s): objective %.6g, gap %.1e, %d of %d trees used",
        trace.stop_reason,
        trace.result.objective,
        trace.result.gap,
        trace.result.n_trees,
        trace.n_generated,
    )


def log_traffic(traffic: Traffic) -> None:
    """Log the messages that this worker has sent, if there are others."""
    if traffic.n_messages:
        logger.info("%d messages of %d bytes in all were sent to other workers", traffic.n_messages, traffic.n_bytes)


def log_choice(C: float, n_values: int, score: float) -> None:
    logger.info("C=%.6g chosen of %d values, with a score of %.4f on held-out rows", C, n_values, score)


def log_no_twins(error: Exception) -> None:
    reason = printable(str(error))
    logger.info("probabilities are fitted to the training rows, as no half of them can be trained on: %s", reason)
