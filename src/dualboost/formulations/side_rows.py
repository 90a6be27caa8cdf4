"""Formulations with side rows: CqBoost and spatially augmented LP-Boost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._typing import Integers, Vector
from ..errors import InvalidParameterError
from ..matrix.columns import FeatureDifferences, MeanMargin, NoSideRows, SideRows
from ..matrix.rows import Rows
from .base import Formulation
from .paper import LPBoost
from .programme import Programme
from .terms import QuadraticTerm
from .weight_sets import Simplex

PENALTY = 1000.0
"""B, the cost of each unit by which the mean margin falls short of C."""


@dataclass
class CqBoost(Formulation):
    """CqBoost: the least second moment of the margins among ensembles with a given mean margin, the C-bound's parts.

    Primal, with M the total of the multiplicities and B = 1000::

        min  1/M sum_i c_i m_i^2 + B max(0, C - 1/M sum_i c_i m_i)
        s.t. m_i = y_i sum_j w_j h_j(x_i),   sum_j w_j = 1,   w >= 0

    The paper requires a mean margin of C, but there may be no ensemble that has it. Here falling short of C has a cost.
    Where some ensemble of the columns held has a mean margin of C + 1/B, the optimum is the paper's own; where none
    reaches C, the mean margin is maximised first, and the fit warns if it ends there.

    Dual (u free in sign, with bounds of 4 c_i/M that it never reaches, as no margin exceeds one)::

        max  C b - M/4 sum_i u_i^2/c_i - max_j sum_i (u_i + b c_i/M) y_i h_j(x_i)
        s.t. 0 <= b <= B

    b is the dual of a side row, the mean margin. At the optimum u_i = -2 c_i m_i/M.

    Pricing: a column improves when its edge under u_i + b c_i/M, the duals that the pricer sees, exceeds the largest
    edge held. A negative dual counts as a positive one with the opposite label.

    C: mu, the required mean margin, above 0 and at most 1; scale-free. Default: 0.1; deeper trees need a larger C.
    Paper's range: cross-validated, over values that we have not seen; the grid is ours, 0.01 to 0.3, uniform in the
    exponent.

    Paper: Roy, Marchand & Laviolette, "A column generation bound minimization approach with PAC-Bayesian generalization
    guarantees", AISTATS 2016.
    """

    name: ClassVar[str] = "cq"
    title: ClassVar[str] = "CqBoost"
    optimises: ClassVar[str] = "the least second moment of the margins, given their mean"
    meaning_of_C: ClassVar[str] = "mu, the required mean margin, above 0 and at most 1 (default 0.1)"
    use: ClassVar[str] = "As md, with the required mean margin as its C."
    objective_sign: ClassVar[int] = 1
    sparser_with_larger_C: ClassVar[bool] = True
    has_sides: ClassVar[bool] = True
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()

    def programme(self, rows: Rows, n_columns: int) -> Programme:
        shares = rows.counts / rows.n_samples
        term = QuadraticTerm(linear=0.0, curvatures=0.5 / shares, constant=rows.full(0.0))
        return Programme(rows, -4.0 * shares, 4.0 * shares, term, Simplex())

    def side_rows(self, rows: Rows, n_features: int) -> MeanMargin:
        return MeanMargin(rows.counts / rows.n_samples)

    def with_sides(self, programme: Programme, rows: Rows) -> Programme:
        return programme.with_sides(rows, np.zeros(1), np.array([PENALTY]), np.array([-self.C_value]))

    def shortcoming(self, side_margins: Vector) -> str | None:
        mean = float(side_margins[0])
        if mean >= (1.0 - 1e-6) * self.C_value:  # an optimum that reaches C does so up to rounding
            return None
        return (
            f"No ensemble of the learners found has a mean margin of C={self.C_value:.3g}; that of the one returned "
            f"is {mean:.3g}. Choose a smaller C for formulation {self.name!r}, deeper trees or more of them."
        )

    def C_bounds(self, n_samples: float) -> tuple[float, float]:
        return 0.0, 1.0

    def default_C(self, n_samples: float) -> float:
        return 0.1

    def C_grid(self, n_samples: float, k: int = 10) -> Vector:
        return np.geomspace(0.01, 0.3, k)


CHOICES = "choose None (adjacent columns), the shape of a grid such as (28, 28), or an array of pairs of columns"


def as_neighbours(given: Any) -> tuple[Any, ...] | None:
    """The argument ``neighbours``, checked, as tuples of numbers that can be compared and written to a file."""
    if given is None:
        return None
    try:
        numbers = np.asarray(given)
    except ValueError:
        numbers = np.zeros(0)
    is_shape, are_pairs = numbers.ndim == 1, numbers.ndim == 2 and numbers.shape[1] == 2
    if numbers.dtype.kind not in "iu" or not (is_shape or are_pairs) or not len(numbers):
        raise InvalidParameterError(f"neighbours={given!r} is not known: {CHOICES}.")
    if is_shape:
        if numbers.min() < 1:
            raise InvalidParameterError(f"neighbours={given!r}: a grid has at least one cell along each axis.")
        return tuple(numbers.tolist())
    if numbers.min() < 0 or (numbers[:, 0] == numbers[:, 1]).any():
        raise InvalidParameterError(f"neighbours={given!r}: a pair is two different columns, counted from 0.")
    return tuple(tuple(pair) for pair in numbers.tolist())


def neighbouring_pairs(neighbours: tuple[Any, ...] | None, n_features: int) -> Integers:
    """The pairs of neighbouring features, one row for each; no pair appears twice."""
    if neighbours is None or isinstance(neighbours[0], int):
        return _grid_pairs((n_features,) if neighbours is None else neighbours, n_features)
    pairs = np.sort(np.array(neighbours, dtype=np.intp), axis=1)
    if pairs.max() >= n_features:
        raise InvalidParameterError(
            f"neighbours names column {pairs.max()}, but X has {n_features} columns, counted from 0."
        )
    return np.unique(pairs, axis=0)


def most_neighbours(neighbours: tuple[Any, ...] | None) -> int:
    """The most neighbours that any feature has."""
    if neighbours is None or isinstance(neighbours[0], int):
        return 2 * len(neighbours or (1,))
    return int(np.bincount(np.unique(np.sort(neighbours, axis=1), axis=0).ravel()).max())


def _grid_pairs(shape: tuple[int, ...], n_features: int) -> Integers:
    if math.prod(shape) != n_features:
        raise InvalidParameterError(
            f"neighbours={shape!r} is a grid of {math.prod(shape)} cells, but X has {n_features} columns."
        )
    cells = np.arange(n_features, dtype=np.intp).reshape(shape)
    pairs = []
    for axis in range(cells.ndim):
        along = np.moveaxis(cells, axis, 0)
        pairs.append(np.column_stack([along[:-1].ravel(), along[1:].ravel()]))
    return np.concatenate(pairs)


@dataclass
class SpatialLPBoost(LPBoost):
    """LP-Boost that keeps the weights of neighbouring features, such as pixels, close to each other.

    Primal, with v_f = sum_j s_fj w_j the weight of feature f and L = ``smoothness``::

        min  sum_j w_j + C sum_i c_i xi_i + L sum_(f,g) |v_f - v_g|     (f,g) all pairs of neighbours
        s.t. y_i sum_j w_j h_j(x_i) + xi_i >= 1,   w, xi >= 0

    s_fj is the share of feature f in the splits of learner j, by gain; the only feature of a stump has a share of one.
    Up to its scale, v is ``feature_importances_``. Other classifiers have shares by their own importances or
    coefficients; a classifier with neither does not count in the third term. Features are the columns that trees split
    on.

    ``neighbours``: None for adjacent columns of X; a shape such as (28, 28) for a grid, its last axis running fastest;
    or an array of pairs of columns.

    Dual, with t_fg the dual of the side row of each pair, and b_f = sum_g t_fg - sum_g t_gf::

        max  sum_i u_i
        s.t. sum_i u_i y_i h_j(x_i) + sum_f s_fj b_f <= 1 for every column j,   0 <= u_i <= C c_i,   -L <= t_fg <= L

    Pricing: a column improves when its edge plus sum_f s_fj b_f exceeds 1. The search for such a column is heuristic:
    stumps and CART compare edges (of every split) divided by 1 - b_f; optimal trees of more depth and other
    classifiers are searched for by edge alone. So no bound over the class is stated, unless L is 0, which is ``lp``.

    C: the cost of a unit of slack, as in ``lp``. Default: 50/M, where M is the total of the multiplicities; the default
    of ``smoothness`` is 0.1. Paper's range: not known to us; the grid is that of ``lp``, 10^-4 to 10^-0.33.
    ``scale_free=True`` as in ``lp``.

    Paper: Hinrichs, Singh, Mukherjee, Xu, Chung & Johnson, "Spatially augmented LPboosting for AD classification with
    evaluations on the ADNI dataset", NeuroImage 48 (2009). We have not seen it: absolute differences are our choice.
    """

    smoothness: float = 0.1
    neighbours: Any = field(default=None, metadata={"is_list": True})

    name: ClassVar[str] = "spatial"
    title: ClassVar[str] = "LP-Boost (spatial)"
    optimises: ClassVar[str] = "hinge loss, the sum of the weights, and their differences between neighbouring features"
    use: ClassVar[str] = "Images and other ordered features: SpatialLPBoost(smoothness=0.3, neighbours=(28, 28))."
    has_sides: ClassVar[bool] = True
    optimizes_for_classes: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        given = self.smoothness
        is_number = isinstance(given, (int, float, np.number)) and not isinstance(given, bool)
        if not (is_number and 0 <= given < np.inf):
            raise InvalidParameterError(f"smoothness={given!r} must be a number of at least 0; 0 is formulation 'lp'.")
        as_neighbours(self.neighbours)

    def resolve(self, n_samples: float) -> Formulation:
        """The formulation with a number for C, and with neighbours that can be compared and written to a file."""
        return replace(self, C=super().resolve(n_samples).C, neighbours=as_neighbours(self.neighbours))

    def side_rows(self, rows: Rows, n_features: int) -> SideRows:
        pairs = neighbouring_pairs(as_neighbours(self.neighbours), n_features)
        if self.smoothness == 0 or not len(pairs):
            return NoSideRows()
        return FeatureDifferences(pairs[:, 0], pairs[:, 1], n_features, cost=1.0)

    def with_sides(self, programme: Programme, rows: Rows) -> Programme:
        most = np.full(rows.n_sides, float(self.smoothness))
        return programme.with_sides(rows, -most, most, np.zeros(rows.n_sides))

    def smallest_useful_C(self, largest_edge: float) -> float | None:
        """The C from which a single learner lowers the objective; several learners together may do so earlier."""
        cost = 1.0 + self.smoothness * most_neighbours(as_neighbours(self.neighbours))
        return cost / largest_edge if largest_edge > 0 else None
