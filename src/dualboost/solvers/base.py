"""The interface of solvers, their options, and the certificate: feasibility and gap from w and u alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .._typing import Integers, Vector
from ..arguments import ParameterObject, require_choice, require_integer
from ..formulations.programme import Programme
from ..formulations.weight_sets import WeightSet
from ..matrix.columns import Columns
from ..matrix.rows import Rows


@dataclass
class SolverOptions(ParameterObject):
    """How a fit is computed; the defaults suit nearly everyone, and no option changes the optimum.

    Parameters
    ----------
    method : {"auto", "ipm", "highs", "clarabel"}, default="auto"
        The solver. "ipm" is dualboost's own, for every formulation; "highs" (linear programmes) and "clarabel" (an
        extra) are independent references. If the solver chosen fails, the others are tried.
    reoptimize : {"as_needed", "every"}, default="as_needed"
        "as_needed" solves the programme only as far as the next pricing needs, and to the end for the result: fast.
        "every" solves it to the end after every tree, so that each row of ``history_`` and each stage of
        ``staged_predict`` is an optimum: for anytime curves. Both return a solution with the same certificate.
    columns_per_iteration : int or "all", default=1
        How many of the columns found may enter at one iteration, the largest edge first.
    schedule : {"all", "rotate"}, default="all"
        With several learners: call all of them at every iteration, or one after the other.
    active_rows : int, default=None
        How many rows the solver begins with; it continues with the rows that matter to the optimum, and the result is
        certified over all rows. For "lp" and "cg" on hundreds of thousands of rows. None takes all rows at once.
    """

    method: str = "auto"
    reoptimize: str = "as_needed"
    columns_per_iteration: int | str = 1
    schedule: str = "all"
    active_rows: int | None = None

    def __post_init__(self) -> None:
        require_choice("reoptimize", self.reoptimize, ["as_needed", "every"])
        require_choice("schedule", self.schedule, ["all", "rotate"])
        if isinstance(self.columns_per_iteration, str):
            require_choice("columns_per_iteration", self.columns_per_iteration, ["all"])
        else:
            require_integer("columns_per_iteration", self.columns_per_iteration, least=1)
        if self.active_rows is not None:
            require_integer("active_rows", self.active_rows, least=2)

    @property
    def most_entering(self) -> int | None:
        """``columns_per_iteration`` as a number; None for all that improve."""
        return None if isinstance(self.columns_per_iteration, str) else int(self.columns_per_iteration)


# Signs
# -----
# * ``w >= 0``: one weight for each column, in the order of the columns.
# * ``u``: the duals, one for each row, in the units of the formulation's box. For the formulations solved in w it is
#   the multiplier of ``margin_i >= ...``, positive where a larger margin would improve the objective; only a
#   formulation without a lower bound (``md``) has negative duals.
# * ``rho``: the multipliers of ``E u = t``. The multiplier of the total is the soft margin of the capped formulations,
#   the multiplier of a column of constant output is the intercept; without such equations ``rho`` is empty.
# * stationarity: ``g'(u_i) + (margins - E'rho)_i`` is 0 inside the box, >= 0 where u_i is at its lower and <= 0 at its
#   upper bound; ``edges = A'u``.


class Candidate(NamedTuple):
    """The result of a solver; ``certify`` measures its distance from the optimum."""

    w: Vector
    u: Vector
    rho: Vector = np.zeros(0)

    def is_finite(self, rows: Rows) -> bool:
        return bool(np.isfinite(self.w).all() and np.isfinite(self.rho).all()) and rows.all(np.isfinite(self.u))


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights and duals that are feasible, with a certificate computed from them alone."""

    w: Vector
    u: Vector
    rho: Vector
    margins: Vector
    edges: Vector
    threshold: float
    primal: float
    dual: float
    programme: Any
    """The programme that was solved, with values that the solver found, such as class weights."""
    gap: float
    """(primal - dual), relative to the larger of both in absolute value (see ``relative_gap``)."""


class SolveFailure(Exception):
    """A solver stopped without an optimum; the next strategy or the next solver is tried."""


SOLVER_ERRORS = (SolveFailure, RuntimeError, ValueError, ArithmeticError)
"""Errors of a solver, and errors that libraries raise where numbers are extreme."""


class SolverFailed(Exception):
    """No solver reached the tolerance; ``best`` is the best certified solution found, if any."""

    def __init__(self, best: Solution | None, attempts: list[str]) -> None:
        super().__init__("; ".join(attempts))
        self.best = best
        self.attempts = attempts


