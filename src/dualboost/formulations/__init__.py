"""The formulations, which say what is optimised, and the registry that a new formulation joins by one line."""

from __future__ import annotations

from dataclasses import replace

from ..errors import InvalidParameterError
from .base import Formulation as Formulation
from .cg import CGBoost as CGBoost
from .convex import ConvexBoost as ConvexBoost
from .cq import CqBoost as CqBoost
from .erlp import ERLPBoost as ERLPBoost
from .hard import HardMarginBoost as HardMarginBoost
from .lexi import LexiBoost as LexiBoost
from .logistic import LogisticBoost as LogisticBoost
from .lp import LPBoost as LPBoost
from .lp_nu import NuLPBoost as NuLPBoost
from .md import MDBoost as MDBoost
from .md_full import MDFullBoost as MDFullBoost
from .mlp import MLPBoost as MLPBoost
from .nm import NMBoost as NMBoost
from .numbers import AbsoluteLoss as AbsoluteLoss
from .numbers import HuberLoss as HuberLoss
from .numbers import NumberLoss as NumberLoss
from .numbers import PoissonLoss as PoissonLoss
from .numbers import QuantileLoss as QuantileLoss
from .numbers import SquaredLoss as SquaredLoss
from .numbers import TubeLoss as TubeLoss
from .programme import Programme as Programme
from .qrlp import QRLPBoost as QRLPBoost
from .quantiles import QuantilesLoss as QuantilesLoss
from .soft import SoftBoost as SoftBoost
from .spatial import SpatialLPBoost as SpatialLPBoost
from .total import TotalBoost as TotalBoost
from .two_stages import TwoStageProgramme as TwoStageProgramme

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
"""The formulations that the published study compares."""


def make_formulation(formulation: str | Formulation, C: float | None, epsilon: float | None) -> Formulation:
    """A formulation from its name and parameters, or the object given, with ``C`` if it has none itself."""
    if isinstance(formulation, Formulation):
        return _completed(formulation, C, epsilon)
    if not isinstance(formulation, str) or formulation not in FORMULATIONS:
        raise InvalidParameterError(
            f"formulation={formulation!r} is not known; choose one of {sorted(FORMULATIONS)}, or pass an object, for "
            "example LPBoost()."
        )
    if epsilon is None:
        return FORMULATIONS[formulation](C=C)
    able = [name for name, kind in FORMULATIONS.items() if kind.has_epsilon()]
    if formulation not in able:
        raise InvalidParameterError(
            f"epsilon={epsilon!r}: formulation {formulation!r} has no epsilon, only {able} have; leave it at None."
        )
    return FORMULATIONS[formulation]().set_params(C=C, epsilon=epsilon)


def _completed(formulation: Formulation, C: float | None, epsilon: float | None) -> Formulation:
    """The formulation object, with ``C`` filled in if the object has none; an argument given twice is refused."""
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
