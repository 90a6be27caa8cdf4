"""Trees in LightGBM's text format, and codes for numbers that LightGBM reads as zero."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features, Integers, Vector
from ..errors import UnsupportedModelError
from .tree import Tree, column_values, constant_tree

# LightGBM reads every number of at most 1e-35 in size as zero where it predicts. Where it bins rows, it cuts right
# above and right below zero at these two numbers, and a number that is -1e-35 itself is below the cut. A column that
# is cut among such numbers is given to it as codes: whole numbers in the order of the values, with the code 0 for
# zero.

READ_AS_ZERO = float(np.float32(1e-35))
"""The largest number that LightGBM reads as zero, 1e-35 in single precision; it cuts right above zero there."""
BELOW_ZEROS = float(np.nextafter(-READ_AS_ZERO, -np.inf))
"""Where a cut right below zero is: LightGBM writes -1e-35, but predicts that number itself as zero, above the cut."""
ROWS_AT_ONCE = 4096
"""How many rows are looked at at a time, so that no array is as large as X."""


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column cut at ``cuts``, which increase: the code of a value is the number of cuts below it, less zero's."""

    cuts: Vector

    @cached_property
    def _zero(self) -> int:
        return int(np.searchsorted(self.cuts, 0.0))

    def codes(self, values: Vector) -> Vector:
        """The codes of values; missing values stay missing."""
        codes: Vector = (np.searchsorted(self.cuts, values) - self._zero).astype(float)
        codes[np.isnan(values)] = np.nan
        return codes

    def coded_cuts(self, cuts: Vector) -> Vector:
        """Where the codes are to be cut instead of the values: halfway between two codes."""
        return np.asarray(np.searchsorted(self.cuts, cuts) - self._zero + 0.5, dtype=float)

    def decoded_cuts(self, thresholds: Vector) -> Vector:
        """Where the values are cut if the codes are cut at these thresholds; beyond all codes, beyond all values."""
        ends = np.concatenate([[-np.finfo(float).max], self.cuts, [np.inf]])
        below = np.floor(np.clip(thresholds, -len(ends), len(ends))).astype(np.intp) + self._zero
        return ends[np.clip(below, -1, len(self.cuts)) + 1]


def tiny_features(X: Features) -> list[int]:
    """The features with a value that LightGBM reads as zero, and that is not zero."""
    if sparse.issparse(X):
        positions = np.flatnonzero(_is_tiny(X.data))
        return np.unique(np.searchsorted(X.indptr, positions, side="right") - 1).tolist()
    found = np.zeros(X.shape[1], dtype=bool)
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        found |= _is_tiny(X[start : start + ROWS_AT_ONCE]).any(axis=0)
    return np.flatnonzero(found).tolist()


def _is_tiny(values: Vector) -> NDArray[np.bool_]:
    tiny: NDArray[np.bool_] = (np.abs(values) <= READ_AS_ZERO) & (values != 0)
    return tiny


def columns_cut_at_tiny_values(trees: Sequence[Tree]) -> dict[int, CodedColumn]:
    """Those features that the trees cut where LightGBM sees but one value, coded by all cuts of the trees."""
    feature = np.concatenate([np.zeros(0, dtype=np.intp), *(tree.feature for tree in trees)])
    cuts = np.concatenate([np.zeros(0), *(_cuts(tree) for tree in trees)])
    among_tiny = np.unique(feature[_is_among_zeros(cuts)]).tolist()
    return {k: CodedColumn(np.unique(cuts[(feature == k) & ~np.isnan(cuts)])) for k in among_tiny}


def require_readable_cuts(trees: Sequence[Tree], name: Callable[[int], str]) -> None:
    """Require that LightGBM sees values on both sides of every cut; ``name`` names a feature in the message."""
    for tree in trees:
        cuts = _cuts(tree)
        for node in np.flatnonzero(_is_among_zeros(cuts) & (cuts != 0)).tolist():
            raise UnsupportedModelError(
                f"The model splits {name(int(tree.feature[node]))} at {cuts[node]:g}, but a LightGBM model reads all "
                "numbers up to 1e-35 as zero: take the logarithm of the feature, or multiply it, and fit again."
            )


