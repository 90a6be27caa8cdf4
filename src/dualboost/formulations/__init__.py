"""The registry of formulations and of losses for numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..errors import InvalidParameterError
from .base import Formulation as Formulation
from .convex import ConvexBoost as ConvexBoost
from .convex import LogisticBoost as LogisticBoost
from .custom import MarginLoss as MarginLoss
from .custom import ResidualLoss as ResidualLoss
from .margins import HardMarginBoost as HardMarginBoost
from .margins import LexiBoost as LexiBoost
from .margins import MDFullBoost as MDFullBoost
from .margins import MLPBoost as MLPBoost
from .margins import NuLPBoost as NuLPBoost
from .margins import SoftBoost as SoftBoost
from .margins import TotalBoost as TotalBoost
from .paper import CGBoost as CGBoost
from .paper import ERLPBoost as ERLPBoost
from .paper import LPBoost as LPBoost
from .paper import MDBoost as MDBoost
from .paper import NMBoost as NMBoost
from .paper import QRLPBoost as QRLPBoost
from .programme import Programme as Programme
from .programme import TwoStageProgramme as TwoStageProgramme
from .quantiles import QuantileLoss as QuantileLoss
from .quantiles import require_levels
from .regression import AbsoluteLoss as AbsoluteLoss
from .regression import EpsilonInsensitiveLoss as EpsilonInsensitiveLoss
from .regression import HuberLoss as HuberLoss
from .regression import NumberLoss as NumberLoss
from .regression import PoissonLoss as PoissonLoss
from .regression import SquaredLoss as SquaredLoss
from .side_rows import CqBoost as CqBoost
from .side_rows import SpatialLPBoost as SpatialLPBoost

__all__ = [
    "AbsoluteLoss",
    "CGBoost",
    "ConvexBoost",
    "CqBoost",
    "ERLPBoost",
    "EpsilonInsensitiveLoss",
    "Formulation",
    "HardMarginBoost",
    "HuberLoss",
    "LPBoost",
    "LexiBoost",
    "LogisticBoost",
    "MDBoost",
    "MDFullBoost",
    "MLPBoost",
    "MarginLoss",
    "NMBoost",
    "NuLPBoost",
    "NumberLoss",
    "PoissonLoss",
    "QRLPBoost",
    "QuantileLoss",
    "ResidualLoss",
    "SoftBoost",
    "SpatialLPBoost",
    "SquaredLoss",
    "TotalBoost",
]
"""The public names: formulations, losses and their bases."""

NUMBER_LOSSES: dict[str, type[NumberLoss]] = {
    loss.name: loss
    for loss in (SquaredLoss, HuberLoss, AbsoluteLoss, QuantileLoss, PoissonLoss, EpsilonInsensitiveLoss)
}
"""The losses by name."""


def make_number_loss(loss: str | NumberLoss, C: float | None, quantiles: Sequence[float] | None = None) -> NumberLoss:
    """The loss with this name, or the loss object, with ``C`` if the object has no C.

    ``quantiles`` are the levels of "quantile".
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
            "HuberLoss(delta=2) or an object of your own subclass of ResidualLoss."
        )
    return NUMBER_LOSSES[loss](C=C)


def _of_quantiles(loss: str | NumberLoss, C: float | None, quantiles: Sequence[float]) -> NumberLoss:
    levels = require_levels("quantiles", quantiles)
    if loss != QuantileLoss.name:
        raise InvalidParameterError(
            f"quantiles={list(levels)} is for loss='quantile', but loss is {loss!r}: leave one of them out."
        )
    return QuantileLoss(C=C, quantiles=levels)


FORMULATIONS: dict[str, type[Formulation]] = {
    formulation.name: formulation
    for formulation in (
        LogisticBoost,
        NMBoost,
        QRLPBoost,
        LPBoost,
        CGBoost,
        ERLPBoost,
        MDBoost,
        NuLPBoost,
        HardMarginBoost,
        MDFullBoost,
        ConvexBoost,
        LexiBoost,
        SoftBoost,
        TotalBoost,
        MLPBoost,
        CqBoost,
        SpatialLPBoost,
    )
}

STUDIED = ("nm", "qrlp", "lp", "cg", "erlp", "md")
"""The six formulations of the paper."""


def make_formulation(formulation: str | Formulation, C: float | None, epsilon: float | None) -> Formulation:
    """The formulation with this name and these parameters, or the object, with ``C`` if the object has no C."""
    if isinstance(formulation, NumberLoss):
        raise InvalidParameterError(
            f"formulation={formulation!r} is a loss for numbers: pass it as DualBoostRegressor(loss=...), or "
            f"choose one of {sorted(FORMULATIONS)}."
        )
    if isinstance(formulation, Formulation):
        return _completed(formulation, C, epsilon)
    if not isinstance(formulation, str) or formulation not in FORMULATIONS:
        raise InvalidParameterError(
            f"formulation={formulation!r} is not known; choose one of {sorted(FORMULATIONS)}, or pass an object, for "
            "example LPBoost() or an object of your own subclass of MarginLoss."
        )
    if epsilon is None:
        return FORMULATIONS[formulation](C=C)
    able = [name for name, one in FORMULATIONS.items() if one.has_epsilon()]
    if formulation not in able:
        raise InvalidParameterError(
            f"epsilon={epsilon!r}: formulation {formulation!r} has no epsilon, only {able} have; leave it at None."
        )
    return FORMULATIONS[formulation]().set_params(C=C, epsilon=epsilon)


def _completed(formulation: Formulation, C: float | None, epsilon: float | None) -> Formulation:
    """The formulation object, with ``C`` if the object has no C; a value given twice is refused."""
    formulation.check()
    if epsilon is not None:
        raise InvalidParameterError(
            f"epsilon={epsilon!r} is given beside formulation={formulation!r}: give it to that object, if it has one."
        )
    if C is None:
        return formulation
    if formulation.C is not None:
        raise InvalidParameterError(f"C={C!r} is given beside formulation={formulation!r}, which has a C: give one.")
    return replace(formulation, C=C)
