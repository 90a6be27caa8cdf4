"""The guide of MLPBoost: the duals of a smoothed soft margin, at Frank-Wolfe steps or at the master's weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..._typing import Vector
from ...algebra.columns import Columns
from ...formulations.programme import Programme
from ...formulations.terms import EntropyTerm
from ...masters.base import MasterSolution
from .base import Guide, PricingDuals, largest_share_edge, uniform_shares


class Smoothed(NamedTuple):
    """The smoothed objective of some weights, and the duals that attain it."""

    w: Vector
    value: float
    u: Vector


class FrankWolfe(Guide):
    """After every column takes the better of two weight vectors: a step towards the best column, or the optimum."""

    needs_optimum: ClassVar[bool] = True

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.least_edge = np.inf
        self.w = np.zeros(0)
        self.eta = max(0.5, 2.0 * np.log(1.0 / self.formulation.strength) / self.formulation.guarantee)

    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> PricingDuals | None:
        self.least_edge = min(self.least_edge, largest_share_edge(columns, priced))
        programme = self.formulation.programme(columns.rows, columns.n_columns)
        programme = replace(programme, term=EntropyTerm(uniform_shares(columns), self.eta))
        tried = (self._stepped(columns, priced / columns.rows.total(priced)), solution.w)
        best = min((smoothed(columns, programme, w, self.eta) for w in tried), key=lambda one: one.value)
        self.w = best.w
        if best.value + self.least_edge <= 0.5 * self.formulation.guarantee:
            return None
        return PricingDuals(best.u, -np.inf, is_settled=False)

    def _stepped(self, columns: Columns, u: Vector) -> Vector:
        """The weights after a short step towards the column with the largest edge."""
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