def _is_among_zeros(cuts: Vector) -> NDArray[np.bool_]:
    """Which cuts have numbers on both sides that LightGBM reads as zero; a number goes left up to the cut."""
    among: NDArray[np.bool_] = (cuts >= -READ_AS_ZERO) & (cuts < READ_AS_ZERO)
    return among


def _cuts(tree: Tree) -> Vector:
    """The thresholds of numeric nodes; nan for nodes that split by category."""
    cuts = tree.threshold.copy()
    cuts[list(tree.categories)] = np.nan
    return cuts


def with_codes(X: Features, columns: Mapping[int, CodedColumn]) -> Features:
    """X with codes in these columns; X itself if there are none."""
    if not columns:
        return X
    coded = sparse.csc_matrix(X, copy=True) if sparse.issparse(X) else X.copy()
    for k, column in columns.items():
        if sparse.issparse(coded):
            entries = slice(coded.indptr[k], coded.indptr[k + 1])
            coded.data[entries] = column.codes(coded.data[entries])
        else:
            coded[:, k] = column.codes(column_values(X, k, slice(None)))
    return coded


def tree_of_codes(tree: Tree, columns: Mapping[int, CodedColumn]) -> Tree:
    """The equal tree over codes instead of values."""
    return _recut(tree, {k: column.coded_cuts for k, column in columns.items()})


def tree_of_values(tree: Tree, columns: Mapping[int, CodedColumn]) -> Tree:
    """The equal tree over values instead of codes."""
    return _recut(tree, {k: column.decoded_cuts for k, column in columns.items()})


def _recut(tree: Tree, moved: Mapping[int, Callable[[Vector], Vector]]) -> Tree:
    threshold = tree.threshold.copy()
    for k, move in moved.items():
        nodes = tree.feature == k
        threshold[nodes] = move(threshold[nodes])
    return replace(tree, threshold=threshold) if moved else tree


CATEGORICAL = 1
"""The bit of LightGBM's ``decision_type`` that marks a categorical split."""
DEFAULT_LEFT = 2
"""The bit of ``decision_type`` that sends missing values left."""
MISSING_TYPE_SHIFT = 2
"""How many bits of ``decision_type`` come before the two bits for the kind of missing values."""
MISSING_IS_NAN = 2
"""The value of these two bits if missing values are nan."""
FINEST = 1e8
"""Row counts are scaled to this total before rounding if they are fractions, too large, or zero in some leaf."""


def parse_trees(text: str) -> list[Tree]:
    """Every tree of a model string; the votes are the leaf values."""
    sections = text.split("\nTree=")[1:]
    return [_parse_tree(section) for section in sections]


def _parse_tree(section: str) -> Tree:
    fields = dict(line.split("=", 1) for line in section.split("\n\n", 1)[0].splitlines() if "=" in line)
    votes = np.array(fields["leaf_value"].split(), dtype=float)
    if int(fields["num_leaves"]) == 1:
        return constant_tree(float(votes[0]))
    threshold = np.array(fields["threshold"].split(), dtype=float)
    threshold[threshold == -READ_AS_ZERO] = BELOW_ZEROS
    decision = np.array(fields["decision_type"].split(), dtype=np.intp)
    has_missing = (decision >> MISSING_TYPE_SHIFT) & 3 == MISSING_IS_NAN
    # Without missing values in training LightGBM reads a missing number as zero, and a missing code as no category.
    missing_left = np.where(has_missing, decision & DEFAULT_LEFT > 0, threshold >= 0)
    is_categorical = decision & CATEGORICAL > 0
    return Tree(
        feature=np.array(fields["split_feature"].split(), dtype=np.intp),
        threshold=threshold,
        left=np.array(fields["left_child"].split(), dtype=np.intp),
        right=np.array(fields["right_child"].split(), dtype=np.intp),
        missing_left=np.where(is_categorical, False, missing_left),
        categories=_parse_categories(fields, np.flatnonzero(is_categorical)),
        gain=np.array(fields["split_gain"].split(), dtype=float),
        votes=votes,
    )


