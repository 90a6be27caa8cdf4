"""The ensembles of many values of C on the same rows, with shared columns: for tuning.

The first fit is at the end of the path that needs the most columns. Every next value of C begins with the columns and
the iterate of the value before, and may add a few columns of its own. All values are solved only as precisely as a
comparison needs; the chosen value is fitted again from the start.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from ..deadlines import share_of_time
from ..errors import InterruptedFitWarning
from ..masters import MasterFailed, Precision
from .column_generation import ColumnGeneration
from .held_out import HeldOut
from .wiring import Wiring

PATH_TOLERANCE = 3e-3
"""The relative gap of a master on the path: small compared to the differences between values of C."""
ON_PATH = Precision(PATH_TOLERANCE, aim=1.0)
FIRST = 0.5
"""The share of the time for the first value of C, which needs the most columns."""
EXTRA_SHARE = 33
"""Once ``max_trees`` columns are held, each value of C may add ``max_trees / EXTRA_SHARE`` columns, at least one."""


@dataclass(frozen=True)
class PathPoint:
    """What one value of C gave on the held-out rows."""

    C: float
    score: float
    """Not a number where no solver can solve this C."""
    n_trees: int
    standard_error: float = np.nan


def ignore(point: PathPoint) -> None:
    """The observer of a path that nobody watches."""


def follow_path(
    wiring: Wiring,
    Cs: Vector,
    held_out: HeldOut,
    max_trees: int,
    with_errors: bool = False,
    observer: Callable[[PathPoint], None] = ignore,
) -> list[PathPoint]:
    """One point for each value of C, in the order of ``Cs``; the wiring may be that of any C.

    With ``with_errors``, the points have the standard errors of their scores. ``observer`` sees each when it is found.
    """
    order = range(len(Cs)) if wiring.formulation.sparser_with_larger_C else range(len(Cs) - 1, -1, -1)
    points: dict[int, PathPoint] = {}
    for k in order:
        share = 1.0 / (len(Cs) - len(points))
        with share_of_time(share if points else max(share, FIRST)):
            points[k] = _point(wiring, float(Cs[k]), held_out, max_trees, with_errors)
        observer(points[k])
    return [points[k] for k in range(len(Cs))]


def _point(wiring: Wiring, C: float, held_out: HeldOut, max_trees: int, with_errors: bool) -> PathPoint:
    """What this C gives, with the columns held and a few more."""
    wiring, columns = wiring.at(C), wiring.columns
    try:
        start = wiring.master.polish(columns, wiring.programme()) if columns.n_columns else None
    except MasterFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, columns.n_columns)
    most = max(max_trees, columns.n_columns + max(max_trees // EXTRA_SHARE, 1))
    generation = ColumnGeneration(wiring, most, held_out=held_out, scores_each=False, start=start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # the warning speaks of an ensemble returned
        trace = generation.run()
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    if trace.iterations or start is None:
        w, intercept = trace.weights[-1], trace.intercepts[-1]
    else:
        w, intercept = start.w, generation.scores.intercept(start)
    scored = generation.scores.of_held_out(held_out, w, intercept)
    error = held_out.scoring.standard_error(scored) if with_errors else np.nan
    return PathPoint(C, held_out.scoring.score(scored), _n_used_roughly(w), error)


def _n_used_roughly(w: Vector) -> int:
    """How many weights are above the precision of the path."""
    return int(np.count_nonzero(w > PATH_TOLERANCE * w.max(initial=0.0)))
