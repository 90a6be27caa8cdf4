"""Makes the fitted model from what the loop found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Vector
from ..data.features import has_missing
from ..data.merging import TrainingRows
from ..loop.history import Trace
from ..models.ensemble import Ensemble, WeightStages
from ..models.fitted import FitFigures, FittedModel, Tuning
from ..models.marginals import Marginal, has_small_parts, marginals_of
from ..models.vector_ensemble import VectorEnsemble
from ..trees.learner import Learner
from ..trees.pruning import pruned
from ..trees.tree import Tree
from ..workers import Communicator
from .answers import warn_of_answers
from .calibrating import calibration_of
from .problem import Problem
from .reading import TrainingSet


def conclude(problem: Problem, trace: Trace, tuning: Tuning | None, n_jobs: int) -> FittedModel:
    """The ensemble that the loop kept, with its calibration and all figures of the fit."""
    data, rows, wiring = problem.training_set, problem.rows, problem.wiring
    weights = trace.final_weights()
    baseline = data.task.baseline(wiring.targets, wiring.rows)
    learners = _finished(trace, weights, rows, not wiring.columns.sides.read_splits, data.workers)
    kind = Ensemble if data.task.n_outputs == 1 else VectorEnsemble
    ensemble = kind(
        learners,
        weights,
        baseline,
        rows.X.shape[1],
        n_jobs,
        intercept=trace.intercept if data.task.n_outputs == 1 else trace.intercept + np.zeros(data.task.n_outputs),
        is_normalised=wiring.has_normalised_scores,
    )
    model = FittedModel(
        task=data.task,
        encoder=data.encoder,
        ensemble=ensemble,
        calibration=calibration_of(problem, trace, ensemble),
        formulation=wiring.formulation,
        figures=_figures(trace),
        history=trace.history(),
        feature_names=data.feature_names,
        has_missing=data.workers.max(has_missing(rows.X).astype(float)) > 0,
        duals=_duals(problem, trace) if data.workers.size == 1 else None,
        stages=trace.leaf_stages() or WeightStages(trace.weights, trace.intercepts),
        tuning=tuning,
        marginals=_marginals(learners, weights, rows, data),
    )
    warn_of_answers(model, problem)
    return model


def _duals(problem: Problem, trace: Trace) -> Vector:
    """What the duals say of each row of the training data, in memory."""
    of_rows = problem.wiring.duals_of_rows(trace.duals)
    return problem.rows.spread(problem.wiring.rows.host(of_rows))


def _marginals(
    learners: Sequence[Learner], weights: Vector, rows: TrainingRows, data: TrainingSet
) -> dict[int, Marginal] | None:
    """How the rows are distributed over the features of an ensemble that is a sum of small parts; else None."""
    used = [learner for learner, weight in zip(learners, weights, strict=True) if weight]
    trees = [learner for learner in used if isinstance(learner, Tree)]
    if len(trees) < len(used) or not has_small_parts(trees):
        return None
    n_codes = {feature: len(known) for feature, known in data.encoder.categories.items()}
    return marginals_of(trees, rows.X, rows.counts, n_codes, data.workers)


def _finished(
    trace: Trace, weights: Vector, rows: TrainingRows, can_prune: bool, workers: Communicator
) -> list[Learner]:
    """The learners; trees with a weight are pruned, and record how many training rows fall into each leaf.

    Where the programme depends on the splits of a tree, they stay: else it would not be the tree of its column.
    """
    return [
        (pruned(learner) if can_prune else learner).with_covers(rows.X, rows.counts, workers)
        if weight and isinstance(learner, Tree)
        else learner
        for learner, weight in zip(trace.learners, weights, strict=True)
    ]


def _figures(trace: Trace) -> FitFigures:
    result = trace.result
    return FitFigures(
        objective=result.objective + 0.0,  # turns -0.0 into 0.0
        gap=result.gap,
        bound=float(result.bound) if np.isfinite(result.bound) else None,
        certified=trace.certified,
        stop_reason=trace.stop_reason,
        n_trees=result.n_trees,
        n_generated=trace.n_generated,
        n_iterations=len(trace.iterations),
    )
