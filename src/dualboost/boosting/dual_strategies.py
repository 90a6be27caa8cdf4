"""The duals that the next pricing gets, and when to stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from .._typing import Vector
from ..formulations.base import Formulation
from ..formulations.programme import Programme
from ..formulations.terms import EntropyTerm
from ..formulations.weight_sets import Cone
from ..matrix.columns import Columns
from ..solvers.base import Solution, relative_gap
from ..solvers.interior_point import starting_point
from ..solvers.newton import Newton


class PricingDuals(NamedTuple):
    """The duals to price with, and the edge that a column needs to enter."""

    u: Vector
    threshold: float
    """A column enters if its edge under u exceeds this."""
    is_settled: bool
    """Whether u is final for the columns held, so that a pricing without a new column ends the loop."""


class DualStrategy(ABC):
    """Chooses the duals between two pricings. Stateful: it may depend on earlier pricings."""

    needs_optimum: ClassVar[bool]
    """Whether the solver must reach the optimum before every choice."""

    def __init__(self, formulation: Formulation, tol: float) -> None:
        self.formulation, self.tol = formulation, tol

    @abstractmethod
    def next(self, columns: Columns, solution: Solution, priced: Vector) -> PricingDuals | None:
        """The next duals, after columns found with the duals ``priced`` entered; None once the guarantee is met."""


class OwnDuals(DualStrategy):
    """The duals of the solver; they are settled once the solution meets the tolerance."""

    needs_optimum: ClassVar[bool] = False

    def next(self, columns: Columns, solution: Solution, priced: Vector) -> PricingDuals:
        return self.of(solution, self.tol)

    @staticmethod
    def of(solution: Solution, tol: float) -> PricingDuals:
        return PricingDuals(solution.u, solution.threshold, solution.gap <= tol)


class GuaranteedDuals(DualStrategy):
    """A strategy with a bound on the number of pricings, which depends on the edges found so far."""

    needs_optimum: ClassVar[bool] = True

    def __init__(self, formulation: Formulation, tol: float) -> None:
        super().__init__(formulation, tol)
        self.least_edge = np.inf

    def _note_edge(self, columns: Columns, priced: Vector) -> None:
        """Keep the smallest, over all pricings, of the largest edge held under duals that add up to one."""
        self.least_edge = min(self.least_edge, float(columns.edges(priced).max() / columns.rows.total(priced)))

    def _programme(self, columns: Columns, eta: float, **changes: Any) -> Programme:
        """The programme with relative entropy to the uniform distribution over samples in place of its term."""
        term = EntropyTerm(columns.rows.counts / columns.rows.n_samples, eta)
        return replace(self.formulation.programme(columns.rows, columns.n_columns), term=term, **changes)


MAX_STEPS = 100
"""How many Newton steps are taken at most."""
STEP_BACK = 0.995
"""A step goes at most this fraction of the way to the nearest bound, so that the iterate stays strictly inside."""


class Projection(GuaranteedDuals):
    """The duals of least relative entropy whose edges are at most ``least_edge - epsilon``."""

    def next(self, columns: Columns, solution: Solution, priced: Vector) -> PricingDuals | None:
        self._note_edge(columns, priced)
        target = self.least_edge - self.formulation.guarantee
        if solution.edges.max() >= target:  # the solver's largest edge is the least possible: none meets the target
            return None
        programme = self._programme(columns, eta=1.0, weight_set=Cone(cost=target))
        return PricingDuals(project(columns, programme, solution, self.tol), -np.inf, is_settled=False)


def project(columns: Columns, programme: Programme, inside: Solution, tol: float) -> Vector:
    """The u of least relative entropy whose edges are at most ``programme.weight_set.cost``.

    ``inside`` is a solution whose edges are strictly below that.
    """
    point = starting_point(columns, programme)
    newton = Newton(columns, programme, STEP_BACK)
    rows = programme.rows
    best, least = inside.u, rows.total(programme.term.value(inside.u))
    for _ in range(MAX_STEPS):
        u = _admitted(programme.feasible(point.u), columns, inside, programme.weight_set.cost)
        entropy = rows.total(programme.term.value(u))
        if entropy < least:
            best, least = u, entropy
        primal, size = programme.primal_terms(np.maximum(point.w, 0.0), point.margins, point.rho)
        if relative_gap(primal, -least, size) <= tol:
            break
        try:
            with np.errstate(all="ignore"):
                point = newton.advance(point)
        except (LinAlgError, ValueError):  # rounding has made the step impossible; the best u so far is feasible
            break
    return best


def _admitted(u: Vector, columns: Columns, inside: Solution, target: float) -> Vector:
    """u, moved towards ``inside.u`` until no edge exceeds the target."""
    edges = columns.edges(u)
    if not np.isfinite(edges).all():
        return inside.u
    above = edges > target
    if not above.any():
        return u
    part = float(((edges - target)[above] / (edges - inside.edges)[above]).max())
    return u + part * (inside.u - u)


class Smoothed(NamedTuple):
    """The smoothed objective of some weights, and the duals that attain it."""

    w: Vector
    value: float
    u: Vector


class FrankWolfe(GuaranteedDuals):
    """The better of two weight vectors after every column: a step towards the best column, or the optimum."""

    def __init__(self, formulation: Formulation, tol: float) -> None:
        super().__init__(formulation, tol)
        self.w = np.zeros(0)
        self.eta = max(0.5, 2.0 * np.log(1.0 / self.formulation.C_value) / self.formulation.guarantee)

    def next(self, columns: Columns, solution: Solution, priced: Vector) -> PricingDuals | None:
        self._note_edge(columns, priced)
        programme = self._programme(columns, self.eta)
        tried = (self._stepped(columns, priced / columns.rows.total(priced)), solution.w)
        best = min((smoothed(columns, programme, w, self.eta) for w in tried), key=lambda one: one.value)
        self.w = best.w
        if best.value + self.least_edge <= 0.5 * self.formulation.guarantee:
            return None
        return PricingDuals(best.u, -np.inf, is_settled=False)

    def _stepped(self, columns: Columns, u: Vector) -> Vector:
        towards = np.zeros(columns.n_columns)
        towards[np.argmax(columns.edges(u))] = 1.0
        if not len(self.w):
            return towards
        w = np.append(self.w, np.zeros(columns.n_columns - len(self.w)))
        change = columns.margins(towards - w)
        steepness = self.eta * columns.rows.largest(np.abs(change)) ** 2
        length = min(max(columns.rows.dot(u, change), 0.0) / steepness, 1.0) if steepness > 0 else 0.0
        return w + length * (towards - w)


def smoothed(columns: Columns, programme: Programme, w: Vector, eta: float) -> Smoothed:
    """The programme's value at w: rho, the soft margin, is chosen so that the responses of the rows add up to one."""
    margins, rows = columns.margins(w), columns.rows
    # no response is below the row's share of the total here; with C = 1 every row is at its bound then, and it stays so
    highest = rows.largest(margins) + 1.0 / eta
    rho = programme.best_multipliers(margins, np.array([highest]))
    value, _ = programme.primal_terms(w, margins, rho)
    return Smoothed(w, value, programme.feasible(programme.response(margins, rho)))


DUAL_STRATEGIES: dict[str, type[DualStrategy]] = {"own": OwnDuals, "projection": Projection, "frank-wolfe": FrankWolfe}


def make_dual_strategy(formulation: Formulation, tol: float) -> DualStrategy:
    return DUAL_STRATEGIES[formulation.dual_strategy](formulation, tol)
