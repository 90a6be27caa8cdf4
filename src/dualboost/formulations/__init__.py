"""What is optimised: the formulations, and the registry that a new one joins by one line."""

from __future__ import annotations

from dataclasses import replace

from ..errors import InvalidParameterError
from .base import Formulation
from .cg import CGBoost
from .convex import ConvexBoost
from .cq import CqBoost
from .erlp import ERLPBoost
from .hard import HardMarginBoost
from .lexi import LexiBoost
from .lp import LPBoost
from .lp_nu import NuLPBoost
from .md import MDBoost
from .md_full import MDFullBoost
from .mlp import MLPBoost
from .nm import NMBoost
from .programme import Programme
from .qrlp import QRLPBoost
from .soft import SoftBoost
from .spatial import SpatialLPBoost
from .total import TotalBoost
from .two_stages import TwoStageProgramme

FORMULATIONS: dict[str, type[Formulation]] = {
    formulation.name: formulation
    for formulation in (
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
"""Those that the published study compares."""


def make_formulation(formulation: str | Formulation, C: float | None, epsilon: float) -> Formulation:
    """A formulation from its name and parameters, or the object given, with ``C`` in place of its own if set."""
    if isinstance(formulation, Formulation):
        return formulation if C is None else replace(formulation, C=C)
    if not isinstance(formulation, str) or formulation not in FORMULATIONS:
        raise InvalidParameterError(
            f"formulation={formulation!r} is not known; choose one of {sorted(FORMULATIONS)} or pass a Formulation."
        )
    return FORMULATIONS[formulation].from_parameters(C=C, epsilon=epsilon)


__all__ = [
    "FORMULATIONS",
    "STUDIED",
    "CGBoost",
    "ConvexBoost",
    "CqBoost",
    "ERLPBoost",
    "Formulation",
    "HardMarginBoost",
    "LPBoost",
    "LexiBoost",
    "MDBoost",
    "MDFullBoost",
    "MLPBoost",
    "NMBoost",
    "NuLPBoost",
    "Programme",
    "QRLPBoost",
    "SoftBoost",
    "SpatialLPBoost",
    "TotalBoost",
    "TwoStageProgramme",
    "make_formulation",
]
