"""Spatially augmented LP-Boost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from ..algebra.rows import Rows
from ..algebra.side_rows import FeatureDifferences, NoSideRows, SideRows
from ..errors import InvalidParameterError
from .base import Formulation
from .lp import LPBoost
from .neighbours import as_neighbours, most_neighbours, neighbouring_pairs
from .programme import Programme


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
    corrects_for_classes: ClassVar[tuple[str, ...]] = ()

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
