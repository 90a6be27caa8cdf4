"""Draws a tree as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..trees.tree import Tree
from .classes import class_text, quantile_text
from .conditions import split_text
from .names import Names


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
    strength = "" if abs(vote) == 1.0 else f" {abs(vote):.2f}"
    return classes[int(vote > 0)] + strength + rows
