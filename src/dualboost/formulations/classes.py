"""The programmes of several classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from .._typing import Integers, Matrix, Vector
from ..matrix.pairs import Pairs
from ..matrix.rows import Rows
from ..workers.base import cached_property
from .programme import Programme
from .weight_sets import WeightSet

# A row i has a margin m_ik = F_{y_i}(x_i) - F_k(x_i) against every other class k, and duals u_ik >= 0 to go with
# them. Formulations state their box and their term g for one dual a row (``programme.py``); here it is the sum over
# k::
#
#     min over w in W  of  max over u in U  of   Omega(w) - sum_ik u_ik m_ik - sum_i g_i(s_i)
#     U: u_ik >= 0,   lower_i <= s_i = sum_k u_ik <= upper_i,   E s = t
#
# Since the loss of a row falls with its margin, the maximum over the shares u_ik / s_i is at the least margin of the
# row: there is one slack a row. This is LP-beta (Gehler & Nowozin, "On feature combination for multiclass object
# classification", ICCV 2009), with any of the formulations in place of its linear programme, and with pricing.
#
# Some pairs (i, k) may be left out: absent duals are zeros, which is feasible. The primal value over all pairs takes
# the least of all margins, so the certificate is over all pairs, whichever were left out while solving.


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
        """False: a test would save little, since ``feasible`` is cheap beside the products over all pairs."""
        return False

    def feasible(self, u: Vector) -> Vector:
        """A vector of U close to u: feasible sums over the classes, divided in the proportions of u."""
        u = np.maximum(u, 0.0)
        sums = self.pairs.sums(u)
        shares = np.where(self.pairs.spread(sums) > 0, u, 1.0)
        wanted = self.plain.feasible(sums) / self.pairs.sums(shares)
        return np.asarray(shares * self.pairs.spread(wanted))

    def response(self, margins: Vector, rho: Vector) -> Vector:
        """The duals that attain the primal value at these margins, divided evenly among the classes of least margin."""
        least = self.pairs.least(margins)
        is_least = (margins <= self.pairs.spread(least)).astype(float)
        return np.asarray(is_least * self.pairs.spread(self.plain.response(least, rho) / self.pairs.sums(is_least)))

    def best_multipliers(self, margins: Vector, rho: Vector) -> Vector:
        return self.plain.best_multipliers(self.pairs.least(margins), rho)

    def is_saturated(self, u: Vector) -> bool:
        """Whether every row has the largest dual that its box admits."""
        return self.plain.is_saturated(self.pairs.sums(u) * (1.0 + 1e-12))


@dataclass(frozen=True, eq=False)
class SoftmaxProgramme:
    """Cross-entropy over leaves whose values are vectors, one number for each class.

    Primal, with F_i = b + sum_t V_t[leaf_t(x_i)], prices P_i of the rows and y_i the class of a row::

        min  ridge/2 |V|^2 + sum_i P_i [log sum_k exp F_ik - F_{i,y_i}]

    Dual, with the residual R_ik = P_i [k = y_i] - q_ik and the edges E_lk = sum of R_ik over the rows of leaf l::

        max  -sum_ik q_ik log(q_ik/P_i) - |E|^2/(2 ridge)
        s.t. q_ik >= 0,   sum_k q_ik = P_i,   sum_i R_ik = 0 for every class k

    so the duals of a row are a point of a simplex. At the optimum q_ik = P_i times the probability of class k.

    Pricing: the tree with the largest sum over its leaves and classes of E_lk^2/(H_lk + ridge), where H is the sum of
    the curvature K/(K-1) q_ik (1 - q_ik/P_i): twice the decrease of the objective to second order if the leaves of that
    tree alone move, and if the classes were independent.

    C, by which P_i = C c_i/M for rows of multiplicity c_i and total M: the price of the mean loss, above 0.

    Papers: Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29 (2001), for
    the loss; Zhang & Jung, "GBDT-MO: gradient-boosted decision trees for multiple outputs", IEEE TNNLS 32 (2021), for
    one tree that serves all classes.
    """

    rows: Rows
    codes: Integers
    """The class of each row, counted from 0."""
    prices: Vector
    n_classes: int
    ridge: float = 1.0

    leaf_solver: ClassVar[str] = "softmax"

    def for_growing(self) -> SoftmaxProgramme:
        return self

    @cached_property
    def totals(self) -> Vector:
        """The total price of the rows of each class; a class without rows has none."""
        totals = self.rows.totals_by_group(self.prices)
        return np.pad(totals, (0, self.n_classes - len(totals)))

    def expansion(self, scores: Matrix) -> tuple[float, Matrix]:
        """The total loss, and the probabilities, of rows with these scores."""
        probabilities = scores - scores.max(axis=1, keepdims=True)
        own = probabilities[np.arange(len(self.codes)), self.codes]
        np.exp(probabilities, out=probabilities)
        sums = probabilities.sum(axis=1)
        probabilities /= sums[:, None]
        return self.rows.dot(self.prices, np.log(sums) - own), probabilities

    def residual(self, shares: Matrix) -> Matrix:
        """R, given how each row's price is shared among the classes."""
        residual = -shares
        residual[np.arange(len(self.codes)), self.codes] += self.prices
        return residual

    def feasible(self, shares: Matrix) -> Matrix:
        """Shares close to these with the sums that rows and classes must have.

        The shares of classes with too much are scaled down; what that sets free in a row goes to the classes with too
        little, in proportion to what they lack.
        """
        for _ in range(2):  # the second pass removes rounding errors of the first
            sums = self._class_sums(shares)
            lacking = np.maximum(self.totals - sums, 0.0)
            if not lacking.any():
                return shares
            kept = np.minimum(self.totals / np.maximum(sums, np.finfo(float).tiny), 1.0)
            freed = shares @ (1.0 - kept)
            shares = shares * kept + freed[:, None] * (lacking / lacking.sum())
        return shares

    def dual_value(self, shares: Matrix, edges: Matrix) -> float:
        """A lower bound on the optimum, for feasible shares."""
        entropies = self.rows.add_up(
            lambda block: float(xlogy(shares[block], shares[block] / self.prices[block, None]).sum())
        )
        return -float(entropies) - float((edges**2).sum()) / (2.0 * self.ridge)

    def _class_sums(self, shares: Matrix) -> Vector:
        sums: Vector = self.rows.add_up(lambda block: shares[block].sum(axis=0))
        return sums


@dataclass(frozen=True, eq=False)
class SoftLabelProgramme(SoftmaxProgramme):
    """``SoftmaxProgramme`` with the shares t_ik in place of [k = y_i]: the loss is log sum_k exp F_ik - t_i'F_i.

    The dual keeps its form, with the residual R_ik = P_i t_ik - q_ik.
    """

    shares: Matrix = field(default_factory=lambda: np.zeros((0, 0)))
    """A row for each row of the data, which adds up to one."""

    @cached_property
    def totals(self) -> Vector:
        totals: Vector = self.rows.add_up(lambda block: self.prices[block] @ self.shares[block])
        return totals

    def expansion(self, scores: Matrix) -> tuple[float, Matrix]:
        probabilities = scores - scores.max(axis=1, keepdims=True)
        own = (self.shares * probabilities).sum(axis=1)
        np.exp(probabilities, out=probabilities)
        sums = probabilities.sum(axis=1)
        probabilities /= sums[:, None]
        return self.rows.dot(self.prices, np.log(sums) - own), probabilities

    def residual(self, shares: Matrix) -> Matrix:
        return self.prices[:, None] * self.shares - shares