class Solver(Protocol):
    """Solves the programme over the columns held. Stateful: it may keep a basis or an iterate between calls."""

    name: ClassVar[str]
    returns_vertex: ClassVar[bool]
    """Whether a linear programme's solution is basic."""
    warm_starts: ClassVar[bool]
    """Whether its steps may be interleaved with pricing; a reference solver solves every programme to the end."""
    strategies: ClassVar[tuple[str, ...]]
    """Ways to solve the same programme; a later one is tried when those before it have failed."""

    @staticmethod
    def supports(programme: Programme) -> bool:
        """Whether this solver can solve programmes of that shape."""

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        """A candidate with a relative gap of about ``tolerance``, or ``SolveFailure``."""


class Reoptimiser(ABC):
    """Finds weights and duals for the columns held, as good as the next pricing needs."""

    tolerance: float
    """The largest relative gap of the solutions of ``polish``."""
    is_exact: bool
    """Whether ``solve`` already returns the optimum, so that nothing is left to polish."""

    @abstractmethod
    def solve(self, columns: Columns, programme: Any) -> Solution:
        """A certified solution; a further call without a new column returns a better one."""

    @abstractmethod
    def polish(self, columns: Columns, programme: Any) -> Solution:
        """The optimum, to the tolerance."""

    def move_to(self, columns: Columns, programme: Any) -> None:
        """Go on with a programme of the same formulation at another C."""
        self.forget()

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
        """Go on over new rows: row i has the entries of the old row ``parents[i]`` and ``shares[i]`` of its weight."""
        self.forget()

    @abstractmethod
    def forget(self) -> None:
        """Forget every iterate and basis: the next programme is over other rows, or over fewer columns."""


WEIGHT_TOLERANCE = 1e-6
"""A weight counts as used if it exceeds this fraction of the largest weight; smaller weights are set to zero."""

NEGLIGIBLE_ENSEMBLE = 1e-2
"""If no weight exceeds this, the empty ensemble is tried: the formulations without a weight total aim at margins of
one, to which such weights add nearly nothing."""

CANCELLATION_FLOOR = 1e-3
"""The gap is relative to at least this fraction of the sum of the objective's terms in absolute value, because the
terms may cancel, or the objective may be zero."""

NEGLIGIBLE_GAIN = 1e-12
"""A primal value that is smaller by no more than this share of it is smaller by rounding."""

SEEN = 1e-12
"""Errors of edges beyond this share of the cost of a weight are counted; smaller ones are no part of any figure."""


def relative_gap(primal: float, dual: float, size: float) -> float:
    """(primal - dual) relative to the objective, or to a fraction of ``size``, the sum of its absolute terms."""
    scale = max(abs(primal), abs(dual), CANCELLATION_FLOOR * size, np.finfo(float).tiny)
    return max(primal - dual, 0.0) / scale if np.isfinite(dual) else np.inf


def size_of_product(w: Vector, total: float) -> float:
    """How large u'(A w) may be, given the total of the absolute duals, for weights that add up to no more than one.

    Formulations with a larger fixed sum still aim at margins of one; a size that grows with the sum would make any gap
    small.
    """
    return total * min(float(np.abs(w).sum()), 1.0)


def last_digits(total: float) -> float:
    """By how much rounding may change an edge, which is a sum over all duals, given the total of their sizes."""
    return float(np.finfo(float).eps) * total


def rounding_of_value(weight_set: WeightSet, n_columns: int, error: float) -> float:
    """The error of the dual value from errors of the edges, where weights have no cost and C alone limits them.

    The value contains the largest edges times the sum of the weights: at a C of 1e10, rounding leaves few digits.
    """
    if weight_set.cost or weight_set.ridge:
        return 0.0
    return error * (n_columns * weight_set.bound if weight_set.total is None else weight_set.total)


def shrinkage(weight_set: WeightSet, edges: Vector, error: float) -> float:
    """The factor by which duals must shrink for no edge to exceed its cost, though rounding may hide that one does."""
    return weight_set.edge_scale(edges + error if error > SEEN * weight_set.cost else edges)


class TwoProducts(Protocol):
    """The two products with columns that a certificate needs."""

    def margins(self, w: Vector, /) -> Vector: ...

    def edges(self, u: Vector, /) -> Vector: ...


