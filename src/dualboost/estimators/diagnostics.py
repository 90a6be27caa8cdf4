"""Warnings about ensembles that are optimal but of little use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Scores, Vector
from ..arguments import warn_user
from ..boosting.context import FitContext
from ..boosting.history import Trace
from ..boosting.leaf_context import LeafFitContext
from ..boosting.paths import PathPoint
from ..errors import (
    ConstantPredictionWarning,
    DegenerateEnsembleWarning,
    DualBoostWarning,
    InterruptedFitWarning,
    SolverWarning,
    TiedEnsembleWarning,
)
from ..formulations import Formulation
from ..matrix.columns import Columns
from ..matrix.rows import Rows
from ..models.fitted import FittedModel
from ..targets.classes import TIE
from ..trees.tree import Learner, Tree
from .reading import Problem

MOST_TIED = 0.5
"""The largest share of training rows with a score of zero that gives no warning about ties."""
MUCH_WORSE = 0.02
"""How far accuracy, and the log loss relative to its size, may be behind the class balance."""
NEGLIGIBLE = 0.05
"""Predictions are nearly constant if the number of rows predicted to be of other classes than the most frequent one is
below this share of the rows of other classes."""
FEW_OF = (2, 10)
"""An ensemble of up to so many trees, of at least so many generated, is compared with the ensembles before it."""
LOST = 0.005
"""How far its accuracy may be behind theirs."""
BALANCE = "Where a class is rare, class_weight='balanced' helps."
SAME_Y = "y is the same in all rows, to the digits that a fit sees, so every row gets the same prediction."
ROUNDING = 1e-9
"""Targets are constant if they differ from their mean by no more than this."""
FLAT = 1e-3
"""Predictions of numbers are nearly constant if they differ by less than this, in deviations of y."""


@dataclass(frozen=True, eq=False)
class TrainingFit:
    """The scores of the training rows, and statistics weighted by multiplicity."""

    scores: Scores
    accuracy: float
    log_loss: float
    balance: Vector
    """The share of each class."""
    leading: Any
    """The class with most predictions."""
    others: float
    """The share of the rows for which another class is predicted."""
    of_others: float
    """The share of the rows of other classes."""

    @classmethod
    def of(cls, model: FittedModel, problem: Problem) -> TrainingFit:
        target: Any = model.target
        rows, targets = problem.fit_context.rows, problem.rows.targets
        scores = model.scores(problem.rows.X)
        groups = target.groups(targets)
        assert groups is not None, "the target has classes"
        right = np.take_along_axis(target.probabilities(scores, model.calibration), groups[:, None], axis=1)[:, 0]
        of_rows = rows.put(np.log(np.maximum(right, np.finfo(float).tiny)))
        log_loss = -rows.dot(of_rows, rows.counts) / rows.n_samples
        predicted = target.decode(scores)
        leading = max(target.classes, key=lambda label: rows.total(rows.counts * rows.put(predicted == label)))
        others, of_others = (
            rows.total(rows.counts * rows.put(labels != leading)) / rows.n_samples
            for labels in (predicted, target.labels(targets))
        )
        balance = rows.totals_of_groups / rows.n_samples
        quality = target.quality(rows.put(scores), problem.fit_context.targets, rows)
        return cls(scores, quality, log_loss, balance, np.asarray(leading).item(), others, of_others)

    @property
    def is_constant(self) -> bool:
        """Whether other classes are predicted for hardly any row."""
        return self.others < NEGLIGIBLE * self.of_others

    @property
    def is_flat(self) -> bool:
        """Whether every row has the same score."""
        return bool((np.ptp(self.scores, axis=0) <= 1e-12 * np.abs(self.scores).max()).all())

    @property
    def leads(self) -> Vector:
        """The difference between the largest score of each row and the second one."""
        if self.scores.ndim == 1:
            return np.abs(self.scores)
        second, first = np.sort(self.scores, axis=1)[:, -2:].T
        return np.asarray(first - second)

    @property
    def entropy(self) -> float:
        """The log loss of the class balance."""
        shares = self.balance[self.balance > 0]
        return float(-(shares * np.log(shares)).sum())


def warn_of_poor_fit(model: FittedModel, problem: Problem) -> None:
    """Warn once if the model is of little use on its training rows; empty ensembles and ties have other warnings."""
    if not model.target.has_classes or not model.ensemble.weights.any():
        return
    fit, rows = TrainingFit.of(model, problem), problem.fit_context.rows
    if tied_share(rows.put(fit.leads), rows) > MOST_TIED:
        return
    for message, category in _shortcomings(model, problem, fit):
        warn_user(message, category)
        return


def tied_share(scores: Vector, rows: Rows, tie: float = 0.0) -> float:
    """The share of the rows whose score is not above ``tie`` in size."""
    return rows.total(np.where(np.abs(scores) <= tie, rows.counts, 0.0)) / rows.n_samples


def _shortcomings(
    model: FittedModel, problem: Problem, fit: TrainingFit
) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    """The messages, the most important one first."""
    if fit.is_constant:
        yield _constant(model, fit), ConstantPredictionWarning
    messages = [*_worse_than_the_balance(model, fit), *_flat_trees(model, fit)]
    if isinstance(problem.fit_context, FitContext) and problem.held_out is None:
        messages += _better_before(model, fit)
    yield from ((message, DegenerateEnsembleWarning) for message in messages)


def _constant(model: FittedModel, fit: TrainingFit) -> str:
    rows = "every training row" if not fit.others else f"all but {fit.others:.2%} of the training rows"
    prediction = f"The model predicts class {fit.leading!r} for {rows}"
    advice = _advice(model.formulation)
    if fit.is_flat:
        return f"{prediction}, and all with the same probability. {BALANCE} {advice} may separate the classes."
    threshold = ", with a threshold other than one half" if model.target.n_outputs == 1 else ""
    return (
        f"{prediction}, and is right for {fit.accuracy:.1%} of them. Probabilities do differ: use "
        f"predict_proba{threshold}, or class_weight='balanced'. {advice} may do better too."
    )


def _worse_than_the_balance(model: FittedModel, fit: TrainingFit) -> Iterator[str]:
    majority = float(fit.balance.max())
    advice = f"{_advice(model.formulation)} may do better."
    if fit.accuracy < majority - MUCH_WORSE and not model.formulation.balances_classes:
        yield (
            f"The optimal ensemble of {_named(model.formulation)} is right for {fit.accuracy:.1%} of the "
            f"training rows, the majority class would be for {majority:.1%}. {advice}"
        )
    if fit.log_loss > (1.0 + MUCH_WORSE) * fit.entropy:
        yield (
            f"The probabilities of {_named(model.formulation)} have a log loss of {fit.log_loss:.3g} on the "
            f"training rows, the shares of the classes one of {fit.entropy:.3g}. {advice}"
        )


def _flat_trees(model: FittedModel, fit: TrainingFit) -> Iterator[str]:
    """A tree with the same vote in all leaves is an intercept, which good ensembles may need."""
    learners, weights = model.ensemble.learners, model.ensemble.weights
    flat = [j for j in np.flatnonzero(weights).tolist() if _is_flat(learners[j])]
    share = float(weights[flat].sum() / weights.sum())
    if flat and fit.accuracy <= fit.balance.max():
        yield (
            f"{share:.0%} of the weight of {_named(model.formulation)} lies on trees with the same vote in all leaves, "
            f"and the ensemble is no better than the majority class. {BALANCE} {_advice(model.formulation)} may do "
            "better."
        )


def _is_flat(learner: Learner) -> bool:
    return isinstance(learner, Tree) and bool((learner.votes == learner.votes[0]).all())


def _better_before(model: FittedModel, fit: TrainingFit) -> Iterator[str]:
    """An optimum of one or two trees is sparse because of its C, and may be far behind the ensembles before it."""
    few, many = FEW_OF
    n_used, n_generated = model.figures.n_trees, model.figures.n_generated
    best = float(model.history["train_score"].max())
    if n_used <= few and n_generated >= many and fit.accuracy < best - LOST:
        yield (
            f"The optimum of {_named(model.formulation)} uses {n_used} of {n_generated} trees and is right for "
            f"{fit.accuracy:.1%} of the training rows; an ensemble on the way to it was for {best:.1%}. "
            f"{_advice(model.formulation)} may do better."
        )


def _named(formulation: Formulation) -> str:
    return f"{formulation.name!r} with C={formulation.C:.3g}" if formulation.has_C else repr(formulation.name)


def _advice(formulation: Formulation) -> str:
    ways = [_other_C(formulation), "deeper trees"] if formulation.has_C else ["deeper trees"]
    if formulation.name != "logistic":
        ways.append("formulation='logistic'")
    listed = f"{', '.join(ways[:-1])} or {ways[-1]}"
    return listed[0].upper() + listed[1:]


def _other_C(formulation: Formulation) -> str:
    return "a smaller C" if formulation.sparser_with_larger_C else "a larger C"


def warn_if_degenerate(model: FittedModel, fit_context: FitContext | LeafFitContext) -> None:
    """Warn if the ensemble is empty, has ties for most rows, or does not meet the requirements of its formulation."""
    if isinstance(fit_context, LeafFitContext):
        if not model.ensemble.weights.any():
            warn_user(_without_splits(model.formulation, fit_context), DegenerateEnsembleWarning)
        elif is_flat_for_numbers(model):
            warn_user(
                f"With C={model.formulation.C:.3g} all values of leaves are nearly zero, so that predictions differ by "
                f"less than {FLAT:g} deviations of y: every row gets nearly the same prediction. A larger C may help.",
                DegenerateEnsembleWarning,
            )
        return
    for message, category in _findings(model, fit_context):
        warn_user(message, category)


def warn_if_cut_short(trace: Trace, tol: float, time_limit: float | None) -> None:
    """Warn if the time limit ended the fit before the gap was at most ``tol``."""
    if trace.stop_reason == "time_limit" and trace.result.gap > tol:
        warn_user(
            f"time_limit={time_limit!r} ended the fit before the weights of its {trace.result.n_trees} trees, or the "
            f"values of their leaves, were solved for: the gap is {trace.result.gap:.1e}, and not tol={tol:g}. "
            "A longer time_limit or a smaller max_trees helps.",
            SolverWarning,
        )


def warn_if_comparison_cut_short(folds: Sequence[Sequence[PathPoint]], n_folds: int, time_limit: float | None) -> int:
    """Warn if the time limit left out folds, values of C or trees; returns the number of values compared.

    All folds have compared the same values.
    """
    points = [point for point in folds[0] if point.is_compared]
    n_compared, n_values = (len({point.C for point in some}) for some in (points, folds[0]))
    n_used = len(folds) if points else 0
    if n_used == n_folds and not any(point.is_cut_short for fold in folds for point in fold):
        return n_compared
    trees = max((point.n_trees for fold in folds for point in fold), default=0)
    chosen = "was chosen among them" if n_compared > 1 else "was not chosen by its score"
    warn_user(
        f"time_limit={time_limit!r} cut the comparison of values of C short: {n_compared} of {n_values} values were "
        f"compared, on {n_used} of {n_folds} splits of the rows, with ensembles of at most {trees} trees. C {chosen}, "
        "and another may be better. A longer time_limit, fewer Cs, a smaller cv or a smaller max_trees helps.",
        InterruptedFitWarning,
    )
    return n_compared


def is_flat_for_numbers(model: FittedModel) -> bool:
    """Whether no two predictions of a regressor can differ by more than ``FLAT`` deviations of y."""
    return not model.target.has_classes and 2.0 * float(np.abs(model.ensemble.weights).sum()) < FLAT


def _findings(model: FittedModel, fit_context: FitContext) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    weights, formulation, columns = model.ensemble.weights, model.formulation, fit_context.columns
    margins = columns.margins(weights[: columns.n_columns])
    share = tied_share(margins[: columns.n_data], columns.rows, TIE * weights.sum())
    if not weights.any():
        yield SAME_Y if _is_constant(fit_context) else _emptiness(model, columns), DegenerateEnsembleWarning
    elif model.target.has_classes and share > MOST_TIED:
        yield (
            f"The optimal ensemble of {formulation.name!r} has a margin of 0, a tie, for {share:.0%} of the training "
            "rows. Deeper trees, more of them, another C or another formulation may do better.",
            TiedEnsembleWarning,
        )
    missed = formulation.shortcoming(margins[columns.n_data :])
    if missed is not None:
        yield missed, DegenerateEnsembleWarning


def _is_constant(fit_context: FitContext | LeafFitContext) -> bool:
    """Whether the targets of all workers are the same number, up to the rounding error of their mean."""
    rows, targets = fit_context.rows, fit_context.targets
    mean = rows.dot(targets, rows.counts) / rows.n_samples
    return not rows.any(np.abs(targets - mean) > ROUNDING)


def _without_splits(formulation: Formulation, fit_context: LeafFitContext) -> str:
    if _is_constant(fit_context):
        return SAME_Y
    return (
        f"No split lowers the objective of {formulation.name!r} with C={formulation.C:.3g}, so every row gets the "
        f"same prediction. {formulation.advice_for_splits(fit_context.targets)}"
    )


def _emptiness(model: FittedModel, columns: Columns) -> str:
    formulation = model.formulation
    duals = columns.with_sides(formulation.multiplicities(columns.rows))
    smallest = formulation.smallest_useful_C(float(columns.edges(duals).max()))
    is_known = smallest is not None and smallest > formulation.C_value  # unknown if several classes share duals
    advice = f" A{_other_C(formulation)[1:]} may help."
    hint = f" The smallest C that uses a learner is about {smallest:.3g}." if is_known else ""
    return (
        f"The optimal ensemble of {formulation.name!r} with C={formulation.C:.3g} is empty, so every row gets the same "
        f"prediction, {'the majority class' if model.target.has_classes else 'the best constant'}.{hint or advice}"
    )
