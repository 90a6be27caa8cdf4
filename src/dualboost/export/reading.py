"""Parts of all exports: the check of the model, and the walk over a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from ..errors import UnfittedModelError, UnsupportedModelError
from ..models.tree_sum import TreeSum
from ..trees.tree import Tree

Written = TypeVar("Written")


def summed(model: Any) -> TreeSum:
    """A fitted model as a sum of trees."""
    if not hasattr(model, "tree_sum"):
        raise UnsupportedModelError(
            f"model of type {type(model).__name__} must be a fitted DualBoostClassifier, DualBoostRegressor or "
            "ThinnedTreesClassifier."
        )
    try:
        check_is_fitted(model)
    except Exception as error:
        raise UnfittedModelError("model is not fitted; call its fit before exporting it.") from error
    found: TreeSum = model.tree_sum()
    return found


def require_text(text: str, what: str, target: str) -> str:
    """The text; an error if it has a character that the language ``target`` cannot write."""
    is_whole = all(not "\ud800" <= character <= "\udfff" for character in text)
    if "\0" in text or not is_whole:
        part = "a NUL character" if is_whole else "half of a character (a lone surrogate)"
        raise UnsupportedModelError(
            f"The {what} {text!r} holds {part}, which cannot be written in {target}: rename it, and fit again."
        )
    return text


def folded(tree: Tree, leaf: Callable[[int], Written], split: Callable[[int, Written, Written], Written]) -> Written:
    """The tree as one nested value, from the leaves up: ``split`` combines the values of its two sides."""
    written: dict[int, Written] = {}

    def side(child: int) -> Written:
        return leaf(~child) if child < 0 else written.pop(child)

    for node in reversed(tree.top_down()):
        written[node] = split(node, side(int(tree.left[node])), side(int(tree.right[node])))
    return written[0] if written else leaf(0)
