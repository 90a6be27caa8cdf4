"""Leaves as rules, and trees as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Matrix, Vector
from ..arguments import how_to_install
from ..errors import MissingDependencyError, UnsupportedModelError
from ..escaping import printable
from ..models.fitted import FittedModel
from ..targets.scoring import scoring_name
from ..trees.lightgbm_text import BELOW_ZEROS, READ_AS_ZERO
from ..trees.tree import Tree


def held_out_name(estimator: Any) -> str:
    """The score on held-out rows: the one asked for, else that of the loss, else the accuracy."""
    own = getattr(estimator.formulation_, "scorer", None)
    return scoring_name(own if estimator.scoring is None else estimator.scoring)


def training_name(estimator: Any) -> str:
    """The score on the training rows."""
    return str(estimator.fitted_.target.quality_name)


def score_name(model: FittedModel) -> str:
    """What the trees add up to."""
    target = model.target
    if not target.has_classes:
        return "the logarithm of the mean" if target.name == "counts" else "y"
    if target.n_outputs > 1:
        return "the score of the class"
    return f"the log-odds of {printable(target.output_names[1])}" if not model.ensemble.is_normalised else "the margin"


@dataclass(frozen=True)
class Names:
    """The names of features, categories and classes, and which features had missing values in training."""

    features: list[str]
    categories: dict[int, Any]
    has_missing: NDArray[np.bool_]
    classes: list[str] = field(default_factory=list)
    """The classes, or the quantiles of a regressor."""
    has_classes: bool = True
    truths: frozenset[int] = frozenset()
    """The features that were truth values in training."""

    def truth_between(self, feature: int, low: float, high: float) -> str:
        """The only truth value above one number and up to another; empty for other features, and where both are."""
        between = [str(value) for value in (False, True) if low < value <= high]
        return between[0] if feature in self.truths and len(between) == 1 else ""

    def category(self, feature: int, code: int) -> str:
        if feature in self.truths:
            return str(bool(code))
        known = self.categories.get(feature)
        return printable(str(known[code])) if known is not None and code < len(known) else str(code)

    def category_set(self, feature: int, codes: set[int]) -> str:
        return "{" + ", ".join(self.category(feature, code) for code in sorted(codes)) + "}"


def names_of(model: FittedModel) -> Names:
    """The names in a model, each in one line; features without a name are called x0, x1, ..., as in scikit-learn."""
    return Names(
        list(map(printable, model.inputs.names)),
        model.encoder.categories,
        model.has_missing,
        list(map(printable, model.target.output_names)),
        model.target.has_classes,
        model.encoder.truths,
    )


def number(value: float) -> str:
    """A number with six digits, or with one digit after the decimal point if that needs more.

    LightGBM writes a threshold of zero as 1e-35, which is shown as 0.
    """
    size = abs(value)
    if size in (0.0, READ_AS_ZERO, -BELOW_ZEROS):
        return "0"
    if not math.isfinite(value):
        return str(value)
    digits = max(6, min(15, math.floor(math.log10(size)) + 2))
    return f"{value:.{digits}g}"


MOST_NAMED = 3
"""The most classes of a leaf that are named in a line of text."""


def strongest(values: Vector, most: int) -> list[int]:
    """The class with the largest value, and those with the largest absolute values beside it; the largest value first.

    A strongly negative value says as much as a positive one: which class a row is not.
    """
    first = int(values.argmax())
    others = [k for k in np.argsort(-np.abs(values), kind="stable").tolist() if k != first]
    return sorted([first, *others[: most - 1]], key=lambda k: -values[k])


def class_text(values: Vector, classes: Sequence[object], most: int = MOST_NAMED) -> str:
    """The strongest classes of a leaf with their values, such as "+0.61 for virginica, -0.30 for setosa, …"."""
    named = [f"{values[k]:+.2f} for {classes[k]}" for k in strongest(values, most)]
    return ", ".join(named if len(named) == len(values) else [*named, "…"])


def quantile_text(values: Vector, quantiles: Sequence[object]) -> str:
    """All quantiles of a leaf with their values, such as "-3.1 for q0.05, +0.4 for q0.5"."""
    return ", ".join(f"{value:+.4g} for {name}" for value, name in zip(values, quantiles, strict=True))


@dataclass(frozen=True)
class Condition:
    """The values that one feature may have: above ``low``, at most ``high``, in ``codes``, not in ``other_codes``."""

    low: float = -np.inf
    high: float = np.inf
    codes: frozenset[int] | None = None
    other_codes: frozenset[int] = frozenset()
    admits_missing: bool = True

    def after(self, tree: Tree, node: int, goes_left: bool) -> Condition:
        """This condition combined with the outcome of one more test."""
        admits_missing = self.admits_missing and bool(tree.missing_left[node]) == goes_left
        if node not in tree.categories:
            threshold = float(tree.threshold[node])
            low, high = (self.low, min(self.high, threshold)) if goes_left else (max(self.low, threshold), self.high)
            return replace(self, low=low, high=high, admits_missing=admits_missing)
        tested = frozenset(tree.categories[node].tolist())
        if goes_left:
            codes = tested if self.codes is None else self.codes & tested
            return replace(self, codes=codes - self.other_codes, admits_missing=admits_missing)
        if self.codes is not None:
            return replace(self, codes=self.codes - tested, admits_missing=admits_missing)
        return replace(self, other_codes=self.other_codes | tested, admits_missing=admits_missing)

    def text(self, feature: int, names: Names) -> str:
        """The condition as text; empty if every value is allowed.

        "or missing" is added only for features that had missing values in training. It is not added to "not in", which
        a missing value satisfies anyway.
        """
        name, known = names.features[feature], self._known_values(feature, names)
        if not known:
            return "" if self.admits_missing else f"{name} not missing"
        if self._is_empty():
            return f"{name} missing" if self.admits_missing else "never"
        if self.other_codes and self.codes is None:
            return known if self.admits_missing else f"{known} and {name} not missing"
        return f"({known} or missing)" if self.admits_missing and names.has_missing[feature] else known

    def _is_empty(self) -> bool:
        return not self.low < self.high or self.codes == frozenset()

    def _known_values(self, feature: int, names: Names) -> str:
        name = names.features[feature]
        if self.codes is not None:
            return f"{name} in {names.category_set(feature, set(self.codes))}"
        if self.other_codes:
            return f"{name} not in {names.category_set(feature, set(self.other_codes))}"
        truth = names.truth_between(feature, self.low, self.high)
        if truth:
            return f"{name} is {truth}"
        low, high = self.low > -np.inf, self.high < np.inf
        if low and high:
            return f"{number(self.low)} < {name} <= {number(self.high)}"
        return f"{name} > {number(self.low)}" if low else f"{name} <= {number(self.high)}" if high else ""


def leaf_conditions(tree: Tree) -> dict[int, dict[int, Condition]]:
    """For each leaf the conditions on all features tested on the way to it, in the order of the tests."""
    return dict(_below(tree, 0 if len(tree.feature) else ~0, {}))


def _below(tree: Tree, node: int, path: dict[int, Condition]) -> Iterator[tuple[int, dict[int, Condition]]]:
    if node < 0:
        yield ~node, path
        return
    feature = int(tree.feature[node])
    condition = path.get(feature, Condition())
    for child, goes_left in ((tree.left[node], True), (tree.right[node], False)):
        yield from _below(tree, int(child), path | {feature: condition.after(tree, node, goes_left)})


def rule_text(path: dict[int, Condition], names: Names) -> str:
    """All conditions of a leaf as text; "always" if there are none."""
    texts = [condition.text(feature, names) for feature, condition in path.items()]
    return " and ".join(filter(None, texts)) or "always"


def split_text(tree: Tree, node: int, names: Names) -> str:
    """The test of a node, which is true on its left side; missing values are not mentioned."""
    feature = int(tree.feature[node])
    return replace(Condition().after(tree, node, True), admits_missing=False).text(feature, names)


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
    trees, names, n_outputs = used_trees(model, "rules"), names_of(model), model.target.n_outputs
    records = [record for j, tree in trees.items() for record in _rules(j, tree, names, features)]
    table = pd.DataFrame.from_records(records, columns=["tree", "leaf", "conditions", "rows", "share"])
    votes = np.concatenate([np.zeros((0, n_outputs)), *(tree.votes.reshape(-1, n_outputs) for tree in trees.values())])
    positions = table["tree"].to_numpy(dtype=np.intp)
    weights = model.in_units.scales()[positions]
    values = weights[:, None] * votes
    largest = (votes if model.target.has_classes else np.abs(votes)).argmax(axis=1)
    each = np.arange(len(votes))
    table = table.assign(weight=weights, vote=votes[each, largest], weighted_vote=values[each, largest])[COLUMNS]
    if n_outputs > 1:
        if model.target.has_classes:
            column, told = CLASS_COLUMN, model.target.labels(largest)
        else:
            column, told = QUANTILE_COLUMN, np.array(model.target.output_names, dtype=object)[largest]
        table.insert(table.columns.get_loc("vote"), column, told)
        table = table.assign(
            **{VALUE_COLUMN.format(name): own for name, own in zip(model.target.output_names, values.T, strict=True)}
        )
    # Rounding would make all rules alike where the unit of y is large.
    C_value = np.abs(model.ensemble.scales()[positions, None] * votes).max(axis=1).round(DIGITS)
    return table.iloc[np.argsort(-C_value, kind="stable")].reset_index(drop=True)


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


def draw_tree(tree: Tree, names: Names, classes: Sequence[str]) -> str:
    """The tree with one line for each branch and leaf; the branch where the test holds comes first.

    A leaf shows its class and, unless that is one, how strongly it votes; of several classes, the strongest few with
    their values; without classes, its value.
    """
    root = 0 if len(tree.feature) else ~0
    return "\n".join(_lines(tree, root, "", names, classes))


def _lines(tree: Tree, node: int, indent: str, names: Names, classes: Sequence[str]) -> Iterator[str]:
    if node < 0:
        yield indent + _leaf(tree, ~node, names, classes)
        return
    test, otherwise = f"if {split_text(tree, node, names)}", "else"
    if names.has_missing[tree.feature[node]]:
        test, otherwise = (f"{test} or missing", otherwise) if tree.missing_left[node] else (test, "else, or missing")
    for answer, child, stem in ((test, tree.left[node], "│  "), (otherwise, tree.right[node], "   ")):
        branch = "├─ " if stem.strip() else "└─ "
        if child < 0:
            yield f"{indent}{branch}{answer}: {_leaf(tree, ~int(child), names, classes)}"
        else:
            yield f"{indent}{branch}{answer}:"
            yield from _lines(tree, int(child), indent + stem, names, classes)


def _leaf(tree: Tree, leaf: int, names: Names, classes: Sequence[str]) -> str:
    vote = tree.votes[leaf]
    rows = "" if tree.covers is None else f" ({tree.covers[leaf]:g} rows)"
    if np.ndim(vote):
        return (class_text if names.has_classes else quantile_text)(vote, classes) + rows
    if not classes:
        return f"{vote:+.4g}{rows}"
    C_value = "" if abs(vote) == 1.0 else f" {abs(vote):.2f}"
    return classes[int(vote > 0)] + C_value + rows
