"""How sample weights are chosen between pricings, and the registry that a new way joins by one line."""

from __future__ import annotations

from ..._typing import Vector
from ...formulations.base import Formulation
from .base import Guide, Prices
from .frank_wolfe import FrankWolfe
from .own import OwnPrices
from .projection import Projection

GUIDES: dict[str, type[Guide]] = {"own": OwnPrices, "projection": Projection, "frank-wolfe": FrankWolfe}


def make_guide(formulation: Formulation, counts: Vector, tol: float) -> Guide:
    """The guide that the formulation names, for rows with these multiplicities."""
    return GUIDES[formulation.guide](formulation, counts, tol)


__all__ = ["GUIDES", "Guide", "OwnPrices", "Prices", "make_guide"]
