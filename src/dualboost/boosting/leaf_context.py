"""The parts of a fit over leaves, and the trees at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Scores, Vector
from ..arguments import require_choice
from ..errors import UnsupportedFormulationError
from ..formulations.base import Formulation
from ..learners.newton_trees import Grower, GrownTree
from ..matrix.leaves import LeafColumns, VectorLeafColumns
from ..matrix.rows import Rows
from ..solvers import SOLVERS, Precision, Solution, SolverOptions
from ..solvers.leaf_solvers import leaf_solver_of
from ..targets.base import Target
from ..trees.tree import Tree
from ..workers.base import cached_property
from .context import FitContext

# A tree that has seen all rows follows their noise, and values that are re-optimised follow it further. Trees that
# are grown on samples, with values from all rows, are less alike, and fit rows not seen better.
#
# Whether a row is drawn depends on the row itself and on the number of the draw, not on its place: the samples are
# the same whatever the order of the rows, on any number of threads, and wherever rows are held.

LEAST_SHARE = 0.7
"""The smallest share of the rows that a tree is grown on by default."""
FEW_LEAVES, MANY_LEAVES = 0.25, 0.5
"""With at most so many leaves a row, in all trees together, a tree is grown on all rows; with so many, on that share.

On twenty data sets with 150, 600 and 2,000 training rows, samples of 0.7 brought 0.1 to 0.7 points of accuracy above
and cost 0.2 below. Where leaves have a value for each class they did not pay: on four data sets of the
benchmark, of 170 to 1,400 rows (20 and 40 trees of depths 3 and 4), the accuracy was 0.5 points lower, and so was the
log loss by .002."""

FEWEST_ROWS = 50
"""Below so many rows, trees are grown on all of them: a pattern may be a single row."""

Keys = NDArray[np.uint64]
Mask = NDArray[np.bool_]


def share_of_rows(n_leaves: float, n_rows: int, n_outputs: int = 1) -> float:
    """The share of the rows that a tree is grown on by default, given how many leaves all trees may have.

    Where leaves are many, there is mostly noise left to fit; where they are few, every row counts.
    """
    if n_rows < FEWEST_ROWS or n_outputs > 1:
        return 1.0
    beyond = (n_leaves / n_rows - FEW_LEAVES) / (MANY_LEAVES - FEW_LEAVES)
    return float(1.0 - (1.0 - LEAST_SHARE) * np.clip(beyond, 0.0, 1.0))


class RowSamples:
    """Draws a share of the rows, given a key for each; rows of opposite sign, whose keys differ by one bit, alike."""

    def __init__(self, keys: Keys, share: float = 1.0, seed: int = 0) -> None:
        self._keys = keys >> np.uint64(1)
        self.share = share
        self._numbers = np.random.default_rng(seed)

    def draws(self) -> Iterator[tuple[Mask | None, float]]:
        """The rows to grow on, as a mask, and their share: first a sample, then all of them, whose mask is None."""
        if self.share < 1.0:
            number = self._numbers.integers(2**64, dtype=np.uint64, endpoint=False)
            yield _mixed(self._keys ^ number) < np.uint64(self.share * 2**64), self.share
        yield None, 1.0


def _mixed(keys: Keys) -> Keys:
    """The bits of each key, mixed as the generator "splitmix64" does."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def part(values: Vector, mask: Mask | None) -> Vector:
    """A vector, or a matrix with a row for each row, with zeros for the rows that were not drawn."""
    return values if mask is None else values * mask.reshape(-1, *(1,) * (values.ndim - 1))


class LeafStage(NamedTuple):
    """An ensemble on the way: which of the trees grown it has, the values of their leaves, and the intercept."""

    trees: tuple[int, ...]
    values: tuple[Scores, ...]
    intercept: Any
    """One number, or one for each class."""

    def first(self, n_trees: int) -> LeafStage:
        """The stage with its first trees only."""
        return LeafStage(self.trees[:n_trees], self.values[:n_trees], self.intercept)

    @property
    def sizes(self) -> Vector:
        """The largest absolute value of each tree: its weight."""
        return np.array([np.abs(values).max(initial=0.0) for values in self.values])


