"""HiGHS as a reference master for the linear programmes: the paper's primal, columns added, basis kept."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..columns import Columns
from ..formulations.programme import Programme
from ..formulations.terms import LinearTerm
from .base import Candidate
from .hinge_lp import HingeLP


class HighsMaster:
    """Solves ``lp`` and ``nm`` by the simplex method; its solutions are vertices."""

    name: ClassVar[str] = "highs"
    returns_vertex: ClassVar[bool] = True
    strategies: ClassVar[tuple[str, ...]] = ("warm simplex", "cold simplex", "interior point and crossover")

    def __init__(self) -> None:
        self._model: HingeLP | None = None

    @staticmethod
    def supports(programme: Programme) -> bool:
        return programme.is_linear_programme

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        assert isinstance(programme.term, LinearTerm)
        if self._model is None:
            self._model = HingeLP(
                programme.lower, programme.upper, programme.total, programme.weight_set.total
            )
        new = columns.signed[self._model.n_columns :]
        self._model.add_columns(new, np.zeros(len(new)), programme.weight_set.cost)
        algorithm = "ipm" if strategy.startswith("interior") else "simplex"
        return self._model.solve(programme.term, algorithm, keep_basis=strategy == "warm simplex")