class Certifiable(Protocol):
    """The parts of a programme that a certificate needs."""

    @property
    def rows(self) -> Rows: ...

    @property
    def weight_set(self) -> WeightSet: ...

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector, /) -> tuple[float, float]: ...

    def dual_value(self, u: Vector, edges: Vector, /) -> float: ...

    def is_feasible(self, w: Vector, u: Vector, /) -> bool: ...

    def feasible(self, u: Vector, /) -> Vector: ...

    def best_multipliers(self, margins: Vector, rho: Vector, /) -> Vector: ...


def certify(
    columns: TwoProducts, programme: Certifiable, candidate: Candidate, products: tuple[Vector, Vector] | None = None
) -> Solution:
    """Make a candidate feasible and measure its gap, from its weights and duals alone.

    ``products`` are the candidate's margins and edges, if known; they save two passes over the rows where the candidate
    is feasible already.
    """
    weight_set = programme.weight_set
    w, u = candidate.w, candidate.u
    if products is None or not programme.is_feasible(w, u):
        w, u = weight_set.nearest(w), programme.feasible(u)
        products = columns.margins(w), columns.edges(u)
    margins, edges = products
    total = programme.rows.total(np.abs(u))
    error = last_digits(total)
    shrink = shrinkage(weight_set, edges, error)
    if shrink < 1.0:
        u, edges, total = shrink * u, shrink * edges, shrink * total
    primal, size = programme.primal_terms(w, margins, candidate.rho)
    dual = programme.dual_value(u, edges) - rounding_of_value(weight_set, len(w), error)
    size = max(size, size_of_product(w, total))
    return Solution(
        w=w,
        u=u,
        rho=candidate.rho,
        margins=margins,
        edges=edges,
        threshold=weight_set.threshold(edges),
        primal=primal,
        dual=dual,
        programme=programme,
        gap=relative_gap(primal, dual, size),
    )


def with_best_multipliers(columns: TwoProducts, programme: Certifiable, solution: Solution) -> Solution:
    """The solution with the optimal multipliers for its weights: rho of a solution is only as good as its gap."""
    rho = programme.best_multipliers(solution.margins, solution.rho)
    products = solution.margins, solution.edges
    better = certify(columns, programme, Candidate(solution.w, solution.u, rho), products)
    return better if solution.primal - better.primal > NEGLIGIBLE_GAIN * abs(better.primal) else solution


def bound_over_class(programme: Certifiable, u: Vector, edges: Vector, best_edge: float, n_unseen: float) -> float:
    """A lower bound on the optimum over a whole class of columns, computed from u.

    The class has the columns held, and ``n_unseen`` others whose edges are at most ``best_edge``. Scaling u down keeps
    it feasible. That is needed where a column violates its constraint; where unseen columns add a cost, the best of
    many scales is taken.
    """
    weight_set = programme.weight_set
    edges, error = weight_set.with_unseen(edges, best_edge, n_unseen), last_digits(programme.rows.total(np.abs(u)))
    scale = shrinkage(weight_set, edges, error)
    is_costly = weight_set.ridge > 0 or weight_set.is_bounded
    scales = [scale * 0.5**k for k in range(60)] if is_costly else [scale]
    bound = max(programme.dual_value(one * u, one * edges) for one in scales)
    return bound - rounding_of_value(weight_set, len(edges), error)


def drop_negligible(columns: Columns, programme: Certifiable, solution: Solution, tolerance: float) -> Solution:
    """The same solution with weights below the tolerance set to zero, unless the certificate would suffer."""
    empty = _emptied(columns, programme, solution)
    if empty is not None and empty.gap <= max(solution.gap, tolerance):
        return empty
    negligible = (solution.w > 0) & (solution.w <= WEIGHT_TOLERANCE * solution.w.max(initial=0.0))
    if not negligible.any():
        return solution
    w = np.where(negligible, 0.0, solution.w)
    sparse = certify(columns, programme, Candidate(w, solution.u, solution.rho))
    return sparse if sparse.gap <= max(solution.gap, tolerance) else solution


def _emptied(columns: Columns, programme: Certifiable, solution: Solution) -> Solution | None:
    """The empty ensemble, if the weight set admits it and every weight is negligible."""
    if programme.weight_set.total is not None or solution.w.max(initial=0.0) > NEGLIGIBLE_ENSEMBLE:
        return None
    return certify(columns, programme, Candidate(np.zeros_like(solution.w), solution.u, solution.rho))


def n_used(w: Vector) -> int:
    """How many weights count as used."""
    return int(np.count_nonzero(w > WEIGHT_TOLERANCE * w.max(initial=0.0)))