@dataclass(eq=False)
class LeafEnsemble:
    """Trees in the order of their columns, numbered in the order in which they were grown."""

    point: Any
    """The values of their leaves: a point of ``solvers/leaf_solvers.py``."""

    def __post_init__(self) -> None:
        self.grown: list[GrownTree] = []
        """All trees that ever took part."""
        self.held: list[int] = []
        """The trees that take part now."""

    @property
    def columns(self) -> LeafColumns:
        columns: LeafColumns = self.point.columns
        return columns

    @property
    def trees(self) -> list[Tree]:
        return [grown.tree for grown in self.grown]

    def stage(self) -> LeafStage:
        values = self.point.values
        parts = tuple(values[low:high] for low, high in pairwise(self.columns.starts.tolist()))
        return LeafStage(tuple(self.held), parts, self.point.intercept)

    def enter(self, grown: GrownTree) -> None:
        """Add a tree whose leaves have the value zero."""
        self.grown.append(grown)
        self.held.append(len(self.grown) - 1)
        self.columns.append(grown.leaves, grown.tree.n_leaves, grown.order)
        values = np.concatenate([self.point.values, self._zeros(grown.tree.n_leaves)])
        self.point = self.point.at(values, self.point.intercept, self.point.scores)

    def without(self, k: int) -> Any:
        """The point as it would be without the k-th tree held; only its rows are defined, not its columns."""
        own = self.columns.values_of_rows(k, self.stage().values[k])
        return self.point.at(self.point.values, self.point.intercept, self.point.scores - own)

    def put(self, k: int, grown: GrownTree) -> None:
        """Put a tree whose leaves have the value zero into the place of the k-th tree held."""
        scores, stage = self.without(k).scores, self.stage()
        self.grown.append(grown)
        self.held[k] = len(self.grown) - 1
        values = [*stage.values[:k], self._zeros(grown.tree.n_leaves), *stage.values[k + 1 :]]
        self._hold()
        self.point = self.point.at(np.concatenate(values), stage.intercept, scores)

    def undo(self, stage: LeafStage, point: Any) -> None:
        """Take back the tree that was put last, given the stage and the point of before."""
        del self.grown[-1]
        self.held = list(stage.trees)
        self._hold()
        self.point = point

    def restore(self, stage: LeafStage) -> None:
        """Go back to a stage of before, or to one with some of the trees of now."""
        self.held = list(stage.trees)
        self._hold()
        values = np.concatenate([*stage.values, self._zeros(0)])
        self.point = self.point.at(values, stage.intercept, self.columns.scores(values))

    def adopt(self, solution: Solution) -> None:
        """Take over the values of a solution over the trees held."""
        self.point = self.point.adopting(solution)

    def move_to(self, programme: Any) -> None:
        """Go on with a programme of the same rows at another C."""
        self.point = replace(self.point, programme=programme)

    def _hold(self) -> None:
        held = [self.grown[j] for j in self.held]
        self.columns.hold([(grown.leaves, grown.tree.n_leaves, grown.order) for grown in held])

    def _zeros(self, n_leaves: int) -> Scores:
        return np.zeros((n_leaves, *self.point.values.shape[1:]))


