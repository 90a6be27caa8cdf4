"""T for several classes: by how much the output for a row's own class exceeds that for each other class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..algebra.columns import Columns
from ..algebra.pairs import Pairs
from ..algebra.rows import Rows
from ..formulations.base import Formulation
from ..formulations.class_programme import ClassProgramme


@dataclass(frozen=True, eq=False)
class ClassMargins:
    """A has a row for each pair of a row of the data and a class that is not its own, row by row.

    (T h)_ik = h_{y_i}(x_i) - h_k(x_i), so that (T'u)_ik = -u_ik for k != y_i, and the sum of these u for k = y_i.
    """

    codes: Integers
    n_classes: int

    @cached_property
    def others(self) -> Integers:
        """For each row of the data the other classes, in order."""
        others = np.arange(self.n_classes - 1)[None, :]
        return np.asarray(others + (others >= self.codes[:, None]))

    def apply(self, outputs: Matrix) -> Vector:
        own = np.take_along_axis(outputs, self.codes[:, None], axis=1)
        return np.asarray((own - np.take_along_axis(outputs, self.others, axis=1)).ravel())

    def adjoint(self, u: Vector) -> Matrix:
        u = u.reshape(self.others.shape)
        residual = np.empty((len(u), self.n_classes))
        np.put_along_axis(residual, self.others, -u, axis=1)
        np.put_along_axis(residual, self.codes[:, None], u.sum(axis=1, keepdims=True), axis=1)
        return residual

    def curvature(self, of_margins: Vector) -> Vector:
        raise NotImplementedError("leaves of several classes have a programme of their own")

    def intercepts(self) -> Matrix:
        return np.stack([self.apply(np.tile(row, (len(self.codes), 1))) for row in np.eye(self.n_classes)])

    def scores(self, margins: Vector) -> Matrix:
        """The scores up to a number for each row: those with zero for the row's own class."""
        scores = np.zeros((len(self.codes), self.n_classes))
        np.put_along_axis(scores, self.others, -margins.reshape(self.others.shape), axis=1)
        return scores

    def rows_of_A(self, rows: Rows) -> Rows:
        n_others = self.n_classes - 1
        return rows.like(np.repeat(rows.counts / n_others, n_others))

    def divided(self, u: Vector) -> Vector:
        return np.asarray(np.repeat(u / (self.n_classes - 1), self.n_classes - 1))

    def duals_of_rows(self, u: Vector) -> Matrix:
        """The residuals, one for each class."""
        return self.adjoint(u)

    def programme(self, formulation: Formulation, columns: Columns, rows: Rows, n_columns: int) -> Any:
        """One loss a row, of its least margin; or, where losses grow with the margin too, one a pair."""
        if formulation.has_loss_a_class:
            return formulation.programme(columns.rows, n_columns)
        return ClassProgramme(formulation.programme(rows, n_columns), self._pairs)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs.all_of(*self.others.shape)
