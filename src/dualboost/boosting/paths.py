"""Runs a loop once, for many values of C, or for smaller and smaller ensembles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._typing import Features, Vector
from ..deadlines import share_of_time
from ..errors import InterruptedFitWarning
from ..learners.base import PricedColumn
from ..learners.newton_trees import GrownTree
from ..solvers import Precision, SolverFailed
from ..trees.tree import Learner, Tree
from .column_generation import ColumnGeneration
from .context import FitContext
from .history import HeldOut, Trace
from .leaf_context import LeafFitContext
from .leaf_generation import LeafGeneration


class EarlierFit(NamedTuple):
    """The learners of a fit to go on from, and the rows of the wiring."""

    learners: Sequence[Learner]
    X: Features

    def trees(self, signs: Sequence[int] | None) -> list[GrownTree]:
        """Those that are trees with a split; other ones have no leaves to correct."""
        trees = [learner for learner in self.learners if isinstance(learner, Tree) and learner.n_leaves > 1]
        return [GrownTree.of(tree, self.X).ordered_by(signs) for tree in trees]

    @property
    def columns(self) -> list[PricedColumn]:
        return [PricedColumn(learner, learner.vote(self.X)) for learner in self.learners]


def generate(
    fit_context: FitContext | LeafFitContext, max_trees: int, earlier: EarlierFit | None = None, **watched: Any
) -> Trace:
    """What the loop finds with at most ``max_trees`` trees; ``watched`` are held-out rows, rules and observers."""
    if isinstance(fit_context, LeafFitContext):
        trees = earlier.trees(fit_context.signs) if earlier is not None else ()
        return LeafGeneration(fit_context, max_trees, earlier=trees, **watched).run()
    columns = earlier.columns if earlier is not None else ()
    most_entering = fit_context.solver_options.most_entering
    return ColumnGeneration(fit_context, max_trees, most_entering=most_entering, earlier=columns, **watched).run()


# The first fit is at the end of the path that needs the most columns. Every next value of C begins with the columns
# and the iterate of the value before, and may add a few columns of its own. All values are solved only as precisely
# as a comparison needs; the chosen value is fitted again from the start.

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
    fit_context: FitContext,
    Cs: Vector,
    held_out: HeldOut,
    max_trees: int,
    with_errors: bool = False,
    observer: Callable[[PathPoint], None] = ignore,
) -> list[PathPoint]:
    """One point for each value of C, in the order of ``Cs``; the wiring may be that of any C.

    With ``with_errors``, the points have the standard errors of their scores. ``observer`` sees each when it is found.
    """
    order = range(len(Cs)) if fit_context.formulation.sparser_with_larger_C else range(len(Cs) - 1, -1, -1)
    points: dict[int, PathPoint] = {}
    for k in order:
        share = 1.0 / (len(Cs) - len(points))
        with share_of_time(share if points else max(share, FIRST)):
            points[k] = _point(fit_context, float(Cs[k]), held_out, max_trees, with_errors)
        observer(points[k])
    return [points[k] for k in range(len(Cs))]


def _point(fit_context: FitContext, C: float, held_out: HeldOut, max_trees: int, with_errors: bool) -> PathPoint:
    """What this C gives, with the columns held and a few more."""
    fit_context, columns = fit_context.at(C), fit_context.columns
    try:
        start = fit_context.solver.polish(columns, fit_context.programme()) if columns.n_columns else None
    except SolverFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, columns.n_columns)
    most = max(max_trees, columns.n_columns + max(max_trees // EXTRA_SHARE, 1))
    generation = ColumnGeneration(fit_context, most, held_out=held_out, scores_each=False, start=start)
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


# Values of C that trees are grown alike for (``leaf_generation.py``) share their trees. These are eliminated to reach
# each smaller number of trees, and the values of the leaves are optimised for every C, as precisely as a comparison
# needs; what is chosen is fitted again from the start.

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
    fit_context: LeafFitContext,
    Cs: Vector,
    held_out: HeldOut,
    sizes: Sequence[int],
    with_errors: bool,
    observer: Callable[[PathPoint], None] = ignore,
) -> list[PathPoint]:
    """One point for each number of trees, which are in decreasing order, and each value of C."""
    grown: dict[float, LeafGeneration] = {}
    alike = [fit_context.at(float(C)).growing.formulation.C_value for C in Cs]
    points: list[PathPoint] = []
    n_points, n_shared = len(sizes) * len(Cs), len(set(alike))
    for size in sizes:
        for C, shared in zip(Cs.tolist(), alike, strict=True):
            if shared not in grown:
                with share_of_time(GROWING / (n_shared - len(grown))):
                    grown[shared] = _grown(fit_context.at(shared), sizes[0], held_out)
            generation = grown[shared]
            with share_of_time(1.0 / (n_points - len(points))):
                generation.shrink_to(size)
                points.append(_leaf_point(generation, C, held_out, with_errors))
            observer(points[-1])
    return points


def _grown(fit_context: LeafFitContext, max_trees: int, held_out: HeldOut) -> LeafGeneration:
    generation = LeafGeneration(fit_context, max_trees, held_out=held_out, scores_each=False, is_shared=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # the warning speaks of an ensemble returned
        trace = generation.run()
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return generation


def _leaf_point(generation: LeafGeneration, C: float, held_out: HeldOut, with_errors: bool) -> PathPoint:
    """The best values of the leaves for this C, judged on held-out rows; the ensemble stays at its own C."""
    ensemble = generation.ensemble
    n_trees, own, stage = len(ensemble.held), ensemble.point, ensemble.stage()
    try:
        generation.value_at(C)
        scored, scoring = generation.scored(held_out), held_out.scoring
        return PathPoint(C, scoring.score(scored), n_trees, scoring.standard_error(scored) if with_errors else np.nan)
    except SolverFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, n_trees)
    finally:
        ensemble.restore(stage)
        ensemble.point = own
