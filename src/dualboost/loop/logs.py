"""The logger "dualboost": silent unless the program that uses the library sets it up."""

from __future__ import annotations

import logging

from ..algebra.rows import Rows
from ..escaping import printable
from ..formulations.base import Formulation
from ..workers import Traffic
from .history import Iteration, Trace

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
        iteration.train_accuracy,
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
    """What this worker has sent, if there are others."""
    if traffic.n_messages:
        logger.info("%d messages of %d bytes in all were sent to other workers", traffic.n_messages, traffic.n_bytes)


def log_choice(C: float, n_values: int, score: float) -> None:
    logger.info("C=%.6g chosen of %d values, with a score of %.4f on held-out rows", C, n_values, score)


def log_no_twins(error: Exception) -> None:
    reason = printable(str(error))
    logger.info("probabilities are fitted to the training rows, as no half of them can be trained on: %s", reason)
