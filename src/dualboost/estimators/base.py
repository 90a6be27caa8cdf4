"""The fit of every estimator: from arguments and data to a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..arguments import seed_of
from ..boosting.context import FitContext, make_fit_context
from ..boosting.history import HeldOut, Trace
from ..boosting.leaf_context import LeafFitContext, RowSamples, make_leaf_fit_context, share_of_rows
from ..boosting.observers import (
    Callbacks,
    NoImprovement,
    ProgressBar,
    StoppingRule,
    log_end,
    log_iteration,
    log_start,
    log_traffic,
)
from ..boosting.paths import ON_PATH, generate
from ..data.features import has_missing
from ..data.merging import TrainingRows, hold_out, merge_rows
from ..deadlines import share_of_time, time_limit
from ..errors import InvalidParameterError
from ..formulations import Formulation
from ..learners import PricingContext, TrainingData, affordable_depth, as_alone, make_grower, make_pool, makes_trees
from ..learners.base import remove_record
from ..matrix.columns import Columns
from ..matrix.remote_rows import spread
from ..matrix.rows import available_threads, one_blas_thread
from ..models.ensemble import Ensemble, WeightStages
from ..models.fitted import FitFigures, FittedModel, Tuning
from ..models.tree_sum import Marginal, has_small_parts, marginals_of
from ..solvers import Precision, SolverOptions
from ..targets import Target, TargetReader
from ..targets.scoring import Scoring, make_scoring, require_for_task
from ..trees.tree import Learner, Tree, pruned
from ..workers import ALONE, Communicator
from .attributes import FittedAttributes
from .calibrating import calibration_of
from .diagnostics import warn_if_cut_short, warn_if_degenerate, warn_of_poor_fit
from .limits import limits_of
from .modes import earlier_fit, find_device, on_disk, require_mode, rows_for, tree_record
from .parameters import DEFAULT_SIZES, EnsembleSize, as_callbacks, check_common
from .reading import FitContextMaker, Problem, TrainingSet, as_evaluation_set, known_to_all, read_training_set


def conclude(problem: Problem, trace: Trace, tuning: Tuning | None, n_jobs: int) -> FittedModel:
    """The fitted model, given the trace of the loop."""
    data, rows, fit_context = problem.training_set, problem.rows, problem.fit_context
    weights = trace.final_weights()
    baseline = data.target.baseline(fit_context.targets, fit_context.rows)
    learners = _finished(trace, weights, rows, not fit_context.columns.sides.read_splits, data.workers)
    is_alone = data.workers.size == 1
    ensemble = Ensemble(
        learners,
        weights,
        baseline,
        rows.X.shape[1],
        n_jobs,
        intercept=trace.intercept if data.target.n_outputs == 1 else trace.intercept + np.zeros(data.target.n_outputs),
        is_normalised=fit_context.has_normalised_scores,
    )
    model = FittedModel(
        target=data.target,
        encoder=data.encoder,
        ensemble=ensemble,
        calibration=calibration_of(problem, trace, ensemble),
        formulation=fit_context.formulation,
        figures=_figures(trace),
        history=trace.history(),
        feature_names=data.feature_names,
        has_missing=data.workers.max(has_missing(rows.X).astype(float)) > 0,
        duals=rows.spread(fit_context.rows.host(fit_context.duals_of_rows(trace.duals))) if is_alone else None,
        stages=trace.leaf_stages() or WeightStages(trace.weights, trace.intercepts),
        tuning=tuning,
        marginals=_marginals(learners, weights, rows, data),
    )
    warn_of_poor_fit(model, problem)
    return model


def _marginals(
    learners: Sequence[Learner], weights: Vector, rows: TrainingRows, data: TrainingSet
) -> dict[int, Marginal] | None:
    """The distribution of the rows over the features of a sum of small parts; None for other ensembles."""
    used = [learner for learner, weight in zip(learners, weights, strict=True) if weight]
    trees = [learner for learner in used if isinstance(learner, Tree)]
    if len(trees) < len(used) or not has_small_parts(trees):
        return None
    n_codes = {feature: len(known) for feature, known in data.encoder.categories.items()}
    return marginals_of(trees, rows.X, rows.counts, n_codes, data.workers)


def _finished(
    trace: Trace, weights: Vector, rows: TrainingRows, can_prune: bool, workers: Communicator
) -> list[Learner]:
    """The learners; trees with a weight are pruned and get the number of training rows of each leaf.

    Trees are not pruned if the programme depends on their splits.
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


