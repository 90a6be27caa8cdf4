"""What is optimised: the six formulations, and the registry that a new one joins by one line."""

from __future__ import annotations

from dataclasses import replace

from ..errors import InvalidParameterError
from .base import Formulation
from .cg import CGBoost
from .erlp import ERLPBoost
from .lp import LPBoost
from .md import MDBoost
from .nm import NMBoost
from .programme import Programme
from .qrlp import QRLPBoost

FORMULATIONS: dict[str, type[Formulation]] = {
    formulation.name: formulation
    for formulation in (
        NMBoost,
        QRLPBoost,
        LPBoost,
        CGBoost,
        ERLPBoost,
        MDBoost,
    )
}


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
    "CGBoost",
    "ERLPBoost",
    "Formulation",
    "LPBoost",
    "MDBoost",
    "NMBoost",
    "Programme",
    "QRLPBoost",
    "make_formulation",
]
