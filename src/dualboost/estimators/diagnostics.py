"""Warnings about ensembles that are optimal but of little use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import Scores, Vector
from ..arguments import warn_user
from ..boosting.context import FitContext
from ..boosting.history import Trace
from ..boosting.leaf_context import LeafFitContext
from ..errors import (
    ConstantPredictionWarning,
    DegenerateEnsembleWarning,
    DualBoostWarning,
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

# At most one warning a fit: the one that says most. Empty ensembles and ties have warnings of their own
# (``degenerate.py``).

MOST_TIED = 0.5
"""If more than this share of the training rows has a score of zero, there is a warning about ties."""
MUCH_WORSE = 0.02
"""By which share of rows, and which part of its log loss, an ensemble may be behind the class balance."""
NEGLIGIBLE = 0.05
"""If other classes than one are predicted for fewer rows than this share of those that are of other classes, the
predictions are as good as constant: at most so many of these rows are found."""
FEW_OF = (2, 10)
"""So few trees in use, of at least so many generated, are compared with the ensembles on the way to them."""
LOST = 0.005
"""By which share of rows they may be behind these."""
BALANCE = "Where a class is rare, class_weight='balanced' helps."


@dataclass(frozen=True, eq=False)
class Answers:
    """The scores of the training rows and what follows from them, rows counted by their multiplicity."""

    scores: Scores
    accuracy: float
    log_loss: float
    balance: Vector
    """The share of each class."""
    leading: Any
    """The class that is predicted most."""
    others: float
    """The share of the rows for which another one is predicted."""
    of_others: float
    """The share of the rows that are of another one."""

    @classmethod
    def of(cls, model: FittedModel, problem: Problem) -> Answers:
        target: Any = model.target
        rows, targets = problem.fit_context.rows, problem.rows.targets
        scores = model.scores(problem.rows.X)
        groups = target.groups(targets)
        assert groups is not None, "only tasks with classes are asked"
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
        """Whether so few rows are predicted to be of other classes that hardly any of those which are can be found."""
        return self.others < NEGLIGIBLE * self.of_others

    @property
    def is_flat(self) -> bool:
        """Whether every row has the same score."""
        return bool((np.ptp(self.scores, axis=0) <= 1e-12 * np.abs(self.scores).max()).all())

    @property
    def leads(self) -> Vector:
        """How far the score of the class predicted is ahead of the next one."""
        if self.scores.ndim == 1:
            return np.abs(self.scores)
        second, first = np.sort(self.scores, axis=1)[:, -2:].T
        return np.asarray(first - second)

    @property
    def entropy(self) -> float:
        """The log loss of the class balance."""
        shares = self.balance[self.balance > 0]
        return float(-(shares * np.log(shares)).sum())


def warn_of_answers(model: FittedModel, problem: Problem) -> None:
    """Warn if the model is of little use on the rows that it was trained on."""
    if not model.target.has_classes or not model.ensemble.weights.any():
        return
    answers = Answers.of(model, problem)
    if tied_share(problem.fit_context.rows.put(answers.leads), problem.fit_context.rows) > MOST_TIED:
        return
    for message, category in _doubts(model, problem, answers):
        warn_user(message, category)
        return


def tied_share(scores: Vector, rows: Rows, tie: float = 0.0) -> float:
    """The share of the rows whose score is not above ``tie`` in size."""
    return rows.total(np.where(np.abs(scores) <= tie, rows.counts, 0.0)) / rows.n_samples


def _doubts(model: FittedModel, problem: Problem, answers: Answers) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    if answers.is_constant:
        yield _constant(model, answers), ConstantPredictionWarning
    yield from _worse_than_the_balance(model, answers)
    yield from _flat_trees(model, answers)
    if isinstance(problem.fit_context, FitContext) and problem.held_out is None:
        yield from _better_on_the_way(model, answers)


def _constant(model: FittedModel, answers: Answers) -> str:
    rows = "every training row" if not answers.others else f"all but {answers.others:.2%} of the training rows"
    says = f"The model predicts class {answers.leading!r} for {rows}"
    if answers.is_flat:
        return f"{says}, and all with the same probability. {BALANCE} {_advice(model.formulation)} may tell them apart."
    threshold = ", with a threshold other than one half" if model.target.n_outputs == 1 else ""
    return (
        f"{says}, and is right for {answers.accuracy:.1%} of them. Probabilities do differ: use "
        f"predict_proba{threshold}, or class_weight='balanced'. {_advice(model.formulation)} may do better too."
    )


def _worse_than_the_balance(model: FittedModel, answers: Answers) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    majority = float(answers.balance.max())
    advice = f"{_advice(model.formulation)} may do better."
    if answers.accuracy < majority - MUCH_WORSE and not model.formulation.balances_classes:
        yield (
            f"The optimal ensemble of {_named(model.formulation)} is right for {answers.accuracy:.1%} of the "
            f"training rows, the majority class would be for {majority:.1%}. {advice}",
            DegenerateEnsembleWarning,
        )
    if answers.log_loss > (1.0 + MUCH_WORSE) * answers.entropy:
        yield (
            f"The probabilities of {_named(model.formulation)} have a log loss of {answers.log_loss:.3g} on the "
            f"training rows, the shares of the classes one of {answers.entropy:.3g}. {advice}",
            DegenerateEnsembleWarning,
        )


def _flat_trees(model: FittedModel, answers: Answers) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    """A tree with the same vote in all leaves is an intercept, which good ensembles may need."""
    learners, weights = model.ensemble.learners, model.ensemble.weights
    flat = [j for j in np.flatnonzero(weights).tolist() if _is_flat(learners[j])]
    share = float(weights[flat].sum() / weights.sum())
    if flat and answers.accuracy <= answers.balance.max():
        yield (
            f"{share:.0%} of the weight of {_named(model.formulation)} lies on trees with the same vote in all leaves, "
            f"and the ensemble is no better than the majority class. {BALANCE} {_advice(model.formulation)} may do "
            "better.",
            DegenerateEnsembleWarning,
        )


def _is_flat(learner: Learner) -> bool:
    return isinstance(learner, Tree) and bool((learner.votes == learner.votes[0]).all())


def _better_on_the_way(model: FittedModel, answers: Answers) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    """An optimum of one or two trees is sparse because its C says so, and may be far behind what was seen before."""
    few, many = FEW_OF
    n_used, n_generated = model.figures.n_trees, model.figures.n_generated
    best = float(model.history["train_score"].max())
    if n_used <= few and n_generated >= many and answers.accuracy < best - LOST:
        yield (
            f"The optimum of {_named(model.formulation)} uses {n_used} of {n_generated} trees and is right for "
            f"{answers.accuracy:.1%} of the training rows; an ensemble on the way to it was for {best:.1%}. "
            f"{_advice(model.formulation)} may do better.",
            DegenerateEnsembleWarning,
        )


def _named(formulation: Formulation) -> str:
    return f"{formulation.name!r} with C={formulation.C:.3g}" if formulation.has_C else repr(formulation.name)


def _advice(formulation: Formulation) -> str:
    """What makes an ensemble follow the rows more closely, as the beginning of a sentence."""
    ways = ["deeper trees"]
    if formulation.has_C:
        ways.insert(0, "a smaller C" if formulation.sparser_with_larger_C else "a larger C")
    if formulation.name != "logistic":
        ways.append("formulation='logistic'")
    listed = f"{', '.join(ways[:-1])} or {ways[-1]}"
    return listed[0].upper() + listed[1:]


SAME_Y = "y is the same in all rows, to the digits that a fit sees, so every row gets the same prediction."
"""What is said of a y that no model can learn from."""
ROUNDING = 1e-9
"""Targets that differ from their mean by no more than this are all the same."""
FLAT = 1e-3
"""Predictions of numbers that differ by less than this, in deviations of y, are as good as one constant."""


def warn_if_degenerate(model: FittedModel, fit_context: FitContext | LeafFitContext) -> None:
    """Warn if the ensemble is empty, gives a tie for most rows, or fails to reach what its formulation requires."""
    if isinstance(fit_context, LeafFitContext):
        if not model.ensemble.weights.any():
            warn_user(_without_splits(model.formulation, fit_context), DegenerateEnsembleWarning)
        elif is_flat_for_numbers(model):
            warn_user(_flatness(model.formulation), DegenerateEnsembleWarning)
        return
    for message, category in _findings(model, fit_context):
        warn_user(message, category)


def warn_if_cut_short(trace: Trace, tol: float, time_limit: float | None) -> None:
    """Warn if there was no time to solve for all weights, or for all leaves, as precisely as asked."""
    if trace.stop_reason == "time_limit" and trace.result.gap > tol:
        warn_user(
            f"time_limit={time_limit!r} ended the fit before the weights of its {trace.result.n_trees} trees, or the "
            f"values of their leaves, were solved for: the gap is {trace.result.gap:.1e}, and not tol={tol:g}. "
            "A longer time_limit or a smaller max_trees helps.",
            SolverWarning,
        )


def is_flat_for_numbers(model: FittedModel) -> bool:
    """Whether no two predictions of a regressor can differ by more than ``FLAT`` deviations of y."""
    return not model.target.has_classes and 2.0 * float(np.abs(model.ensemble.weights).sum()) < FLAT


def _flatness(formulation: Formulation) -> str:
    return (
        f"With C={formulation.C:.3g} all values of leaves are nearly zero, so that predictions differ by less than "
        f"{FLAT:g} deviations of y: every row gets nearly the same prediction. A larger C may help."
    )


def _findings(model: FittedModel, fit_context: FitContext) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    weights, formulation, columns = model.ensemble.weights, model.formulation, fit_context.columns
    margins = columns.margins(weights[: columns.n_columns])
    share = tied_share(margins[: columns.n_data], columns.rows, TIE * weights.sum())
    if not weights.any():
        yield SAME_Y if _is_constant(fit_context) else _emptiness(model, columns), DegenerateEnsembleWarning
    elif model.target.has_classes and share > MOST_TIED:
        yield _tie(formulation, share), TiedEnsembleWarning
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
    is_known = smallest is not None and smallest > formulation.C_value  # several classes share duals, which hides it
    advice = f" A {'smaller' if formulation.sparser_with_larger_C else 'larger'} C may help."
    hint = f" The smallest C that uses a learner is about {smallest:.3g}." if is_known else ""
    return (
        f"The optimal ensemble of {formulation.name!r} with C={formulation.C:.3g} is empty, so every row gets the same "
        f"prediction, {'the majority class' if model.target.has_classes else 'the best constant'}.{hint or advice}"
    )


def _tie(formulation: Formulation, share: float) -> str:
    return (
        f"The optimal ensemble of {formulation.name!r} has a margin of 0, a tie, for {share:.0%} of the training rows. "
        "Deeper trees, more of them, another C or another formulation may do better."
    )
