"""The conditions that lead to a leaf, as text: all tests of one feature are merged into one condition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..trees.tree import Tree
from .names import Names, number


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
