"""The guides, which choose the duals for the next pricing, and the registry that a new guide joins by one line."""

from __future__ import annotations

from ...formulations.base import Formulation
from .base import Guide, PricingDuals
from .frank_wolfe import FrankWolfe
from .own import OwnDuals
from .projection import Projection

GUIDES: dict[str, type[Guide]] = {"own": OwnDuals, "projection": Projection, "frank-wolfe": FrankWolfe}


def make_guide(formulation: Formulation, tol: float) -> Guide:
    """The guide that the formulation names."""
    return GUIDES[formulation.guide](formulation, tol)


__all__ = ["GUIDES", "Guide", "OwnDuals", "PricingDuals", "make_guide"]
