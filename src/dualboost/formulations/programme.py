"""A formulation's mathematical programme for given rows, as data that every master and certificate reads.

The one shape (A is the M x T matrix y_i h_j(x_i), m = A w are the margins, A'u the edges)::

    min over w in W  of  max over u in U  of   Omega(w) - u'(A w) - sum_i g_i(u_i)
    U: lower_i <= u_i <= upper_i, and E u = t

E has a row of ones where a total of u is given (t is that total), and the negative labels as a row where the scores
have a free intercept (t is 0): none, one or both. Its value is the *saddle value*; a formulation turns it into the
objective the paper states. For any w in W and any rho (the multipliers of E u = t: the soft margin, the intercept), and
any u in U,

    primal(w, rho) = Omega(w) - rho't + sum_i loss_i((m - E'rho)_i)   >=   saddle value
    dual(u)        = -sum_i g_i(u_i) - support_W(A'u)                 <=   saddle value

so their difference bounds the error of both, whoever computed them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Vector
from ..errors import InvalidParameterError
from .terms import RowTerm
from .weight_sets import WeightSet


@dataclass(frozen=True, eq=False)
class Programme:
    """The box, the term g, the weight set W, the total of u, and the labels if there is a free intercept.

    ``size`` is what the objective is a part of, where it may vanish: a gap is relative to it too.
    """

    lower: Vector
    upper: Vector
    term: RowTerm
    weight_set: WeightSet
    total: float | None = None
    labels: Vector | None = None
    size: float = 0.0

    def __post_init__(self) -> None:
        least, most = self._sums_admitted()
        if least > most + 1e-12 * abs(most):
            asked = "" if self.total is None else f" add up to {self.total:g}"
            balanced = "" if self.labels is None else " with equal sums in both classes, as a free intercept asks for"
            raise InvalidParameterError(f"No sample weights between their bounds{asked}{balanced}. Choose a smaller C.")

    def with_intercept(self, labels: Vector) -> Programme:
        """The same programme with scores A w + intercept: the sample weights of both classes have the same sum."""
        return replace(self, labels=labels)

    def with_sides(self, lower: Vector, upper: Vector, slopes: Vector) -> Programme:
        """The same programme with side rows: their box, and g(theta) = slope*theta. It must have no equations."""
        assert not len(self.right_side), "equations are of the data rows"
        box = np.append(self.lower, lower), np.append(self.upper, upper)
        return replace(self, lower=box[0], upper=box[1], term=self.term.with_linear(slopes))

    @cached_property
    def equations(self) -> Matrix:
        """E: a row for the total, and one for the intercept."""
        rows = [] if self.total is None else [np.ones(len(self.lower))]
        rows += [] if self.labels is None else [-self.labels]
        return np.array(rows).reshape(len(rows), len(self.lower))

    @cached_property
    def right_side(self) -> Vector:
        """t."""
        return np.array(([] if self.total is None else [self.total]) + ([] if self.labels is None else [0.0]))

    def shifted(self, margins: Vector, rho: Vector) -> Vector:
        """m - E'rho: the margins beyond the soft margin, and with the intercept."""
        return margins - rho @ self.equations if len(rho) else margins

    @property
    def is_linear_programme(self) -> bool:
        """True where a basic (vertex) optimum exists and sparsity depends on returning it."""
        return self.term.is_linear and self.weight_set.ridge == 0 and not self.weight_set.is_bounded

    @property
    def is_bounded(self) -> bool:
        """Whether the sample weights have bounds."""
        return bool(np.isfinite(self.upper).all())

    def row_losses(self, margins: Vector) -> Vector:
        return self.term.loss(margins, self.lower, self.upper)

    def primal_terms(self, w: Vector, margins: Vector, rho: Vector) -> tuple[float, float]:
        """The primal value, and the sum of the absolute values it is added up from, or ``size`` if that is more."""
        losses = self.row_losses(self.shifted(margins, rho))
        fixed = self.weight_set.value(w)
        shift = -float(rho @ self.right_side)
        size = max(abs(fixed) + abs(shift) + float(np.abs(losses).sum()), self.size)
        return fixed + shift + float(losses.sum()), size

    def dual_value(self, u: Vector, edges: Vector) -> float:
        return -float(self.term.value(u).sum()) - self.weight_set.support(edges)

    def is_feasible(self, w: Vector, u: Vector) -> bool:
        """Whether w is in W and u in U to the last digits."""
        weight_total = self.weight_set.total
        if weight_total is not None and abs(float(w.sum()) - weight_total) > 1e-13 * weight_total:
            return False
        if (np.abs(self.equations @ u - self.right_side) > 1e-13 * float(np.abs(u).sum())).any():
            return False
        in_bounds = w.min() >= 0 and w.max() <= self.weight_set.bound
        return bool(in_bounds and (u >= self.lower).all() and (u <= self.upper).all())

    def feasible(self, u: Vector) -> Vector:
        """The vector of U nearest to u in spirit: clipped to the box, with its sums restored inside the box."""
        u = np.clip(u, self.lower, self.upper)
        if not len(self.right_side):
            return u
        for _ in range(2):  # the second pass removes the rounding of the first
            for side, target in self._sums_asked(u):
                u[side] = self._with_sum(u, side, target)
        return u

    def _sums_asked(self, u: Vector) -> list[tuple[NDArray[np.bool_] | slice, float]]:
        """Groups of rows, and the sum that u must have on each."""
        if self.labels is None:
            return [(slice(None), self.total or 0.0)]
        positive = self.labels > 0
        total = float(u.sum()) if self.total is None else self.total
        target = float(np.clip(0.5 * total, *self._sums_admitted()))
        return [(positive, target), (~positive, target)]

    def _with_sum(self, u: Vector, side: NDArray[np.bool_] | slice, target: float) -> Vector:
        """u on some rows, moved towards its bounds until it adds up to the target."""
        part = u[side]
        missing = target - float(part.sum())
        lower, upper = self.lower[side], self.upper[side]
        if not self.is_bounded:
            room = 1.0 / self.term.curvature(u)[side]
            return part + room * (missing / room.sum())
        room = upper - part if missing > 0 else lower - part
        space = float(np.abs(room).sum())
        if space == 0:
            return part
        return np.clip(part + room * min(abs(missing) / space, 1.0), lower, upper)

    def _sums_admitted(self) -> tuple[float, float]:
        """The least and the largest sum of u, on each side of the labels where they must be equal."""
        if self.labels is None:
            sides: list[NDArray[np.bool_] | slice] = [slice(None)]
            asked = self.total
        else:
            sides = [self.labels > 0, self.labels <= 0]
            asked = None if self.total is None else 0.5 * self.total
        least = max(float(self.lower[side].sum()) for side in sides)
        most = min(float(self.upper[side].sum()) for side in sides)
        if asked is None:
            return least, most
        slack = 1e-12 * abs(asked)
        return max(least - slack, asked), min(most + slack, asked)