@dataclass(frozen=True, eq=False)
class LeafFitContext(FitContext):
    """The parts of a fit whose leaves are optimised."""

    grower: Grower
    samples: RowSamples
    """Draws the rows that each tree is grown on."""
    is_rough: bool = False
    """Whether the programme only has to lead to good trees."""
    signs: tuple[int, ...] | None = None
    """The monotonic constraint of each feature, for values of leaves in order; see ``TreeLimits``."""

    columns: LeafColumns = field(init=False)

    def __post_init__(self) -> None:
        n_outputs = self.target.n_outputs
        own = VectorLeafColumns(self.rows, n_outputs) if n_outputs > 1 else LeafColumns(self.rows, self.operator)
        object.__setattr__(self, "columns", own)

    @property
    def has_normalised_scores(self) -> bool:
        return False

    def duals_of_rows(self, u: Vector) -> Vector:
        return u if self.target.n_outputs > 1 else self.operator.duals_of_rows(u)

    @cached_property
    def programme(self) -> Any:
        """The programme of the formulation, with leaves of any value and a ridge in place of its weights."""
        programme = self.formulation.over_leaves(self.rows, self.operator, self.target.n_outputs)
        programme = programme.for_growing() if self.is_rough else programme
        return programme.in_order() if self.signs is not None else programme

    def improved(self, point: Any, newest: int | None = None) -> Any:
        """A point with a smaller objective, as good as the next pricing needs; ``newest`` is the newest tree."""
        if self.solver_options.reoptimize == "every":
            return self.optimum(point)[0]
        return leaf_solver_of(point.programme).improved(point, newest)

    def optimum(self, point: Any) -> tuple[Any, Solution]:
        """The optimum over the leaves held, to the tolerance."""
        return leaf_solver_of(point.programme).optimum(point, self.precision.tolerance)

    def unit(self, point: Any) -> float:
        """The factor that makes the mean curvature of a row at this point a quarter, as trees are grown with."""
        rows = self.rows
        total = max(rows.total(point.curvature), np.finfo(float).tiny)
        return float(0.25 * rows.rows_each * rows.workers.sum(float(point.curvature.size)) / total)

    @cached_property
    def growing(self) -> LeafFitContext:
        """The same parts as trees are grown with them: at another C, and for a loss without kinks."""
        is_rough = self.solver_options.reoptimize != "every"
        return replace(self, formulation=self.formulation.for_growing(self.rows), is_rough=is_rough)


def make_leaf_fit_context(
    target: Target,
    targets: Vector,
    formulation: Formulation,
    rows: Rows,
    solver_options: SolverOptions,
    precision: Precision,
    grower: Grower,
    samples: RowSamples,
    signs: tuple[int, ...] | None = None,
) -> LeafFitContext:
    """The context of a fit of leaves; a formulation without a loss for free values raises an error before any work."""
    formulation = formulation.resolve_for(rows)
    if target.n_outputs == 1:
        require_leaves(formulation, rows)
    _require_options(solver_options, formulation)
    parts = (target, targets, formulation, rows, solver_options, precision, grower, samples)
    return LeafFitContext(*parts, signs=signs)


def _require_options(solver_options: SolverOptions, formulation: Formulation) -> None:
    """Refuse the options of solvers for weights: leaves have solvers of their own."""
    if solver_options.active_rows is not None:
        raise UnsupportedFormulationError(
            f"active_rows={solver_options.active_rows!r} leaves rows out of programmes over weights, but formulation "
            f"{formulation.name!r} is to correct leaves: use None, or optimize='weights' with 'lp' or 'cg'."
        )
    if require_choice("method", solver_options.method, ("auto", *SOLVERS)) == "auto":
        return
    raise UnsupportedFormulationError(
        f"method={solver_options.method!r} solves for the weights of trees, but formulation {formulation.name!r} is "
        "to correct leaves: use 'auto', or optimize='weights'."
    )


def require_leaves(formulation: Formulation, rows: Rows) -> None:
    """Refuse a formulation that is not a loss plus a cost of the weights."""
    programme = formulation.programme(rows, 1)
    is_loss = programme.total is None and programme.weight_set.total is None and not programme.weight_set.is_bounded
    if not is_loss or programme.stages is not None or formulation.has_sides or formulation.dual_strategy != "own":
        raise UnsupportedFormulationError(
            f"optimize='leaves' needs a loss plus a cost of the weights, as in 'logistic', 'convex', 'lp' or 'cg'; "
            f"formulation {formulation.name!r} is another kind of programme: use optimize='weights'."
        )
