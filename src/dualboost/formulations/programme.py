"""A formulation's mathematical programme for given rows, as data that every master and certificate reads.

The one shape (A is the M x T matrix y_i h_j(x_i), m = A w are the margins, A'u the edges)::

    min over w in W  of  max over u in U  of   Omega(w) - u'(A w) - sum_i g_i(u_i)
    U: lower_i <= u_i <= upper_i, and sum_i u_i = total where a total is given

Its value is the *saddle value*; a formulation turns it into the objective the paper states. For any w in W and any
number rho (the multiplier of the total, 0 without one), and any u in U,

    primal(w, rho) = Omega(w) - rho*total + sum_i loss_i(m_i - rho)   >=   saddle value
    dual(u)        = -sum_i g_i(u_i) - support_W(A'u)                 <=   saddle value

so their difference bounds the error of both, whoever computed them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Vector
from ..errors import InvalidParameterError
from .terms import RowTerm
from .weight_sets import WeightSet


@dataclass(frozen=True, eq=False)
class Programme:
    """The box, the term g, the total of u and the weight set W."""

    lower: Vector
    upper: Vector
    term: RowTerm
    weight_set: WeightSet
    total: float | None = None

    def __post_init__(self) -> None:
        slack = 1e-12 * abs(self.total or 0.0)
        if self.total is not None and not self.lower.sum() - slack <= self.total <= self.upper.sum() + slack:
            raise InvalidParameterError(
                f"No sample weights between their bounds add up to {self.total:g}: the largest sum is "
                f"{self.upper.sum():g}. Choose a smaller C."
            )

    @property
    def is_linear_programme(self) -> bool:
        """True where a basic (vertex) optimum exists and sparsity depends on returning it."""
        return self.term.is_linear and self.weight_set.ridge == 0

    @property
    def is_bounded(self) -> bool:
        """Whether the sample weights have bounds."""
        return bool(np.isfinite(self.upper).all())

    def row_losses(self, margins: Vector, rho: float = 0.0) -> Vector:
        return self.term.loss(margins - rho, self.lower, self.upper)

    def primal_terms(self, w: Vector, margins: Vector, rho: float = 0.0) -> tuple[float, float]:
        """The primal value, and the sum of the absolute values it is added up from."""
        losses = self.row_losses(margins, rho)
        fixed = self.weight_set.value(w)
        shift = 0.0 if self.total is None else -rho * self.total
        size = abs(fixed) + abs(shift) + float(np.abs(losses).sum())
        return fixed + shift + float(losses.sum()), size

    def dual_value(self, u: Vector, edges: Vector) -> float:
        return -float(self.term.value(u).sum()) - self.weight_set.support(edges)

    def is_feasible(self, w: Vector, u: Vector) -> bool:
        """Whether w is in W and u in U to the last digits."""
        for vector, total in ((w, self.weight_set.total), (u, self.total)):
            if total is not None and abs(float(vector.sum()) - total) > 1e-13 * total:
                return False
        return bool(w.min() >= 0 and (u >= self.lower).all() and (u <= self.upper).all())

    def feasible(self, u: Vector) -> Vector:
        """The vector of U nearest to u in spirit: clipped to the box, with its total restored inside the box."""
        u = np.clip(u, self.lower, self.upper)
        if self.total is None:
            return u
        for _ in range(2):  # the second pass removes the rounding of the first
            missing = self.total - u.sum()
            room = self.upper - u if missing > 0 else self.lower - u
            space = float(np.abs(room).sum())
            if space > 0:
                u = np.clip(u + room * min(abs(missing) / space, 1.0), self.lower, self.upper)
        return u
