"""The part of a Newton step that runs over the pairs of rows and classes (``formulations/class_programme.py``).

The duals u_ik of a row are bounded by zero each (multipliers p_ik), and their sum s_i by ``upper`` (q_i) and, if it is
above zero, by ``lower`` (in p, after the p_ik). With d_ik = u_ik/p_ik, c_i = g_i''(s_i) + q_i/above_i + p_i/below_i and
sigma_i = sum_k d_ik, a row's part of D is the inverse of diag(1/d) + c 11'. With means weighted by d over each row::

    D v = d (v - mean) + d mean/(1 + c sigma),
    A'DA = sum_ik d_ik (A_ik - mean_i)(A_ik - mean_i)' + sum_i sigma_i/(1 + c_i sigma_i) mean_i mean_i'

in which nothing is subtracted that nearly cancels, as it would in the formula of Sherman and Morrison.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import Matrix, Vector
from ..algebra.pairs import PairColumns, Pairs
from ..formulations.programme import Programme
from ..workers.caching import cached_property
from .newton_rows import PROXIMAL, Iterate, RowSums

NEGLIGIBLE = 1e-12
"""Lower bounds below this share of the upper ones are left to the certificate: they would only block steps."""


class Change(NamedTuple):
    """A change of u, and of its sums by row."""

    entries: Vector
    sums: Vector


def has_lower_bounds(programme: Programme) -> bool:
    """Whether the lower bounds of the sums are above zero, and not only by a negligible share of the upper ones."""
    return programme.rows.any(programme.lower > NEGLIGIBLE * programme.upper)


class ClassRowSystem:
    """The equations of the pairs, linearised at one point; ``programme`` is the plain one, with one dual a row."""

    def __init__(self, pairs: Pairs, columns: PairColumns, programme: Programme, point: Iterate) -> None:
        self.pairs, self.columns, self.programme, self.point = pairs, columns, programme, point
        self.rows = programme.rows
        self.sums_of_u = pairs.sums(point.u)
        self.above = programme.upper - self.sums_of_u
        self.q_over_above = point.q / self.above
        self.curvature = programme.term.curvature(self.sums_of_u) + PROXIMAL / programme.width + self.q_over_above
        if self.has_lower:
            self.below = self.sums_of_u - programme.lower
            self.lower_over_below = self.of_sums(point.p) / self.below
            self.curvature = self.curvature + self.lower_over_below
        self.d = point.u / self.of_pairs(point.p)
        self.sigma = pairs.sums(self.d)
        self.shares = self.d / pairs.spread(self.sigma)
        self.damping = 1.0 / (1.0 + self.curvature * self.sigma)
        slopes = programme.term.slope(self.sums_of_u) - self.rho
        self.stationarity = point.margins + pairs.spread(slopes)
        self.n_equations = len(programme.equations)
        self.predictor = self.towards(0.0, None)

    @cached_property
    def has_lower(self) -> bool:
        """Whether sums have a bound below, beyond that of their terms."""
        return has_lower_bounds(self.programme)

    @property
    def rho(self) -> float:
        """The multiplier of the total of the duals, the only equation that there may be."""
        return float(self.point.rho.sum())

    def of_pairs(self, p: Vector) -> Vector:
        return p[: len(self.pairs.row_of)]

    def of_sums(self, p: Vector) -> Vector:
        return p[len(self.pairs.row_of) :]

    @cached_property
    def n_products(self) -> int:
        return int(self.rows.workers.sum(float(len(self.point.p) + len(self.point.q))))

    def sums(self) -> RowSums:
        equations = self.programme.equations
        own = [
            self._gram(),
            self._product(),
            self._of_equations(),
            equations.sums_here(self.sums_of_u),
            self.predictor.reduced_here(),
        ]
        gram, product, of_equations, sums_of_u, reduced = self.rows.sums_of(own)
        return RowSums(gram, product, of_equations, equations.right_side - sums_of_u, reduced)

    def _product(self) -> float:
        own = self.of_pairs(self.point.p) @ self.point.u + self.point.q @ self.above
        return float(own + (self.of_sums(self.point.p) @ self.below if self.has_lower else 0.0))

    def applied(self, values: Vector) -> Change:
        """D times a vector.

        The sums are known from the means, and the entries are corrected to have them: the sums of u may be nearer to
        their bounds than rounding takes large entries that cancel.
        """
        means = self.pairs.sums(self.shares * values)
        sums = self.sigma * self.damping * means
        entries = self.d * (values - self.pairs.spread(means))
        entries += self.shares * self.pairs.spread(sums - self.pairs.sums(entries))
        return Change(entries, sums)

    def _gram(self) -> Matrix:
        means = self.pairs.sums(self.columns.entries * self.shares)
        centred = self.columns.entries - self.pairs.spread(means)
        centred *= np.sqrt(self.d)
        means *= np.sqrt(self.sigma * self.damping)
        return np.asarray(np.dot(centred, centred.T) + np.dot(means, means.T))

    def _of_equations(self) -> Matrix:
        if not self.n_equations:
            return np.empty((self.columns.n_columns, 0))
        return self.with_total(self.applied(np.ones(len(self.d))))[:, None]

    def with_total(self, change: Change) -> Vector:
        """The edges of a change of u over the pairs held here, and its total if the programme has an equation."""
        own = self.columns.entries @ change.entries
        return np.append(own, np.full(self.n_equations, change.sums.sum()))

    def towards(self, centring: float, affine: Iterate | None) -> ClassDirection:
        return ClassDirection(self, centring, affine)

    def moved(self, step: Iterate, length: float) -> dict[str, Vector]:
        names = ("u", "p", "q", "margins")
        return {name: getattr(self.point, name) + length * getattr(step, name) for name in names}


class ClassDirection:
    """The pairs' part of a step towards products equal to ``centring``."""

    def __init__(self, system: ClassRowSystem, centring: float, affine: Iterate | None) -> None:
        self.system = system
        self.centring_u, self.centring_above, self.centring_below = self._centrings(centring, affine)
        self.u = self.margins = self.p = self.q = np.zeros(0)

    def _centrings(self, centring: float, affine: Iterate | None) -> tuple[Any, Any, Any]:
        """What the products of the duals, and of both bounds of their sums, are to be."""
        if affine is None:
            return centring, centring, centring
        system, change = self.system, self.system.pairs.sums(affine.u)
        below = centring - change * system.of_sums(affine.p) if system.has_lower else centring
        return centring - affine.u * system.of_pairs(affine.p), centring + change * affine.q, below

    def reduced_here(self) -> Vector:
        system, point = self.system, self.system.point
        of_sums = self.centring_above / system.above
        if system.has_lower:
            of_sums = of_sums - self.centring_below / system.below
        missing = system.stationarity + system.pairs.spread(of_sums) - self.centring_u / point.u
        self.missing = missing
        return system.with_total(system.applied(missing))

    def reduced(self) -> Vector:
        found: Vector = self.system.rows.sums_of([self.reduced_here()])[0]
        return found

    def follow(self, dw: Vector) -> Vector:
        self.margins = self.system.columns.margins(dw)
        if not self.system.n_equations:
            return np.zeros(0)
        return np.array([-self.system.rows.total(self.system.applied(self.missing + self.margins).sums)])

    def finish(self, drho: Vector) -> float:
        system, point = self.system, self.system.point
        found = system.applied(self.missing + self.margins - drho.sum())
        self.u, change, p = -found.entries, -found.sums, system.of_pairs(point.p)
        dp = (self.centring_u - p * self.u) / point.u - p
        self.q = self.centring_above / system.above + system.q_over_above * change - point.q
        growth = [(self.u / point.u).min(), -(change / system.above).max(), (self.q / point.q).min()]
        if system.has_lower:
            of_sums = self.centring_below / system.below - system.lower_over_below * change - system.of_sums(point.p)
            dp = np.append(dp, of_sums)
            growth.append((change / system.below).min())
        self.p = dp
        return -system.rows.workers.max(-float(min(*growth, (dp / point.p).min())))

    def product_after(self, length: float) -> float:
        system, point = self.system, self.system.point
        change, p = length * system.pairs.sums(self.u), point.p + length * self.p
        total = system.of_pairs(p) @ (point.u + length * self.u)
        total += (point.q + length * self.q) @ (system.above - change)
        own = float(total + (system.of_sums(p) @ (system.below + change) if system.has_lower else 0.0))
        return system.rows.workers.sum(own)
