"""The mathematical programme of a formulation for given rows, as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..errors import InvalidParameterError
from ..matrix.pairs import Pairs
from ..matrix.rows import Rows
from ..trees.ordering import LeafOrder
from ..workers.base import cached_property
from .terms import LinearTerm, RowTerm
from .weight_sets import Equations, Free, Ordered, WeightSet, combined, root_of_rising

# All programmes have this shape (A has a row for each row of the data and a column for each learner, m = A w are the
# margins, A'u the edges)::
#
#     min over w in W  of  max over u in U  of   Omega(w) - u'(A w) - sum_i g_i(u_i)
#     U: lower_i <= u_i <= upper_i, and E u = t
#
# E u = t (``equations.py``) fixes the total of u, where one is given, and stands for a free intercept, where there is
# one. The value is the *saddle value*; a formulation turns it into the objective the paper states. For any w in W and
# any rho (the multipliers of E u = t: the soft margin, the intercept), and any u in U,
#
#     primal(w, rho) = Omega(w) - rho't + sum_i loss_i((m - E'rho)_i)   >=   saddle value
#     dual(u)        = -sum_i g_i(u_i) - support_W(A'u)                 <=   saddle value
#
# so their difference bounds the error of both, whichever solver computed them.


class ProgrammeBlock(NamedTuple):
    """The part of a programme for one block of rows."""

    lower: Vector
    upper: Vector
    term: RowTerm
    equations: Matrix

    def shifted(self, margins: Vector, rho: Vector) -> Vector:
        """m - E'rho: the margins beyond the soft margin, and with the intercept."""
        return margins - combined(rho, self.equations) if len(rho) else margins

    def losses(self, margins: Vector, rho: Vector) -> Vector:
        return self.term.loss(self.shifted(margins, rho), self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class Programme:
    """The box of the duals, the term g, the weight set W, and the parts of the equations E u = t.

    ``size`` is the loss of the empty ensemble where the optimal objective may be zero, and 0 elsewhere. The relative
    gap is measured against a fraction of ``size`` too, because a gap relative to zero could never be small.
    """

    rows: Rows
    lower: Vector
    upper: Vector
    term: RowTerm
    weight_set: WeightSet
    total: float | None = None
    """The required total of the duals; None leaves it free."""
    intercepts: Matrix | None = None
    """The columns of the learners of constant output, one row each, if scores have a free intercept."""
    size: float = 0.0

    def __post_init__(self) -> None:
        if len(self.equations) and self.is_bounded and self._nearest_sums(self.lower) is None:
            required = self.equations.described()
            raise InvalidParameterError(f"No duals between their bounds{required}. Choose a smaller C.")

    @cached_property
    def equations(self) -> Equations:
        """E u = t."""
        return Equations.of(self.rows, self.total, self.intercepts)

    @property
    def right_side(self) -> Vector:
        """t."""
        return self.equations.right_side

    @property
    def stages(self) -> TwoStageProgramme | None:
        """This programme, if it is one in two stages, to be solved by ``solvers/two_stages.py``; else None."""
        return None

    @property
    def pairs(self) -> Pairs | None:
        """The pairs of rows and classes, if rows have several duals each (``class_programme.py``); else None."""
        return None

    def with_intercepts(self, columns: Matrix) -> Programme:
        """The same programme with free intercepts, given the columns of the learners of constant output."""
        return replace(self, intercepts=columns)

    def over_leaves(self, intercepts: Matrix) -> Programme:
        """The same loss over the values of leaves, which have any sign and a ridge, with free intercepts."""
        return replace(self, weight_set=Free(1.0), intercepts=intercepts)

    def in_order(self, sizes: Sequence[int] = (), orders: Sequence[LeafOrder | None] = ()) -> Programme:
        """The programme over the leaves of these trees, with values in these orders."""
        return replace(self, weight_set=Ordered(self.weight_set.ridge, sizes=sizes, orders=orders))

    @property
    def leaf_solver(self) -> str:
        """The name of the solver of the programme over leaves."""
        return f"ordered {self.term.leaf_solver}" if isinstance(self.weight_set, Ordered) else self.term.leaf_solver

    def for_growing(self) -> Programme:
        """The programme for growing trees: without kinks, where the second derivative does not describe the loss."""
        if not isinstance(self.term, LinearTerm):
            return self
        return replace(self, term=self.term.smoothed(self.lower, self.upper))

    def with_sides(self, rows: Rows, lower: Vector, upper: Vector, slopes: Vector) -> Programme:
        """The same programme with side rows: their box, and g(theta) = slope*theta.

        The programme must have no equations, since equations have no coefficients for side rows.
        """
        assert not len(self.equations), "side rows cannot be combined with equations"
        box = np.append(self.lower, lower), np.append(self.upper, upper)
        return replace(self, rows=rows, lower=box[0], upper=box[1], term=self.term.with_linear(slopes))

    def block(self, block: slice) -> ProgrammeBlock:
        return ProgrammeBlock(
            self.lower[block], self.upper[block], self.term.block(block), self.equations.matrix[:, block]
        )

    def shifted(self, margins: Vector, rho: Vector) -> Vector:
        """m - E'rho: the margins beyond the soft margin, and with the intercept."""
        return margins - combined(rho, self.equations.matrix) if len(rho) else margins

    def response(self, margins: Vector, rho: Vector) -> Vector:
        """The duals that attain the primal value at these margins."""
        return self.term.response(self.shifted(margins, rho), self.lower, self.upper)

    def best_multipliers(self, margins: Vector, rho: Vector) -> Vector:
        """rho with the multiplier of the total, which is first and comes from the margins alone, at its best for them.

        There the primal value is least: its derivative is the total of the responses, less the required total.
        """
        if self.total is None:
            return rho

        def with_first(first: float) -> Vector:
            return np.concatenate([[first], rho[1:]])

        def excess(first: float) -> float:
            return self.rows.total(self.response(margins, with_first(first))) - float(self.right_side[0])

        return with_first(root_of_rising(excess, float(rho[0]), max(1.0, self.rows.largest(np.abs(margins)))))

    def is_saturated(self, u: Vector) -> bool:
        """Whether every row has the largest dual that its box admits."""
        return not self.rows.any(u < self.upper)

    @property
    def is_linear_programme(self) -> bool:
        """True where a basic (vertex) optimum exists and sparsity depends on returning it."""
        return self.term.is_linear and self.weight_set.ridge == 0 and not self.weight_set.is_bounded

    @cached_property
    def is_bounded(self) -> bool:
        """Whether the duals have bounds."""
        return self.rows.all(np.isfinite(self.upper))

    @cached_property
    def width(self) -> Vector:
        """The distance between the bounds of each dual, but never zero."""
        return np.maximum(self.upper - self.lower, np.finfo(float).tiny)

    @property
    def has_idle_rows(self) -> bool:
        """Whether a row with a large margin has neither a dual nor a loss, so that it can be left out.

        That holds for a hinge loss whose duals may be zero and satisfy no equations.
        """
        has_one_kink = self.term.is_linear and self.is_bounded and self._is_constant(self.term.slope(self.lower))
        return has_one_kink and not len(self.equations) and not self.rows.any(self.lower != 0)

    @property
    def can_merge_rows(self) -> bool:
        """Whether rows with the same entries can be merged: not with intercepts, side rows or two stages."""
        return self.intercepts is None and not self.rows.n_sides and self.stages is None

    def is_uniform(self) -> bool:
        """Whether rows differ in their multiplicity alone, so that rows with the same entries are one row to it.

        Then bounds are proportional to the multiplicities, and the slopes of g are the same at proportional duals.
        """
        counts = self.rows.counts
        points = [counts * 0.3, counts * 0.7]
        if self.is_bounded:
            if not (self._is_constant(self.lower / counts) and self._is_constant(self.upper / counts)):
                return False
            points = [self.lower + part * self.width for part in (0.3, 0.7)]
        return all(self._is_constant(self.term.slope(u)) for u in points)

    def _is_constant(self, values: Vector) -> bool:
        least, largest = self.rows.least(values), self.rows.largest(values)
        return largest - least <= 1e-9 * max(abs(least), abs(largest), 1e-9)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The primal value, and the sum of the absolute values of its terms, or ``size`` if that is larger."""

        def work(block: slice) -> Vector:
            losses = self.block(block).losses(margins[block], rho)
            return np.array([float(losses.sum()), float(np.abs(losses).sum())])

        lost, absolute = self.rows.add_up(work)
        fixed = self.weight_set.value(w)
        shift = -float(rho @ self.right_side)
        return fixed + shift + float(lost), max(abs(fixed) + abs(shift) + float(absolute), self.size)

    def dual_value(self, u: Vector, edges: Vector) -> float:
        term = float(self.rows.add_up(lambda block: self.term.block(block).value(u[block]).sum()))
        return -term - self.weight_set.support(edges)

    def is_feasible(self, w: Vector, u: Vector) -> bool:
        """Whether w is in W and u in U, up to rounding."""
        weight_total = self.weight_set.total
        if weight_total is not None and abs(float(w.sum()) - weight_total) > 1e-13 * weight_total:
            return False
        if len(w) and not (w.min() >= self.weight_set.lowest and w.max() <= self.weight_set.bound):
            return False
        lower, upper = self.lower, self.upper

        def work(block: slice) -> Vector:
            part = u[block]
            is_outside = (part < lower[block]) | (part > upper[block])
            return np.array([float(np.abs(part).sum()), float(is_outside.sum())])

        (size, n_outside), sums = self.rows.sums_of([self.rows.here(work), self.equations.sums_here(u)])
        return not n_outside and self.equations.hold(sums, size)

    def feasible(self, u: Vector) -> Vector:
        """A vector of U close to u: u is clipped to the box, then moved inside the box until E u = t."""
        u = np.clip(u, self.lower, self.upper)
        if not len(self.equations):
            return u
        for _ in range(2):  # the second pass removes rounding errors of the first
            targets = self._nearest_sums(u)
            assert targets is not None, "__post_init__ refuses programmes without such sums"
            for rows, target in zip(self.equations.groups[1], targets.tolist(), strict=True):
                u[rows] = self._with_sum(u, rows, target)
        return u

    def _nearest_sums(self, u: Vector) -> Vector | None:
        return self.equations.nearest_sums(self.equations.sums_by_group(u), *self._bounds_of_sums)

    @cached_property
    def _bounds_of_sums(self) -> tuple[Vector, Vector]:
        return self.equations.sums_by_group(self.lower), self.equations.sums_by_group(self.upper)

    def _with_sum(self, u: Vector, rows: Integers | slice, target: float) -> Vector:
        """The duals of some rows, moved towards their bounds until they add up to the target."""
        part = u[rows]
        missing = target - self.rows.total(part)
        lower, upper = self.lower[rows], self.upper[rows]
        if not self.is_bounded:
            room = 1.0 / self.term.curvature(u)[rows]
            return part + room * (missing / self.rows.total(room))
        room = upper - part if missing > 0 else lower - part
        space = self.rows.total(np.abs(room))
        if space == 0:
            return part
        return np.clip(part + room * min(abs(missing) / space, 1.0), lower, upper)


# With b_i the share of row i in its class k, and L_k(w) = sum over its rows of b_i (1 - m_i)_+ the mean loss there::
#
#     stage one   L*_k = min over w in W  of  L_k(w),   for each class k alone
#     stage two   min over w in W  of  max over k  of   L_k(w) - L*_k
#
# Stage two is a saddle problem: the largest value, over class weights p_k >= 0 that add up to one, of an ordinary
# programme (``programme.py``) with u_i in [0, p_k b_i], minus the constant sum_k p_k L*_k. So for any w, and any p
# and u, max_k L_k(w) - L*_k is an upper bound of the optimum, and the dual value of that programme is a lower bound.
# L*_k is known as an interval: the primal value uses its lower end and the dual value its upper end, so that both
# stay bounds.

LEAST_CLASS_WEIGHT = 1e-13
"""The least class weight that solvers are given: at zero the box of the duals would have an empty interior."""


@dataclass(frozen=True, eq=False)
class TwoStageProgramme(Programme):
    """Stage two at given class weights, with what stage one has found."""

    shares: Vector = field(kw_only=True)
    """b."""
    class_weights: tuple[float, float] = field(kw_only=True)
    least: Matrix = field(kw_only=True)
    """For each class the lower and the upper bound of its least loss; zeros before stage one."""

    @classmethod
    def of(cls, rows: Rows, weight_set: WeightSet) -> TwoStageProgramme:
        """The programme for rows of two classes, at equal class weights, before stage one."""
        shares, zeros = rows.counts / rows.put(rows.totals_of_groups).take(rows.groups), rows.full(0.0)
        return cls(
            rows=rows,
            lower=zeros,
            upper=0.5 * shares,
            term=LinearTerm(1.0, zeros),
            weight_set=weight_set,
            size=1.0,  # the loss of the empty ensemble
            shares=shares,
            class_weights=(0.5, 0.5),
            least=np.zeros((2, 2)),
        )

    @property
    def stages(self) -> TwoStageProgramme:
        return self

    def at(self, class_weights: tuple[float, float], least: Matrix | None = None) -> TwoStageProgramme:
        """The programme at other class weights, and with other least losses if they are given."""
        least = self.least if least is None else least
        of_rows, least_of_rows = (
            self.rows.put(one).take(self.rows.groups) for one in (np.array(class_weights), least[:, 1])
        )
        upper = of_rows * self.shares
        term = LinearTerm(1.0, upper * least_of_rows)
        return replace(self, upper=upper, term=term, class_weights=class_weights, least=least)

    def alone(self, k: int) -> TwoStageProgramme:
        """Stage one: the loss of class k, and of no other."""
        return self.at((1.0 - k, float(k)), np.zeros((2, 2)))

    def inner(self) -> Programme:
        """The ordinary programme at these class weights, with boxes that have an interior, as solvers require."""
        first, second = (max(weight, LEAST_CLASS_WEIGHT) for weight in self.class_weights)
        inside = self.at((first, second))
        return Programme(
            self.rows, self.lower, inside.upper, inside.term, self.weight_set, self.total, self.intercepts, self.size
        )

    def losses(self, margins: Vector, rho: Vector) -> Vector:
        """L_k of both classes."""
        hinges = self.shares * np.maximum(1.0 - self.shifted(margins, rho), 0.0)
        return self.rows.totals_by_group(hinges)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The larger excess, and the larger loss or ``size`` if that is larger, over the classes with a weight."""
        has_weight = np.array(self.class_weights) > 0
        losses = self.losses(margins, rho)
        return float((losses - self.least[:, 0])[has_weight].max()), max(float(losses[has_weight].max()), self.size)
