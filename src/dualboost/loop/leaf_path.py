"""The ensembles of many values of C, and of fewer trees, on the same rows where leaves are corrected: for tuning.

Values of C that trees are grown alike for (``leaf_generation.py``) share their trees. These are eliminated to reach
each smaller number of trees, and the values of the leaves are optimised for every C, as precisely as a comparison
needs; what is chosen is fitted again from the start.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np

from .._typing import Vector
from ..deadlines import share_of_time
from ..errors import InterruptedFitWarning
from ..masters import MasterFailed
from .held_out import HeldOut
from .leaf_generation import LeafGeneration
from .leaf_wiring import LeafWiring
from .path import PathPoint, ignore

SMALLER = 2**-0.5
"""Each number of trees that is tried is this fraction of the one before."""
GROWING = 0.6
"""The share of the time for growing the trees; the rest is for the values of their leaves at each C."""
MOST_SIZES = 8
"""How many numbers of trees are tried at most."""


def sizes_below(max_trees: int) -> list[int]:
    """The numbers of trees that are tried where the smallest ensemble is wanted, in decreasing order."""
    sizes = [round(max_trees * SMALLER**k) for k in range(MOST_SIZES)]
    return sorted({max(size, 1) for size in sizes}, reverse=True)


def follow_leaf_path(
    wiring: LeafWiring,
    Cs: Vector,
    held_out: HeldOut,
    sizes: Sequence[int],
    with_errors: bool,
    observer: Callable[[PathPoint], None] = ignore,
) -> list[PathPoint]:
    """One point for each number of trees, which are in decreasing order, and each value of C."""
    grown: dict[float, LeafGeneration] = {}
    alike = [wiring.at(float(C)).growing.formulation.strength for C in Cs]
    points: list[PathPoint] = []
    n_points, n_shared = len(sizes) * len(Cs), len(set(alike))
    for size in sizes:
        for C, shared in zip(Cs.tolist(), alike, strict=True):
            if shared not in grown:
                with share_of_time(GROWING / (n_shared - len(grown))):
                    grown[shared] = _grown(wiring.at(shared), sizes[0], held_out)
            generation = grown[shared]
            with share_of_time(1.0 / (n_points - len(points))):
                generation.shrink_to(size)
                points.append(_point(generation, C, held_out, with_errors))
            observer(points[-1])
    return points


def _grown(wiring: LeafWiring, max_trees: int, held_out: HeldOut) -> LeafGeneration:
    generation = LeafGeneration(wiring, max_trees, held_out=held_out, scores_each=False, is_shared=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # the warning speaks of an ensemble returned
        trace = generation.run()
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return generation


def _point(generation: LeafGeneration, C: float, held_out: HeldOut, with_errors: bool) -> PathPoint:
    """The best values of the leaves for this C, judged on held-out rows; the ensemble stays at its own C."""
    ensemble = generation.ensemble
    n_trees, own, stage = len(ensemble.held), ensemble.point, ensemble.stage()
    try:
        generation.value_at(C)
        scored, scoring = generation.scored(held_out), held_out.scoring
        return PathPoint(C, scoring.score(scored), n_trees, scoring.standard_error(scored) if with_errors else np.nan)
    except MasterFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, n_trees)
    finally:
        ensemble.restore(stage)
        ensemble.point = own
