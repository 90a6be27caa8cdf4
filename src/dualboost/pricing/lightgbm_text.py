"""Reads trees from LightGBM's text model, the form that its public interface gives them out in."""

from __future__ import annotations

import numpy as np

from .._typing import Integers
from ..trees import Tree, constant_tree

CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_TYPE_SHIFT, MISSING_IS_NAN = 2, 2


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
    """The codes that go left, from bit sets of 32-bit words."""
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
