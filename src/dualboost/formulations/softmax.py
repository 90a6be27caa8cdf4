"""The programme of several classes over leaves: cross-entropy, a ridge, and an intercept for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import xlogy

from .._typing import Integers, Matrix, Vector
from ..algebra.rows import Rows
from ..workers.caching import cached_property


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
    the curvature K/(K-1) q_ik (1 - q_ik/P_i): twice what the objective falls to second order if the leaves of that tree
    alone move, and if the classes were independent.

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

    leaf_master: ClassVar[str] = "softmax"

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
