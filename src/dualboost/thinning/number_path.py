"""Backward elimination for regressors: the squared loss over the values of all leaves, or Poisson's, and a ridge.

With F(x) = b + the sum of the values of the leaves of x in the trees held::

    min  1/2 |v|^2 + C/M sum_i c_i loss(y_i, F(x_i))

is solved over all trees, and the trees missed least are removed, as ``leaf_path.py`` does for two classes. Targets are
standardised before, so that C means the same for every unit of y; the values found are in the units of the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import Vector
from ..algebra.leaves import LeafColumns
from ..masters import MasterSolution
from .leaf_path import SEED, LeafPath, Stage
from .number_rows import NumberLeaves, NumberRows


class NumberLeafPath(LeafPath):
    """Trees with a number in every leaf."""

    def __init__(self, rows: NumberRows) -> None:
        order = np.random.default_rng(SEED).permutation(len(rows.labels))
        self.members, present = rows.refittable
        self._present = [of_tree for (of_tree,) in present]
        self._sizes = [len(values) for values in rows.values]
        self._loss = rows.link.loss
        task, targets = rows.link.task.read(rows.targets[order], rows.counts[order])
        self._units = task.units
        self._rows = task.rows(targets, rows.counts[order])
        self._operator = task.operator(targets)
        self._trees = [
            (np.searchsorted(own, rows.leaves[j][order]).astype(np.min_scalar_type(len(own) - 1)), len(own))
            for j, own in zip(self.members.tolist(), self._present, strict=True)
        ]
        self._columns = LeafColumns(self._rows, self._operator)
        self._held = []

    def _plain_programme(self, C: float) -> Any:
        return self._loss(C=C).resolve(self._rows.n_samples).programme(self._rows, 1)

    def _stage(self, point: Any, solution: MasterSolution | None = None) -> Stage:
        stage = super()._stage(point, solution)
        return replace(stage, intercept=self._units.origin + self._units.unit * stage.intercept)

    def _new_leaves(self, k: int, values: Vector) -> NumberLeaves:
        own = np.zeros(self._sizes[int(self.members[k])])
        own[self._present[k]] = self._units.unit * values
        return NumberLeaves(own)
