"""Warnings about ensembles that are optimal but useless for many rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..algebra.columns import Columns
from ..errors import DegenerateEnsembleWarning, DualBoostWarning, SolverWarning, TiedEnsembleWarning
from ..formulations import Formulation
from ..loop.history import Trace
from ..loop.leaf_wiring import LeafWiring
from ..loop.wiring import Wiring
from ..models.fitted import FittedModel
from ..tasks.binary import TIE
from ..telling import warn_user
from .answers import MOST_TIED, tied_share

SAME_Y = "y is the same in all rows, to the digits that a fit sees, so every row gets the same prediction."
"""What is said of a y that no model can learn from."""
ROUNDING = 1e-9
"""Targets that differ from their mean by no more than this are all the same."""
FLAT = 1e-3
"""Predictions of numbers that differ by less than this, in deviations of y, are as good as one constant."""


def warn_if_degenerate(model: FittedModel, wiring: Wiring | LeafWiring) -> None:
    """Warn if the ensemble is empty, gives a tie for most rows, or fails to reach what its formulation requires."""
    if isinstance(wiring, LeafWiring):
        if not model.ensemble.weights.any():
            warn_user(_without_splits(model.formulation, wiring), DegenerateEnsembleWarning)
        elif is_flat_for_numbers(model):
            warn_user(_flatness(model.formulation), DegenerateEnsembleWarning)
        return
    for message, category in _findings(model, wiring):
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
    return not model.task.has_classes and 2.0 * float(np.abs(model.ensemble.weights).sum()) < FLAT


def _flatness(formulation: Formulation) -> str:
    return (
        f"With C={formulation.C:.3g} all values of leaves are nearly zero, so that predictions differ by less than "
        f"{FLAT:g} deviations of y: every row gets nearly the same prediction. A larger C may help."
    )


def _findings(model: FittedModel, wiring: Wiring) -> Iterator[tuple[str, type[DualBoostWarning]]]:
    weights, formulation, columns = model.ensemble.weights, model.formulation, wiring.columns
    margins = columns.margins(weights[: columns.n_columns])
    share = tied_share(margins[: columns.n_data], columns.rows, TIE * weights.sum())
    if not weights.any():
        yield SAME_Y if _is_constant(wiring) else _emptiness(model, columns), DegenerateEnsembleWarning
    elif model.task.has_classes and share > MOST_TIED:
        yield _tie(formulation, share), TiedEnsembleWarning
    missed = formulation.shortcoming(margins[columns.n_data :])
    if missed is not None:
        yield missed, DegenerateEnsembleWarning


def _is_constant(wiring: Wiring | LeafWiring) -> bool:
    """Whether the targets of all workers are the same number, up to the rounding error of their mean."""
    rows, targets = wiring.rows, wiring.targets
    mean = rows.dot(targets, rows.counts) / rows.n_samples
    return not rows.any(np.abs(targets - mean) > ROUNDING)


def _without_splits(formulation: Formulation, wiring: LeafWiring) -> str:
    if _is_constant(wiring):
        return SAME_Y
    return (
        f"No split lowers the objective of {formulation.name!r} with C={formulation.C:.3g}, so every row gets the "
        f"same prediction. {formulation.advice_for_splits(wiring.targets)}"
    )


def _emptiness(model: FittedModel, columns: Columns) -> str:
    formulation = model.formulation
    duals = columns.with_sides(formulation.multiplicities(columns.rows))
    smallest = formulation.smallest_useful_C(float(columns.edges(duals).max()))
    is_known = smallest is not None and smallest > formulation.strength  # several classes share duals, which hides it
    advice = f" A {'smaller' if formulation.sparser_with_larger_C else 'larger'} C may help."
    hint = f" The smallest C that uses a learner is about {smallest:.3g}." if is_known else ""
    return (
        f"The optimal ensemble of {formulation.name!r} with C={formulation.C:.3g} is empty, so every row gets the same "
        f"prediction, {'the majority class' if model.task.has_classes else 'the best constant'}.{hint or advice}"
    )


def _tie(formulation: Formulation, share: float) -> str:
    return (
        f"The optimal ensemble of {formulation.name!r} has a margin of 0, a tie, for {share:.0%} of the training rows. "
        "Deeper trees, more of them, another C or another formulation may do better."
    )