Estimator = TypeVar("Estimator", bound="Boosting")

FITTING, FITTING_BEFORE_TWINS = 0.9, 0.6
"""The share of the time for the ensemble; the rest is for its calibration, by twins or not, and its figures."""
DEFAULT_SHARE = 0.1
"""The share of rows held out for early stopping if no share is given."""


class Boosting(FittedAttributes):
    """``fit`` of an estimator with these parameters."""

    learner: Any
    max_depth: int | None
    max_trees: int | None
    max_leaf_nodes: int | None
    min_samples_leaf: Any
    max_features: Any
    subsample: float | None
    monotonic_cst: Any
    interaction_cst: Any
    optimize: str | None
    solver: SolverOptions | None
    categorical_features: Any
    tol: float
    n_jobs: int | None
    device: str
    random_state: Any
    validation_fraction: Any
    n_iter_no_change: int | None
    scoring: Any
    calibration: str
    time_limit: float | None
    verbose: int
    callbacks: Any
    class_weight: Any = None
    warm_start: bool = False
    epsilon: float | None = None

    def _target_readers(self) -> Sequence[TargetReader]:
        """The target classes of the estimator; the first one that takes y reads it."""
        raise NotImplementedError

    def _made_formulation(self, C: float | None = None) -> Formulation:
        """The formulation of the arguments; C replaces their own."""
        raise NotImplementedError

    def _scoring(self) -> Scoring:
        return make_scoring(self.scoring)

    def _require_formulation_for(self, target: Target, formulation: Formulation) -> None:
        """Refuse a formulation that cannot learn the target."""

    def fit(
        self: Estimator,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        eval_metric: Any = None,
    ) -> Estimator:
        """Train on X and y; ``sample_weight`` are multiplicities: 2 counts as the row twice.

        ``eval_set=(X_val, y_val)``, or ``(X_val, y_val, sample_weight)``, are rows to score every iteration on, in
        place of ``validation_fraction``: for ``history_["validation_score"]``, for ``n_iter_no_change``, and to
        calibrate probabilities on. Estimators that choose C compare its values by them, in place of folds. The score is
        ``eval_metric``, given as ``scoring`` is, or else ``scoring``.
        """
        self._check_parameters()
        find_device(self)  # a missing GPU is an error before any work is done
        evaluation_set = as_evaluation_set(eval_set, eval_metric)
        self._require_rows_to_score(evaluation_set is not None)
        with time_limit(self.time_limit):
            data = self._read(X, y, sample_weight)
            if evaluation_set is not None:
                data = replace(data, evaluation=evaluation_set.read(self, data, self._scoring()))
            self._fitted = self._fitted_to(data)
        return self

    def _read(self, X: Any, y: Any, sample_weight: Any, workers: Communicator = ALONE) -> TrainingSet:
        return read_training_set(
            self, self._target_readers(), on_disk(self, X), y, sample_weight, self._rows_aside, workers
        )

    def _rows_aside(self, weights: Vector) -> Integers | None:
        """The positions of the rows that the fit does not use, given all multiplicities; None if it uses all."""
        return None

    def _fitted_to(self, training_set: TrainingSet) -> FittedModel:
        formulation, tuning = self._choose_formulation(training_set)
        problem = self._pose(training_set, formulation)
        most = tuning.max_trees if tuning is not None else None
        with share_of_time(FITTING_BEFORE_TWINS if problem.has_twins else FITTING):
            trace = self._generate(problem, most or self._size(formulation).trees)
        warn_if_cut_short(trace, self.tol, self.time_limit)
        fitted = conclude(problem, trace, tuning, available_threads(self.n_jobs))
        warn_if_degenerate(fitted, problem.fit_context)
        return fitted

    def _choose_formulation(self, data: TrainingSet) -> tuple[Formulation, Tuning | None]:
        return self._made_formulation(), None

    def _pose(self, data: TrainingSet, formulation: Formulation) -> Problem:
        held_out, training_weights = self._hold_out(data)
        rows = self._rows(data, training_weights)
        fit_context = self._make_fit_context(data, rows, formulation, Precision(self.tol))
        return Problem(data, rows, fit_context, held_out, self._fit_context_maker(data, fit_context.formulation))

    def _fit_context_maker(self, data: TrainingSet, formulation: Formulation) -> FitContextMaker | None:
        """A function that makes the fit context of other rows, if twins calibrate probabilities; else None."""
        if self.calibration == "training":
            return None
        if data.workers.size == 1:
            return lambda rows: self._make_fit_context(data, rows, formulation, ON_PATH)
        # Each worker fits the same rows without the others. XGBoost would grow trees over all workers.
        alone, twin = (
            replace(data, workers=ALONE, checkpoint=None),
            clone(self).set_params(learner=as_alone(self.learner)),
        )
        return lambda rows: twin._make_fit_context(alone, rows, formulation, ON_PATH)

    def _make_fit_context(
        self, data: TrainingSet, rows: TrainingRows, formulation: Formulation, precision: Precision
    ) -> FitContext | LeafFitContext:
        """The fit context of these rows."""
        self._require_formulation_for(data.target, formulation)
        solver = self.solver or SolverOptions()
        threads = available_threads(self.n_jobs)
        algebra = spread(data.target.rows(rows.targets, rows.counts, threads, rows.rows_each), data.workers, rows.keys)
        algebra = rows_for(self, data.target, algebra)
        targets = algebra.put(rows.targets)
        merged = (rows.rows_each, rows.n_each)
        record = tree_record(self, data, rows)
        training_data = TrainingData(
            rows.X, sorted(data.encoder.categories), *merged, data.workers, record, algebra.device
        )
        size, corrected = self._size(formulation), self._optimized(formulation)
        if corrected == "weights":
            require_mode("weights", self)
        seed = seed_of(self.random_state) if corrected == "leaves" else 0
        context = PricingContext(
            size.depth,
            threads,
            n_outputs=data.target.n_outputs,
            leave_out_zeros=solver.active_rows is not None,
            limits=limits_of(self, data, rows, seed),
        )
        if corrected == "leaves":
            grower = make_grower(self.learner, training_data, context)
            n_leaves = size.trees * min(2.0**size.depth, self.max_leaf_nodes or np.inf)
            share = self.subsample or share_of_rows(n_leaves, algebra.n_all_data, data.target.n_outputs)
            samples = RowSamples(rows.keys, share, seed)
            leaf_parts = (data.target, targets, formulation, algebra, solver, precision, grower, samples)
            return make_leaf_fit_context(*leaf_parts, signs=context.limits.signs)
        sides = formulation.side_rows(algebra, rows.X.shape[1])
        of_A = data.target.operator(targets).rows_of_A(algebra)
        columns = Columns(of_A, capacity=min(size.trees, 128), sides=sides)
        pool = make_pool(self.learner, training_data, context, rotate=solver.schedule == "rotate")
        parts = (data.target, targets, formulation, columns, solver, precision, pool)
        return make_fit_context(
            *parts, has_intercept=formulation.has_intercept, rows=algebra if of_A is not algebra else None
        )

    def _size(self, formulation: Formulation) -> EnsembleSize:
        default = DEFAULT_SIZES[self._optimized(formulation)]
        depth = self.max_depth or affordable_depth(self.learner, default.depth)
        return EnsembleSize(depth, self.max_trees or default.trees)

    def _optimized(self, formulation: Formulation) -> str:
        """Either "leaves", only if all learners grow trees, or "weights"."""
        if self.optimize is not None:
            return self.optimize
        return formulation.optimize if makes_trees(self.learner) else "weights"

    def _rows(self, data: TrainingSet, weights: Vector) -> TrainingRows:
        rows = merge_rows(data.features, data.targets, weights, data.numbers, data.workers)
        data.target.require_fold(known_to_all(data.workers, rows.targets))
        return rows

    def _hold_out(self, data: TrainingSet) -> tuple[HeldOut | None, Vector]:
        """The rows to validate on, if any, and the multiplicities of all rows, with zeros for those held out."""
        if data.evaluation is not None:
            return data.evaluation, data.weights
        share = self._held_out_share()
        if share is None:
            return None, data.weights
        strata, rng = data.target.groups(data.targets), check_random_state(self.random_state)
        held = hold_out(strata, data.weights, share, rng)
        training_weights = data.weights.copy()
        training_weights[held] = 0.0
        scoring = require_for_task(self._scoring(), data.target)
        return data.held_out(held, scoring), training_weights

    def fit_part(
        self, X: Any, y: Any, sample_weight: Any, workers: Communicator, checkpoint: str | None = None
    ) -> FittedModel:
        """The model of the rows of all workers; each worker calls this with its own rows. The estimator is unchanged.

        ``checkpoint`` is a folder for trees until the fit is complete: the next fit continues with them.
        """
        self._check_parameters()
        require_mode("workers", self)
        with time_limit(self.time_limit):
            fitted = self._fitted_to(replace(self._read(X, y, sample_weight, workers), checkpoint=checkpoint))
        remove_record(checkpoint, workers)
        return fitted

    def _generate(self, problem: Problem, max_trees: int) -> Trace:
        fit_context, patience = problem.fit_context, self._patience()
        callbacks = Callbacks(as_callbacks(self.callbacks))
        stopping: list[StoppingRule] = [callbacks] if patience is None else [callbacks, NoImprovement(patience)]
        log_start(fit_context.formulation, fit_context.columns.rows, max_trees)
        with one_blas_thread(), ProgressBar(max_trees, enabled=self.verbose > 0) as progress:
            trace = generate(
                fit_context,
                max_trees,
                earlier_fit(self, problem, max_trees),
                held_out=problem.held_out,
                keep_best=patience is not None,
                is_last=True,
                stopping=stopping,
                observers=[progress, log_iteration, callbacks],
            )
        log_end(trace)
        log_traffic(fit_context.rows.workers.traffic)
        return trace

    def _patience(self) -> int | None:
        """The number of iterations without a better validation score that ends the fit; None for no limit."""
        return self.n_iter_no_change

    def _held_out_share(self) -> float | None:
        return DEFAULT_SHARE if self.validation_fraction is None and self._patience() else self.validation_fraction

    def _check_parameters(self) -> None:
        check_common(self)
        self._made_formulation()

    def _require_rows_to_score(self, has_evaluation_set: bool) -> None:
        """Refuse two sources of rows to score, and a score without such rows."""
        if has_evaluation_set and self.validation_fraction is not None:
            raise InvalidParameterError(
                f"validation_fraction={self.validation_fraction!r} holds rows out, but eval_set is given too: leave "
                "one of them out."
            )
        if not has_evaluation_set and self._held_out_share() is None and self.scoring is not None:
            raise InvalidParameterError(
                f"scoring={self.scoring!r} needs rows to score: set validation_fraction, for example to 0.1, or "
                "pass eval_set to fit."
            )
