"""How it is optimised: the masters, and the registry that a new one joins by one line."""

from __future__ import annotations

from ..errors import InvalidParameterError, UnsupportedFormulationError
from ..formulations.programme import Programme
from .active_rows import ActiveRows
from .base import Candidate, Master, MasterFailed, MasterSolution, SolveFailure
from .certificate import WEIGHT_TOLERANCE, bound_over_class, certify, n_used, relative_gap
from .clarabel import ClarabelMaster
from .highs import HighsMaster
from .interior_point import InteriorPointMaster
from .interleaved import Interleaved
from .ladder import Ladder
from .stages import in_stages

MASTERS: dict[str, type[Master]] = {
    InteriorPointMaster.name: InteriorPointMaster,
    HighsMaster.name: HighsMaster,
    ClarabelMaster.name: ClarabelMaster,
}
"""In the order in which ``master="auto"`` tries them."""


def make_reoptimiser(
    master: str,
    reoptimize: str,
    programme: Programme,
    formulation_name: str,
    tolerance: float,
    n_sampled: int | None = None,
) -> Ladder | Interleaved | ActiveRows:
    """The master asked for, falling back on the others, interleaved with pricing if it may be.

    With ``n_sampled`` it begins on so many rows, and goes on with those that are active.
    """
    ladder = make_ladder(master, programme, formulation_name, tolerance)
    interleaves = master == "auto" or MASTERS[master].interleaves
    chosen = Interleaved(ladder) if reoptimize == "as_needed" and interleaves else ladder
    return chosen if n_sampled is None else ActiveRows(chosen, n_sampled)


def make_ladder(master: str, programme: Programme, formulation_name: str, tolerance: float) -> Ladder:
    """The ladder that begins with the master asked for and falls back on the others."""
    if master != "auto" and master not in MASTERS:
        raise InvalidParameterError(f"master={master!r} is not known; choose 'auto' or one of {sorted(MASTERS)}.")
    order = list(MASTERS.values())
    if master != "auto":
        chosen = MASTERS[master]
        if not chosen.supports(programme):
            able = [name for name, other in MASTERS.items() if other.supports(programme)]
            raise UnsupportedFormulationError(
                f"master={master!r} cannot solve formulation {formulation_name!r}; use 'auto' or one of {able}."
            )
        chosen()  # a missing extra is reported before any work is done
        order.sort(key=lambda other: other is not chosen)
    return Ladder(order, tolerance)


__all__ = [
    "MASTERS",
    "WEIGHT_TOLERANCE",
    "ActiveRows",
    "Candidate",
    "Interleaved",
    "Ladder",
    "Master",
    "MasterFailed",
    "MasterSolution",
    "SolveFailure",
    "bound_over_class",
    "certify",
    "in_stages",
    "make_ladder",
    "make_reoptimiser",
    "n_used",
    "relative_gap",
]
