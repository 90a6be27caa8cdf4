"""The ensembles of many values of C, and of fewer trees, on the same rows where leaves are corrected: for tuning.

Trees are grown once, at the middle value of C. For every C the values of their leaves are optimised, and the trees that
are missed least are eliminated to reach each smaller number of trees. All are solved only as precisely as a comparison
needs; what is chosen is fitted again from the start.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from .._typing import Vector
from ..errors import InterruptedFitWarning
from ..masters import MasterFailed
from .held_out import HeldOut
from .leaf_generation import LeafGeneration
from .leaf_wiring import LeafWiring
from .path import PathPoint

SMALLER = 2**-0.5
"""Each number of trees that is tried is this fraction of the one before."""
MOST_SIZES = 8
"""How many numbers of trees are tried at most."""


def sizes_below(max_trees: int) -> list[int]:
    """The numbers of trees that are tried where the smallest ensemble is wanted, in decreasing order."""
    sizes = [round(max_trees * SMALLER**k) for k in range(MOST_SIZES)]
    return sorted({max(size, 1) for size in sizes}, reverse=True)


def follow_leaf_path(
    wiring: LeafWiring, Cs: Vector, held_out: HeldOut, sizes: Sequence[int], with_errors: bool
) -> list[PathPoint]:
    """One point for each value of C and each number of trees, which are in decreasing order."""
    middle = len(Cs) // 2
    grown = LeafGeneration(wiring.at(float(Cs[middle])), sizes[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # the warning speaks of an ensemble returned
        trace = grown.run()
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    points: dict[int, list[PathPoint]] = {}
    start = grown.ensemble.stage()
    for k in sorted(range(len(Cs)), key=lambda k: abs(k - middle)):
        moved = grown.moved_to(wiring.at(float(Cs[k])), held_out)
        moved.ensemble.restore(start)
        points[k] = [_point(moved, size, held_out, with_errors) for size in sizes]
    return [point for k in range(len(Cs)) for point in points[k]]


def _point(generation: LeafGeneration, size: int, held_out: HeldOut, with_errors: bool) -> PathPoint:
    """The ensemble cut down to this many trees, with the best values for its leaves."""
    C = generation.wiring.formulation.strength
    try:
        generation.shrink_to(size)
    except MasterFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, size)
    scored, scoring = generation.scored(held_out), held_out.scoring
    error = scoring.standard_error(scored) if with_errors else np.nan
    return PathPoint(C, scoring.score(scored), len(generation.ensemble.held), error)
