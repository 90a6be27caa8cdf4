"""The programme of a formulation where rows have several classes: a row's loss is that of its least margin.

A row i has a margin m_ik = F_{y_i}(x_i) - F_k(x_i) against every other class k, and duals u_ik >= 0 to go with them.
Formulations state their box and their term g for one dual a row (``programme.py``); here it is the sum over k::

    min over w in W  of  max over u in U  of   Omega(w) - sum_ik u_ik m_ik - sum_i g_i(s_i)
    U: u_ik >= 0,   lower_i <= s_i = sum_k u_ik <= upper_i,   E s = t

Since the loss of a row falls with its margin, the maximum over the shares u_ik / s_i is at the least margin of the row:
there is one slack a row. This is LP-beta (Gehler & Nowozin, "On feature combination for multiclass object
classification", ICCV 2009), with any of the formulations in place of its linear programme, and with pricing.

Some pairs (i, k) may be left out: absent duals are zeros, which is feasible. The primal value over all pairs takes the
least of all margins, so the certificate is over all pairs, whichever were left out while solving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from ..algebra.pairs import Pairs
from ..algebra.rows import Rows
from .programme import Programme
from .weight_sets import WeightSet


@dataclass(frozen=True, eq=False)
class ClassProgramme:
    """The programme over pairs of a row and a class, given the programme ``plain`` with one dual a row."""

    plain: Programme
    pairs: Pairs

    stages = None

    @property
    def rows(self) -> Rows:
        return self.plain.rows

    @property
    def weight_set(self) -> WeightSet:
        return self.plain.weight_set

    @property
    def size(self) -> float:
        return self.plain.size

    @property
    def is_linear_programme(self) -> bool:
        return self.plain.is_linear_programme

    def over(self, pairs: Pairs) -> ClassProgramme:
        """The same programme over some of the pairs."""
        return ClassProgramme(self.plain, pairs)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The primal value, and the sum of the absolute values of its terms."""
        return self.plain.primal_terms(w, self.pairs.least(margins), rho)

    def dual_value(self, u: Vector, edges: Vector) -> float:
        sums = np.minimum(self.pairs.sums(u), self.plain.upper)  # rounding may take a sum beyond its bound
        return self.plain.dual_value(sums, edges)

    def is_feasible(self, w: Vector, u: Vector) -> bool:
        """False: it is not worth a test, since making u feasible costs little beside the products over all pairs."""
        return False

    def feasible(self, u: Vector) -> Vector:
        """A vector of U close to u: the sums over the classes are made feasible, and shared out as those of u are."""
        u = np.maximum(u, 0.0)
        sums = self.pairs.sums(u)
        shares = np.where(self.pairs.spread(sums) > 0, u, 1.0)
        wanted = self.plain.feasible(sums) / self.pairs.sums(shares)
        return np.asarray(shares * self.pairs.spread(wanted))

    def response(self, margins: Vector, rho: Vector) -> Vector:
        """The duals that rows ask for at these margins, shared out evenly among the classes of the least margin."""
        least = self.pairs.least(margins)
        is_least = (margins <= self.pairs.spread(least)).astype(float)
        return np.asarray(is_least * self.pairs.spread(self.plain.response(least, rho) / self.pairs.sums(is_least)))

    def best_multipliers(self, margins: Vector, rho: Vector) -> Vector:
        return self.plain.best_multipliers(self.pairs.least(margins), rho)

    def is_saturated(self, u: Vector) -> bool:
        """Whether every row has the largest dual that its box admits."""
        return self.plain.is_saturated(self.pairs.sums(u) * (1.0 + 1e-12))
