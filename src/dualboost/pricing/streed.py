"""Optimal trees of depth 3 and more by STreeD, a dynamic programme over binary splits, within a time budget.

Van der Linden, de Weerdt & Demirovic, "Necessary and sufficient conditions for optimal decision trees using dynamic
programming", NeurIPS 2023. Every row has a cost for each label: for two classes |s_i| for the label opposite to the
sign of its residual s_i, and 0 for the other one.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._typing import Matrix, Vector
from ..errors import MissingDependencyError
from ..extras import how_to_install
from ..trees.growing import Branch
from .enumeration import BinarySplits


def require_streed() -> Any:
    """STreeD's classifier with a cost for each row and label."""
    try:
        from pystreed import STreeDInstanceCostSensitiveClassifier
    except ImportError as error:
        raise MissingDependencyError(
            f"learner='optimal' with max_depth of 3 or more needs STreeD: {how_to_install('pystreed')}. "
            "Depths 1 and 2 do without."
        ) from error
    return STreeDInstanceCostSensitiveClassifier


def costs_of_signs(residual: Vector) -> Matrix:
    """The costs of a row in leaves that vote -1 and +1."""
    return np.column_stack([np.maximum(residual, 0.0), np.maximum(-residual, 0.0)])


def best_within(
    binary: BinarySplits, costs: Matrix, depth: int, seconds: float, seed: int
) -> tuple[Branch | None, bool]:
    """The tree of least cost found within the time, and whether it is proven optimal; a cost for each row and label."""
    rows = np.flatnonzero(costs.any(axis=1))
    if not binary.splits or not costs.any(axis=0).all():  # a label that costs nothing: a leaf is the best tree
        return None, True
    costs = costs[rows] * (len(rows) / costs.sum())
    solver = require_streed()(max_depth=depth, time_limit=seconds, random_seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solver.fit(binary.Z[rows], costs)
    if not hasattr(solver, "tree_"):
        return None, False
    return _branch(solver.tree_, binary), bool(solver.fit_result.is_optimal())


def _branch(node: Any, binary: BinarySplits) -> Branch | None:
    """STreeD's node as a ``Branch``; STreeD's right child, where the split is satisfied, is the left side here."""
    if node.is_leaf_node():
        return None
    left, right = _branch(node.right_child, binary), _branch(node.left_child, binary)
    return Branch(binary.splits[node.feature], 1.0, left, right)
