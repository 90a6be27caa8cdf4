"""One fit, and paths of fits: for many values of C, and for smaller and smaller ensembles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._typing import Features, Vector
from ..deadlines import Pace, share_of_time
from ..errors import InterruptedFitWarning
from ..learners.base import PricedColumn
from ..learners.newton_trees import GrownTree
from ..solvers import Precision, SolverFailed
from ..targets.scoring import ScoredRows
from ..trees.tree import Learner, Tree
from .column_generation import ColumnGeneration
from .context import FitContext, WeightFitContext
from .generation import Generation
from .history import HeldOut, Trace
from .leaf_context import LeafFitContext
from .leaf_generation import LeafGeneration


class EarlierFit(NamedTuple):
    """The learners of a fit to go on from, and the rows of the new fit."""

    learners: Sequence[Learner]
    X: Features

    def trees(self, signs: Sequence[int] | None) -> list[GrownTree]:
        """The learners that are trees with a split; other ones have no leaves to optimise."""
        trees = [learner for learner in self.learners if isinstance(learner, Tree) and learner.n_leaves > 1]
        return [GrownTree.of(tree, self.X).ordered_by(signs) for tree in trees]

    @property
    def columns(self) -> list[PricedColumn]:
        return [PricedColumn(learner, learner.vote(self.X)) for learner in self.learners]


def generate(fit_context: FitContext, max_trees: int, earlier: EarlierFit | None = None, **options: Any) -> Trace:
    """The trace of a loop with at most ``max_trees`` trees; ``options`` are fields of ``Generation``."""
    if isinstance(fit_context, LeafFitContext):
        trees = earlier.trees(fit_context.signs) if earlier is not None else ()
        return LeafGeneration(fit_context, max_trees, earlier=trees, **options).run()
    assert isinstance(fit_context, WeightFitContext), "weights or leaves are optimised"
    columns = earlier.columns if earlier is not None else ()
    most_entering = fit_context.solver_options.most_entering
    return ColumnGeneration(fit_context, max_trees, most_entering=most_entering, earlier=columns, **options).run()


# All points are solved only as precisely as a comparison needs; the chosen C and number of trees are fitted again from
# the start.

PATH_TOLERANCE = 3e-3
"""The relative gap of a solution on the path: small compared to the differences between values of C."""
ON_PATH = Precision(PATH_TOLERANCE, aim=1.0)


@dataclass(frozen=True)
class PathPoint:
    """The score on the held-out rows for one value of C."""

    C: float
    score: float
    """Not a number where no solver can solve this C, and where no time was left for it."""
    n_trees: int
    standard_error: float = np.nan
    is_compared: bool = True
    """Whether there was time for this value of C."""
    is_cut_short: bool = False
    """Whether the time limit ended its ensemble before it had all its trees."""


class Solved(NamedTuple):
    """An ensemble on a path."""

    scored: ScoredRows | None
    """The held-out rows with their scores; None where no solver can solve this C."""
    n_trees: int
    is_cut_short: bool


class Step(NamedTuple):
    """The next point of a path."""

    position: int
    C: float
    share: float
    """The share of the time left for it."""
    solve: Callable[[], Solved]


def follow_path(
    fit_context: FitContext,
    Cs: Vector,
    held_out: HeldOut,
    sizes: Sequence[int],
    with_errors: bool = False,
    observer: Callable[[PathPoint], None] | None = None,
) -> list[PathPoint]:
    """One point for each number of trees, which decrease, and each value of C; the context may be at any C.

    With ``with_errors``, the points have the standard errors of their scores. ``observer`` is called with each point.
    The path ends where no time is left for another point.
    """
    parts = Cs.tolist(), held_out, sizes
    if isinstance(fit_context, LeafFitContext):
        steps = leaf_steps(fit_context, *parts)
    else:
        assert isinstance(fit_context, WeightFitContext), "weights or leaves are optimised"
        steps = weight_steps(fit_context, *parts)
    points, pace = not_compared(np.tile(Cs, len(sizes))), Pace(fit_context.rows.workers)
    for step in steps:
        if not pace.allows_another:
            break
        with pace.step(), share_of_time(step.share):
            scored, n_trees, is_cut_short = step.solve()
            score = np.nan if scored is None else held_out.scoring.score(scored)
            error = held_out.scoring.standard_error(scored) if with_errors and scored is not None else np.nan
        points[step.position] = PathPoint(step.C, score, n_trees, error, is_cut_short=is_cut_short)
        if observer is not None:
            observer(points[step.position])
    return points


def not_compared(Cs: Vector) -> list[PathPoint]:
    """The points of values of C for which there was no time."""
    return [PathPoint(C, np.nan, 0, is_compared=False, is_cut_short=True) for C in Cs.tolist()]


def _run(generation: Generation) -> Trace:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InterruptedFitWarning)  # no ensemble is returned from a path
        trace = generation.run()
    if trace.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return trace


FIRST = 0.5
"""The share of the time for the first value of C, which needs the most columns."""
EXTRA_SHARE = 33
"""Once ``max_trees`` columns are held, each value of C may add ``max_trees / EXTRA_SHARE`` columns, at least one."""


def weight_steps(
    fit_context: WeightFitContext, Cs: Sequence[float], held_out: HeldOut, sizes: Sequence[int]
) -> Iterator[Step]:
    """Steps from the end of the path that needs the most columns.

    Every next C begins with the columns and the iterate of the C before, and may add a few columns of its own.
    """
    (max_trees,) = sizes  # ensembles of columns are not eliminated
    order = range(len(Cs)) if fit_context.formulation.sparser_with_larger_C else range(len(Cs) - 1, -1, -1)
    for n_done, k in enumerate(order):
        share = 1.0 / (len(Cs) - n_done)
        fit_context = fit_context.at(Cs[k])
        solve = partial(_solve_weights, fit_context, held_out, max_trees)
        yield Step(k, Cs[k], share if n_done else max(share, FIRST), solve)


def _solve_weights(fit_context: WeightFitContext, held_out: HeldOut, max_trees: int) -> Solved:
    """The scores with the columns held and a few more; trees count if their weight exceeds the precision."""
    columns = fit_context.columns
    try:
        start = fit_context.solver.polish(columns, fit_context.programme()) if columns.n_columns else None
    except SolverFailed:  # this extreme value of C is no candidate
        return Solved(None, columns.n_columns, is_cut_short=False)
    most = max(max_trees, columns.n_columns + max(max_trees // EXTRA_SHARE, 1))
    generation = ColumnGeneration(fit_context, most, held_out=held_out, scores_each=False, start=start)
    trace = _run(generation)
    if trace.iterations or start is None:
        w, intercept = trace.stages[-1]
    else:
        w, intercept = start.w, generation.intercept(start)
    n_trees = int(np.count_nonzero(w > PATH_TOLERANCE * w.max(initial=0.0)))
    is_cut_short = trace.stop_reason == "time_limit" and columns.n_columns < max_trees
    return Solved(generation.scored(held_out, w, intercept), n_trees, is_cut_short)


SMALLER = 2**-0.5
"""Each number of trees that is tried is this fraction of the one before."""
GROWING = 0.6
"""The share of the time for growing the trees; the rest is for the values of their leaves at each C."""
MOST_SIZES = 8
"""How many numbers of trees are tried at most."""


def sizes_below(max_trees: int) -> list[int]:
    """The numbers of trees that are tried for the smallest ensemble, in decreasing order."""
    sizes = [round(max_trees * SMALLER**k) for k in range(MOST_SIZES)]
    return sorted({max(size, 1) for size in sizes}, reverse=True)


def leaf_steps(
    fit_context: LeafFitContext, Cs: Sequence[float], held_out: HeldOut, sizes: Sequence[int]
) -> Iterator[Step]:
    """Steps over values of C that share their trees if these are grown at the same C (``leaf_generation.py``).

    Trees are eliminated to reach each smaller number, and the values of their leaves are optimised for every C.
    Where no time is left to grow another set of trees, the values of C meant for it share the set before.
    """
    grown: dict[float, LeafGeneration] = {}
    short: set[float] = set()
    pace = Pace(fit_context.rows.workers)
    shared = [fit_context.at(C).growing.formulation.C_value for C in Cs]
    n_points = len(sizes) * len(Cs)
    for position in range(n_points):
        size, k = sizes[position // len(Cs)], position % len(Cs)
        if shared[k] not in grown and not pace.allows_another:
            if not grown:
                return
            grown[shared[k]] = next(reversed(grown.values()))
            short.add(shared[k])
        if shared[k] not in grown:
            with pace.step(), share_of_time(GROWING / (len(set(shared)) - len(grown))):
                options: dict[str, Any] = {"held_out": held_out, "scores_each": False, "is_shared": True}
                generation = LeafGeneration(fit_context.at(shared[k]), sizes[0], **options)
                _run(generation)
            grown[shared[k]] = generation
            if generation.trace.stop_reason == "time_limit" and len(generation.ensemble.held) < sizes[0]:
                short.add(shared[k])
        solve = partial(_solve_leaves, grown[shared[k]], held_out, size, Cs[k], shared[k] in short)
        yield Step(position, Cs[k], 1.0 / (n_points - position), solve)


def _solve_leaves(generation: LeafGeneration, held_out: HeldOut, size: int, C: float, is_cut_short: bool) -> Solved:
    """The scores with the best values of the leaves for this C; the ensemble stays at its own C."""
    with suppress(SolverFailed):  # the leaves of the smaller ensemble are solved for this C next
        generation.shrink_to(size)
    ensemble = generation.ensemble
    n_trees, own, stage = len(ensemble.held), ensemble.point, ensemble.stage()
    try:
        generation.value_at(C)
        return Solved(generation.scored(held_out), n_trees, is_cut_short)
    except SolverFailed:  # this extreme value of C is no candidate
        return Solved(None, n_trees, is_cut_short)
    finally:
        ensemble.restore(stage)
        ensemble.point = own
