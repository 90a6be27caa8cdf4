"""What thinning warns of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..errors import ThinningWarning
from .rows import AnyRows
from .tried import Tried, take

BY_HEART = 0.999
"""A model with at least this accuracy, or R^2, is assumed to know the rows by heart."""
LIGHT = 0.1
"""If the mean of ``sample_weight`` is below this, it is probably not meant as multiplicities."""
USER = 5
"""The ``stacklevel`` that makes a warning point to the user's call of ``thin``."""


def warn_by_heart(rows: AnyRows) -> None:
    if rows.full_quality >= BY_HEART:
        _warn(
            f"The model {rows.full_quality_in_words}, as on rows that it knows by heart. They "
            "do not show how many trees it needs: pass rows that it has not seen as validation_data."
        )


def warn_best_of_few(max_trees: int, score_name: str, enough: float) -> None:
    _warn(f"No ensemble of {max_trees} trees reaches the {score_name} asked for, {enough:.4f}: the best one is taken.")


def warn_unchanged(
    path: Sequence[Tried], enough: float, tolerance: float, rows: AnyRows, score_name: str, by_heart_hint: bool
) -> None:
    """No smaller ensemble is good enough: say which one comes closest, and what may be the matter with the rows."""
    closest, hint = take(path, np.inf), ""
    if closest is not None and closest.size < rows.n_members:
        needed = np.ceil(1e4 * (tolerance + enough - closest.score)) / 1e4
        trees = "1 tree" if closest.trees == 1 else f"{closest.trees} trees"
        hint = f" The closest has {trees} and {score_name} {closest.score:.4f}; tolerance={needed:g} takes it."
    if by_heart_hint and rows.full_quality >= BY_HEART:
        hint += " The model knows the rows of X by heart: rows that it has not seen, as X and y, may do better."
    if rows.counts.sum() < LIGHT * len(rows.counts):
        total = f"{rows.counts.sum():.3g}"
        hint += f" The sample weights add up to {total}: as repetitions, they should have a mean of one."
    _warn(
        f"No smaller ensemble reaches the {score_name} asked for, {enough:.4f}: the model is returned as it was.{hint}"
    )


def warn_not_refitted(reason: str) -> None:
    _warn(f"method='refit': {reason}. New weights are computed instead, as by method='thin'.")


def warn_of_unread_weights(reason: str, has_classes: bool) -> None:
    remedy = "name what counts, as in scoring='balanced_accuracy', or pass" if has_classes else "pass"
    _warn(
        f"The weights of classes that the model was trained with cannot be read: {reason}. Without them, the smaller "
        f"model may lose its aim: {remedy} the weights of the rows as sample_weight."
    )


def _warn(message: str) -> None:
    warnings.warn(message, ThinningWarning, stacklevel=USER)
