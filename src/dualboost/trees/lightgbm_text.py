"""Reads and writes trees in LightGBM's text format, the only form in which its public interface exchanges trees."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from .._typing import Integers, Vector
from .tiny_values import BELOW_ZEROS, READ_AS_ZERO
from .tree import Tree, constant_tree

CATEGORICAL = 1
"""The bit of LightGBM's ``decision_type`` that marks a categorical split."""
DEFAULT_LEFT = 2
"""The bit of ``decision_type`` that sends missing values left."""
MISSING_TYPE_SHIFT = 2
"""How many bits of ``decision_type`` come before the two bits that say how missing values are recognised."""
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
    ``objective`` says what LightGBM makes of the raw score. With several classes, trees are for one class after the
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
    """The codes as bits of 32-bit words."""
    words = np.zeros(int(codes.max(initial=0)) // 32 + 1, dtype=np.intp)
    np.bitwise_or.at(words, codes // 32, 1 << (codes % 32))
    return words
