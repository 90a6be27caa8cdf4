"""The programme of several classes where a row may belong to each class to some share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import Matrix, Vector
from ..workers.caching import cached_property
from .softmax import SoftmaxProgramme


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
