"""An ensemble of trees as a table of rules, one for each leaf."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._typing import Features, Vector
from ..errors import MissingDependencyError, UnsupportedModelError
from ..models.fitted import FittedModel
from ..trees.tree import Tree
from .conditions import leaf_conditions, rule_text
from .names import Names, names_of

COLUMNS = ("tree", "leaf", "weight", "conditions", "vote", "weighted_vote", "rows", "share")
DIGITS = 9
"""Weighted votes that agree in this many decimal places count as equally strong."""


def used_trees(model: FittedModel, what_for: str) -> dict[int, Tree]:
    """The trees that have a weight, by their position in ``estimators_``."""
    trees = {}
    for j in np.flatnonzero(model.ensemble.weights).tolist():
        learner = model.ensemble.learners[j]
        if not isinstance(learner, Tree):
            raise UnsupportedModelError(
                f"{what_for} needs an ensemble of trees, but estimators_[{j}] is a {type(learner).__name__}: "
                "fit with learner='cart' or 'optimal'."
            )
        trees[j] = learner
    return trees


def rules_table(model: FittedModel, features: Features | None) -> Any:
    """The table of rules; rows are counted in ``features``, or if that is None, in the training data."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("rules returns a pandas data frame: pip install pandas.") from error
    trees, names = used_trees(model, "rules"), names_of(model)
    weights = model.ensemble.scales()
    records = [record for j, tree in trees.items() for record in _rules(j, tree, weights[j], names, features)]
    table = pd.DataFrame.from_records(records, columns=COLUMNS)
    strength = np.abs(table["weighted_vote"].to_numpy(dtype=float)).round(DIGITS)
    order = np.argsort(-strength, kind="stable")
    return table.iloc[order].reset_index(drop=True)


def _rules(j: int, tree: Tree, weight: float, names: Names, features: Features | None) -> Iterator[tuple[Any, ...]]:
    rows = _rows(tree, features)
    total = max(float(rows.sum()), np.finfo(float).tiny)
    for leaf, path in sorted(leaf_conditions(tree).items()):
        vote = float(tree.votes[leaf])
        yield j, leaf, weight, rule_text(path, names), vote, weight * vote, rows[leaf], rows[leaf] / total


def _rows(tree: Tree, features: Features | None) -> Vector:
    """The number of rows in each leaf; nan if it is not known."""
    if features is not None:
        return np.bincount(tree.leaves(features), minlength=tree.n_leaves).astype(float)
    return tree.covers if tree.covers is not None else np.full(tree.n_leaves, np.nan)
