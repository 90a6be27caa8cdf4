"""The registry of losses for numbers, which a new loss joins by one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InvalidParameterError
from .numbers import AbsoluteLoss, HuberLoss, NumberLoss, PoissonLoss, QuantileLoss, SquaredLoss, TubeLoss
from .quantiles import QuantilesLoss, require_levels

NUMBER_LOSSES: dict[str, type[NumberLoss]] = {
    loss.name: loss
    for loss in (SquaredLoss, HuberLoss, AbsoluteLoss, QuantileLoss, QuantilesLoss, PoissonLoss, TubeLoss)
}
"""The losses by name."""


def make_number_loss(loss: str | NumberLoss, C: float | None, quantiles: Sequence[float] | None = None) -> NumberLoss:
    """A loss from its name, or the object given, with ``C`` if it has none itself.

    ``quantiles`` makes "quantile" the loss of several levels, which "quantiles" is by itself.
    """
    if quantiles is not None:
        return _of_quantiles(loss, C, quantiles)
    if isinstance(loss, NumberLoss):
        loss.check()
        if C is None:
            return loss
        if loss.C is not None:
            raise InvalidParameterError(f"C={C!r} is given beside loss={loss!r}, which has a C: give one.")
        return replace(loss, C=C)
    if not isinstance(loss, str) or loss not in NUMBER_LOSSES:
        raise InvalidParameterError(
            f"loss={loss!r} is not known; choose one of {list(NUMBER_LOSSES)}, or pass an object, for example "
            "HuberLoss(delta=2)."
        )
    return NUMBER_LOSSES[loss](C=C)


def _of_quantiles(loss: str | NumberLoss, C: float | None, quantiles: Sequence[float]) -> NumberLoss:
    levels = require_levels("quantiles", quantiles)
    if loss not in (QuantileLoss.name, QuantilesLoss.name):
        raise InvalidParameterError(
            f"quantiles={list(levels)} is for loss='quantile', but loss is {loss!r}: leave one of them out."
        )
    return QuantilesLoss(C=C, quantiles=levels)
