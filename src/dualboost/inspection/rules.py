"""An ensemble of trees as a table of rules, one for each leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .._typing import Features, Matrix, Vector
from ..errors import MissingDependencyError, UnsupportedModelError
from ..extras import how_to_install
from ..models.fitted import FittedModel
from ..trees.tree import Tree
from .conditions import leaf_conditions, rule_text
from .names import Names, names_of

COLUMNS = ["tree", "leaf", "weight", "conditions", "vote", "weighted_vote", "rows", "share"]
CLASS_COLUMN = "label"
QUANTILE_COLUMN = "quantile"
VALUE_COLUMN = "value_{}"
"""The name of the column with the values for one class, or one quantile."""
DIGITS = 9
"""Values that agree in this many decimal places count as equally strong."""


def used_trees(model: FittedModel, what_for: str) -> dict[int, Tree]:
    """The trees that have a weight, by their position in ``estimators_``."""
    trees = {}
    for j in np.flatnonzero(model.ensemble.weights).tolist():
        learner = model.ensemble.learners[j]
        if not isinstance(learner, Tree):
            raise UnsupportedModelError(
                f"{what_for} needs an ensemble of trees, but estimators_[{j}] is a {type(learner).__name__}: "
                "fit with learner='cart', 'optimal' or 'xgboost'."
            )
        trees[j] = learner
    return trees


def rules_table(model: FittedModel, features: Features | None) -> Any:
    """The table of rules; rows are counted in ``features``, or if that is None, in the training data."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(f"rules returns a table of pandas: {how_to_install('pandas')}.") from error
    trees, names, n_outputs = used_trees(model, "rules"), names_of(model), model.task.n_outputs
    records = [record for j, tree in trees.items() for record in _rules(j, tree, names, features)]
    table = pd.DataFrame.from_records(records, columns=["tree", "leaf", "conditions", "rows", "share"])
    votes = np.concatenate([np.zeros((0, n_outputs)), *(tree.votes.reshape(-1, n_outputs) for tree in trees.values())])
    positions = table["tree"].to_numpy(dtype=np.intp)
    weights = model.in_units.scales()[positions]
    values = weights[:, None] * votes
    largest = (votes if model.task.has_classes else np.abs(votes)).argmax(axis=1)
    each = np.arange(len(votes))
    table = table.assign(weight=weights, vote=votes[each, largest], weighted_vote=values[each, largest])[COLUMNS]
    if n_outputs > 1:
        if model.task.has_classes:
            column, told = CLASS_COLUMN, model.task.labels(largest)
        else:
            column, told = QUANTILE_COLUMN, np.array(model.task.output_names, dtype=object)[largest]
        table.insert(table.columns.get_loc("vote"), column, told)
        table = table.assign(
            **{VALUE_COLUMN.format(name): own for name, own in zip(model.task.output_names, values.T, strict=True)}
        )
    # Rounding would make all rules alike where the unit of y is large.
    strength = np.abs(model.ensemble.scales()[positions, None] * votes).max(axis=1).round(DIGITS)
    return table.iloc[np.argsort(-strength, kind="stable")].reset_index(drop=True)


def class_values(table: Any, classes: Sequence[object]) -> Matrix:
    """The values in a table of rules, one column for each class."""
    return table[[VALUE_COLUMN.format(label) for label in classes]].to_numpy(dtype=float)


def _rules(j: int, tree: Tree, names: Names, features: Features | None) -> Iterator[tuple[Any, ...]]:
    rows = _rows(tree, features)
    total = max(float(rows.sum()), np.finfo(float).tiny)
    for leaf, path in sorted(leaf_conditions(tree).items()):
        yield j, leaf, rule_text(path, names), rows[leaf], rows[leaf] / total


def _rows(tree: Tree, features: Features | None) -> Vector:
    """The number of rows in each leaf; nan if it is not known."""
    if features is not None:
        return np.bincount(tree.leaves(features), minlength=tree.n_leaves).astype(float)
    return tree.covers if tree.covers is not None else np.full(tree.n_leaves, np.nan)
