"""The operator that leaves outputs as they are: rows of A are rows of the data, and margins are scores.

An operator with one row of A for each row of the data has only to say what differs.
"""

from __future__ import annotations

from .._typing import Vector
from .rows import Rows


class OutputsThemselves:
    """T h = h."""

    def apply(self, outputs: Vector) -> Vector:
        return outputs

    def adjoint(self, u: Vector) -> Vector:
        return u

    def curvature(self, of_margins: Vector) -> Vector:
        return of_margins

    def scores(self, margins: Vector) -> Vector:
        return margins

    def rows_of_A(self, rows: Rows) -> Rows:
        return rows

    def divided(self, u: Vector) -> Vector:
        return u

    def duals_of_rows(self, u: Vector) -> Vector:
        return u