def _parse_categories(fields: dict[str, str], nodes: Integers) -> dict[int, Integers]:
    """For each categorical node the codes that go left, read from bit sets of 32-bit words."""
    if not len(nodes):
        return {}
    boundaries = np.array(fields["cat_boundaries"].split(), dtype=np.intp)
    words = np.array(fields["cat_threshold"].split(), dtype=np.uint32)
    thresholds = np.array(fields["threshold"].split(), dtype=float)
    sets = {}
    for node in nodes:
        which = int(thresholds[node])
        bits = words[boundaries[which] : boundaries[which + 1]]
        sets[int(node)] = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
    return sets


def format_model(
    trees: Sequence[Tree],
    scales: Vector,
    n_features: int,
    names: Sequence[str] | None = None,
    categories: Sequence[Sequence[object]] | None = None,
    objective: str = "regression",
    n_classes: int = 1,
) -> str:
    """The text of a model whose raw score is the sum of the trees' votes, each times its scale.

    ``names`` are the names of the features; ``categories`` has one list for each categorical column of a data frame;
    ``objective`` names LightGBM's function of the raw score. With several classes, trees are for one class after the
    other, again and again.
    """
    header = [
        "tree",
        "version=v4",
        f"num_class={n_classes}",
        f"num_tree_per_iteration={n_classes}",
        "label_index=0",
        f"max_feature_idx={n_features - 1}",
        f"objective={objective}",
        "feature_names=" + " ".join(names or (f"f{i}" for i in range(n_features))),
        "feature_infos=" + " ".join(["none"] * n_features),
        "",
    ]
    scaled = zip(trees, scales, strict=True)
    sections = [_format_tree(number, tree, tree.votes * scale) for number, (tree, scale) in enumerate(scaled)]
    return "\n".join([*header, *sections, "end of trees", "", f"pandas_categorical:{json.dumps(categories)}", ""])


def _format_tree(number: int, tree: Tree, values: Vector) -> str:
    nodes = sorted(tree.categories)
    threshold, decision = tree.threshold.copy(), np.full(len(tree.feature), MISSING_IS_NAN << MISSING_TYPE_SHIFT)
    threshold[nodes] = np.arange(len(nodes))
    decision[nodes] |= CATEGORICAL
    decision[tree.missing_left] |= DEFAULT_LEFT
    sets = [_bit_set(tree.categories[node]) for node in nodes]
    fields: dict[str, Iterable[object]] = {
        "Tree": [number],
        "num_leaves": [tree.n_leaves],
        "num_cat": [len(nodes)],
        "split_feature": tree.feature.tolist(),
        "split_gain": tree.gain.tolist(),
        "threshold": threshold.tolist(),
        "decision_type": decision.tolist(),
        "left_child": tree.left.tolist(),
        "right_child": tree.right.tolist(),
        "leaf_value": values.tolist(),
    }
    if tree.covers is not None:
        fields |= _covers(tree)
    if nodes:
        fields["cat_boundaries"] = np.cumsum([0, *map(len, sets)]).tolist()
        fields["cat_threshold"] = np.concatenate(sets).tolist()
    fields |= {"is_linear": [0], "shrinkage": [1]}
    return "\n".join(f"{name}={' '.join(map(repr, entries))}" for name, entries in fields.items()) + "\n\n"


def _covers(tree: Tree) -> dict[str, Iterable[object]]:
    """The number of rows in each leaf and node, as 32-bit integers; SHAP values divide by these numbers."""
    assert tree.covers is not None
    total = float(tree.covers.sum())
    fits = (tree.covers == np.round(tree.covers)).all() and tree.covers.all() and total <= FINEST
    scale = 1.0 if fits else FINEST / max(total, np.finfo(float).tiny)
    leaves = np.maximum(np.round(scale * tree.covers), 1.0).astype(np.int64)
    nodes = replace(tree, covers=leaves.astype(float)).node_covers().astype(np.int64)
    return {"leaf_count": leaves.tolist(), "internal_count": nodes.tolist()}


def _bit_set(codes: Integers) -> Integers:
    words = np.zeros(int(codes.max(initial=0)) // 32 + 1, dtype=np.intp)
    np.bitwise_or.at(words, codes // 32, 1 << (codes % 32))
    return words
