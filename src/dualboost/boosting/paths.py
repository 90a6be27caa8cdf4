"""One fit, and paths of fits: for many values of C, and for smaller and smaller ensembles."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
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
    """Not a number where no solver can solve this C."""
    n_trees: int
    standard_error: float = np.nan


class Path(ABC):
    """A generation that can move to another C, with the trees that the values of C share."""

    def __init__(self, Cs: Vector, held_out: HeldOut, sizes: Sequence[int]) -> None:
        self._Cs, self._held_out, self._sizes = Cs.tolist(), held_out, sizes

    @abstractmethod
    def order(self) -> list[int]:
        """The positions of the values of C in the order in which they are solved."""

    @abstractmethod
    def share_of(self, n_left: int) -> float:
        """The share of the time left for the next point, given the number of points left."""

    @abstractmethod
    def grow(self, k: int) -> None:
        """Grow the trees for the k-th C, where they are grown before any point is solved."""

    @abstractmethod
    def solve(self, k: int, size: int) -> ScoredRows:
        """Solve for the k-th C with ``size`` trees; returns the held-out rows with their scores."""

    @property
    @abstractmethod
    def n_trees(self) -> int:
        """The number of trees of the last point."""

    @staticmethod
    def _run(generation: Generation) -> Trace:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InterruptedFitWarning)  # no ensemble is returned from a path
            trace = generation.run()
        if trace.stop_reason == "interrupted":
            raise KeyboardInterrupt
        return trace


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
    """
    parts = Cs, held_out, sizes
    path = LeafPath(fit_context, *parts) if isinstance(fit_context, LeafFitContext) else WeightPath(fit_context, *parts)
    points: dict[tuple[int, int], PathPoint] = {}
    steps = [(size, k) for size in sizes for k in path.order()]
    for size, k in steps:
        path.grow(k)
        with share_of_time(path.share_of(len(steps) - len(points))):
            points[size, k] = _point(path, float(Cs[k]), k, size, held_out, with_errors)
        if observer is not None:
            observer(points[size, k])
    return [points[size, k] for size in sizes for k in range(len(Cs))]


def _point(path: Path, C: float, k: int, size: int, held_out: HeldOut, with_errors: bool) -> PathPoint:
    try:
        scored = path.solve(k, size)
    except SolverFailed:  # no solver can solve this extreme value of C, so it is no candidate
        return PathPoint(C, np.nan, path.n_trees)
    error = held_out.scoring.standard_error(scored) if with_errors else np.nan
    return PathPoint(C, held_out.scoring.score(scored), path.n_trees, error)


FIRST = 0.5
"""The share of the time for the first value of C, which needs the most columns."""
EXTRA_SHARE = 33
"""Once ``max_trees`` columns are held, each value of C may add ``max_trees / EXTRA_SHARE`` columns, at least one."""


class WeightPath(Path):
    """The first fit is at the end of the path that needs the most columns.

    Every next C begins with the columns and the iterate of the C before, and may add a few columns of its own.
    """

    def __init__(self, fit_context: FitContext, Cs: Vector, held_out: HeldOut, sizes: Sequence[int]) -> None:
        super().__init__(Cs, held_out, sizes)
        assert isinstance(fit_context, WeightFitContext), "weights or leaves are optimised"
        assert len(sizes) == 1, "ensembles of columns are not eliminated"
        self._fit_context = fit_context
        self._n_used = 0

    def order(self) -> list[int]:
        order = range(len(self._Cs))
        return list(order if self._fit_context.formulation.sparser_with_larger_C else reversed(order))

    def share_of(self, n_left: int) -> float:
        return max(1.0 / n_left, FIRST) if n_left == len(self._Cs) else 1.0 / n_left

    def grow(self, k: int) -> None:
        """Every point grows its own columns."""

    def solve(self, k: int, size: int) -> ScoredRows:
        self._fit_context = fit_context = self._fit_context.at(self._Cs[k])
        columns = fit_context.columns
        self._n_used = columns.n_columns
        start = fit_context.solver.polish(columns, fit_context.programme()) if columns.n_columns else None
        most = max(size, columns.n_columns + max(size // EXTRA_SHARE, 1))
        generation = ColumnGeneration(fit_context, most, held_out=self._held_out, scores_each=False, start=start)
        trace = self._run(generation)
        if trace.iterations or start is None:
            w, intercept = trace.stages[-1]
        else:
            w, intercept = start.w, generation.intercept(start)
        self._n_used = int(np.count_nonzero(w > PATH_TOLERANCE * w.max(initial=0.0)))
        return generation.scored(self._held_out, w, intercept)

    @property
    def n_trees(self) -> int:
        """The number of weights above the precision of the path; of columns, where no solver can solve this C."""
        return self._n_used


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


class LeafPath(Path):
    """Values of C with equal growing contexts (``leaf_generation.py``) share their trees.

    Trees are eliminated to reach each smaller number, and the values of their leaves are optimised for every C.
    """

    def __init__(self, fit_context: LeafFitContext, Cs: Vector, held_out: HeldOut, sizes: Sequence[int]) -> None:
        super().__init__(Cs, held_out, sizes)
        self._fit_context = fit_context
        self._shared = [fit_context.at(C).growing.formulation.C_value for C in self._Cs]
        self._grown: dict[float, LeafGeneration] = {}
        self._n_trees = 0

    def order(self) -> list[int]:
        return list(range(len(self._Cs)))

    def share_of(self, n_left: int) -> float:
        return 1.0 / n_left

    def grow(self, k: int) -> None:
        C = self._shared[k]
        if C not in self._grown:
            with share_of_time(GROWING / (len(set(self._shared)) - len(self._grown))):
                options: dict[str, Any] = {"held_out": self._held_out, "scores_each": False, "is_shared": True}
                generation = LeafGeneration(self._fit_context.at(C), self._sizes[0], **options)
                self._run(generation)
            self._grown[C] = generation

    def solve(self, k: int, size: int) -> ScoredRows:
        """The best values of the leaves for this C; afterwards the ensemble is at its own C again."""
        generation, self._n_trees = self._grown[self._shared[k]], size
        generation.shrink_to(size)
        ensemble = generation.ensemble
        own, stage = ensemble.point, ensemble.stage()
        self._n_trees = len(ensemble.held)
        try:
            generation.value_at(self._Cs[k])
            return generation.scored(self._held_out)
        finally:
            ensemble.restore(stage)
            ensemble.point = own

    @property
    def n_trees(self) -> int:
        return self._n_trees
