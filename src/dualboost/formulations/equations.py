"""E u = t: the few linear equations that the duals of a programme must satisfy.

There are two kinds. A *total* requires that the duals add up to a number; its multiplier is the soft margin. A *free
intercept* requires that the duals are orthogonal to the column of a learner of constant output, because the weight of
that learner may have any sign and costs nothing; its multiplier is the intercept. The multipliers are called rho.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..algebra.rows import Rows
from ..workers.caching import cached_property

MOST_PROJECTIONS = 200
"""How many alternating projections are made at most; a few suffice to find which sums end at a bound."""
ROUNDING = 1e-12
"""An equation may be missed by this fraction of the sum of its terms in absolute value."""


@dataclass(frozen=True, eq=False)
class Equations:
    """The coefficients, one row for each equation, and the right sides."""

    rows: Rows
    matrix: Matrix
    """E."""
    right_side: Vector
    """t."""
    total: float | None = None
    """What all duals add up to, if one of the equations is a total."""

    @classmethod
    def of(cls, rows: Rows, total: float | None, intercepts: Matrix | None) -> Equations:
        """The equations of a total, of free intercepts, of both, or of neither.

        ``intercepts`` are the columns of the learners of constant output, one row each.
        """
        of_total = rows.xp.empty((0, rows.n_rows)) if total is None else rows.full(1.0)[None, :]
        matrix = of_total if intercepts is None else np.concatenate([of_total, -intercepts])
        right_side = np.zeros(len(matrix))
        if total is not None:
            right_side[0] = total
        return cls(rows, matrix, right_side, total)

    def __len__(self) -> int:
        return len(self.right_side)

    def sums(self, u: Vector) -> Vector:
        """E u."""
        sums: Vector = self.rows.sums_of([self.sums_here(u)])[0]
        return sums

    def sums_here(self, u: Vector) -> Vector:
        """E u over the rows held here."""
        sums: Vector = self.rows.here(lambda block: self.matrix[:, block] @ u[block])
        return sums

    def hold(self, sums: Vector, size: float) -> bool:
        """Whether duals with these sums satisfy the equations to the last digits of their size."""
        return not len(self) or not (np.abs(sums - self.right_side) > 1e-13 * size).any()

    @cached_property
    def kinds(self) -> tuple[Matrix, list[Integers | slice]]:
        """The distinct columns of E, and for each the rows that have it.

        The equations depend on u only through its sums over these kinds of rows.
        """
        if len(self) == 1 and self.total is not None:
            return np.ones((1, 1)), [slice(None)]
        coefficients, kind = self.rows.kinds(self.matrix)
        return coefficients, [np.flatnonzero(kind == k) for k in range(coefficients.shape[1])]

    def sums_by_kind(self, u: Vector) -> Vector:
        return self.rows.totals([u[rows] for rows in self.kinds[1]])

    @cached_property
    def _inverse(self) -> Matrix:
        return np.asarray(np.linalg.pinv(self.kinds[0]), dtype=float)

    def nearest_sums(self, sums: Vector, least: Vector, most: Vector) -> Vector | None:
        """Sums by kind that satisfy the equations and their bounds, near the sums given; None if there are none."""
        sums = np.where(np.isfinite(sums), sums, 0.0)
        for _ in range(MOST_PROJECTIONS):
            found = self._held_inside(sums, least, most)
            if found is not None:
                return found
            sums = np.clip(sums - self._inverse @ (self.kinds[0] @ sums - self.right_side), least, most)
        return None

    def _held_inside(self, sums: Vector, least: Vector, most: Vector) -> Vector | None:
        """The sums moved to satisfy the equations; a sum that reaches a bound stays there. None if that fails."""
        coefficients, is_free, is_held = self.kinds[0], np.ones(len(sums), dtype=bool), True
        while is_held:
            moved = sums.copy()
            moved[is_free] += np.linalg.pinv(coefficients[:, is_free]) @ (self.right_side - coefficients @ sums)
            sums = np.clip(moved, least, most)
            is_held = bool((sums != moved).any())
            is_free &= sums == moved
        sizes = np.max([np.where(np.isfinite(one), np.abs(one), 0.0) for one in (sums, least, most)], axis=0)
        missed = np.abs(coefficients @ sums - self.right_side)
        return sums if (missed <= ROUNDING * (np.abs(coefficients) @ sizes)).all() else None

    def described(self) -> str:
        """What the equations require of the duals, in words for messages."""
        asked = "" if self.total is None else f" add up to {self.total:g}"
        has_intercept = len(self) > (0 if self.total is None else 1)
        return asked + (" with equal sums on both sides, as a free intercept asks for" if has_intercept else "")


def combined(multipliers: Vector, coefficients: Matrix) -> Vector:
    """E'rho: the coefficients of the equations, one row each, times their multipliers, which are one or two."""
    total = float(multipliers[0]) * coefficients[0]
    for multiplier, row in zip(multipliers[1:].tolist(), coefficients[1:], strict=True):
        total += multiplier * row
    return total
