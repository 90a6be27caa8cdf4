"""From what the loop found to the fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..data.features import has_missing
from ..data.merging import TrainingRows
from ..formulations import Formulation
from ..loop.held_out import HeldOut
from ..loop.history import Trace
from ..models.ensemble import Ensemble
from ..models.fitted import FitFigures, FittedModel, Tuning
from ..pricing.base import Learner
from ..trees.tree import Tree
from .reading import TrainingSet


@dataclass(frozen=True, eq=False)
class Problem:
    """What the loop is to solve: a formulation with its C, the rows it is trained on and those it is validated on."""

    training_set: TrainingSet
    formulation: Formulation
    rows: TrainingRows
    columns: Columns
    held_out: HeldOut | None


def conclude(problem: Problem, trace: Trace, tuning: Tuning | None, n_jobs: int) -> FittedModel:
    """The ensemble that the loop kept, with probabilities and all that is known of it."""
    data, rows = problem.training_set, problem.rows
    weights = trace.final_weights()
    baseline = data.task.baseline(rows.labels, rows.counts)
    learners = _with_covers(trace, weights, rows)
    ensemble = Ensemble(learners, weights, baseline, rows.X.shape[1], n_jobs)
    return FittedModel(
        task=data.task,
        encoder=data.encoder,
        ensemble=ensemble,
        calibration=_calibration(problem, ensemble),
        formulation=problem.formulation,
        figures=_figures(trace),
        history=trace.history(),
        feature_names=data.feature_names,
        has_missing=has_missing(rows.X),
        duals=rows.spread(problem.columns.seen(trace.sample_weights)),
        stages=trace.weights,
        tuning=tuning,
    )


def _with_covers(trace: Trace, weights: Vector, rows: TrainingRows) -> list[Learner]:
    """The learners; trees that are used know how many training rows fall into each leaf."""
    return [
        learner.with_covers(rows.X, rows.counts) if weight and isinstance(learner, Tree) else learner
        for learner, weight in zip(trace.learners, weights, strict=True)
    ]


def _figures(trace: Trace) -> FitFigures:
    result = trace.result
    return FitFigures(
        objective=result.objective + 0.0,  # not the negative zero
        gap=result.gap,
        bound=float(result.bound) if np.isfinite(result.bound) else None,
        certified=trace.certified,
        stop_reason=trace.stop_reason,
        n_trees=result.n_trees,
        n_generated=len(trace.learners),
        n_iterations=len(trace.iterations),
    )


def _calibration(problem: Problem, ensemble: Ensemble) -> Any:
    """Fitted to the rows held out, or else to those of training."""
    task, rows, columns, held_out = problem.training_set.task, problem.rows, problem.columns, problem.held_out
    if held_out is not None:
        return task.calibrate(ensemble.decide(held_out.X), held_out.labels, held_out.counts)
    margins = columns.margins(ensemble.weights[: columns.n_columns])[: columns.n_data]
    scores = ensemble.from_scores(task.operator(rows.labels).scores(margins))
    return task.calibrate(scores, rows.labels, rows.counts)
