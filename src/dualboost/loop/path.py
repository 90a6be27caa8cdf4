"""The ensembles of many values of C on the same rows, with the columns shared: for tuning.

The value that generates most columns, at one end, is fitted first. Each neighbour begins with the columns and the
iterate of the one before, may add a few columns of its own, and hands them on. All are solved only as far as a
comparison needs; the chosen one is fitted again from the start.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..errors import InterruptedFitWarning
from ..formulations.base import Formulation
from ..masters import MASTERS, Interleaved, Ladder, MasterFailed, MasterSolution
from ..pricing.pool import Pool
from .column_generation import ColumnGeneration
from .held_out import HeldOut

PATH_TOLERANCE = 3e-3
"""The relative gap of a master on the path: small beside the differences between values of C."""
EXTRA_SHARE = 33
"""Beyond ``max_trees`` columns in all, a value of C may add one for this many of ``max_trees``."""


@dataclass(frozen=True)
class PathPoint:
    """What one value of C gave on the held-out rows."""

    C: float
    score: float
    n_trees: int


def follow_path(
    formulation: Formulation, Cs: Vector, pool: Pool, columns: Columns, held_out: HeldOut, max_trees: int
) -> list[PathPoint]:
    """One point for each value of C, in the order of ``Cs``."""
    n_samples = float(columns.counts.sum())
    order = range(len(Cs)) if formulation.sparser_with_larger_C else range(len(Cs) - 1, -1, -1)
    master = Interleaved(Ladder(list(MASTERS.values()), PATH_TOLERANCE), aim=1.0)
    points: dict[int, PathPoint] = {}
    for k in order:
        chosen = replace(formulation, C=float(Cs[k])).resolve(n_samples)
        try:
            start = _optimum(chosen, master, columns)
        except MasterFailed:  # a value so extreme that no solver bears it is no candidate
            points[k] = PathPoint(float(Cs[k]), 0.0, columns.n_columns)
            continue
        generation = ColumnGeneration(
            formulation=chosen,
            pool=pool,
            master=master,
            columns=columns,
            max_trees=max(max_trees, columns.n_columns + max(max_trees // EXTRA_SHARE, 1)),
            tol=PATH_TOLERANCE,
            held_out=held_out,
            start=start,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InterruptedFitWarning)  # nothing of it is returned
            trace = generation.run()
        if trace.stop_reason == "interrupted":
            raise KeyboardInterrupt
        w = trace.weights[-1] if trace.iterations or start is None else start.w
        points[k] = PathPoint(float(Cs[k]), generation.score(held_out, w), _n_used_roughly(w))
    return [points[k] for k in range(len(Cs))]


def _optimum(formulation: Formulation, master: Interleaved, columns: Columns) -> MasterSolution | None:
    """The optimum over the columns held, from that of the value of C before; None where no column is held."""
    if not columns.n_columns:
        return None
    programme = formulation.programme_over(columns, columns.n_columns)
    master.move_to(columns, programme)
    return master.polish(columns, programme)


def _n_used_roughly(w: Vector) -> int:
    """Weights that stand out at the accuracy of the path."""
    return int(np.count_nonzero(w > PATH_TOLERANCE * w.max(initial=0.0)))
