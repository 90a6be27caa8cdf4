"""The members of a model: their outputs, their leaves, and checks that adapters share."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._typing import Integers, Matrix, Scores, Vector
from ..errors import UnfittedModelError, UnsupportedModelError


def require_fitted(model: Any) -> None:
    """Raise an error for a scikit-learn estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise unfitted(model) from error


def unfitted(model: Any) -> UnfittedModelError:
    return UnfittedModelError(f"model {type(model).__name__} is not fitted; call its fit before thinning it.")


def two_classes(model: Any) -> NDArray[Any]:
    """The classes of a fitted classifier, which must be two."""
    classes = model.classes_
    if isinstance(classes, list) or len(classes) != 2:
        n = f"{len(classes)} outputs" if isinstance(classes, list) else f"{len(classes)} classes"
        raise UnsupportedModelError(
            f"model {type(model).__name__} has {n}; models of this kind can be thinned if they have two classes. With "
            "more classes these can: XGBoost, LightGBM, CatBoost, scikit-learn's forests, bagging and gradient "
            "boosting, DualBoostClassifier."
        )
    return np.asarray(classes)


def pickled_bytes(model: Any) -> int:
    """The size of a model that is saved by pickle (or joblib)."""
    return len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def names_of(model: Any) -> list[str] | None:
    """The column names that a scikit-learn estimator was fitted with, if any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def require_one_output(model: Any, n_outputs: int) -> None:
    """Raise an error for a regressor of several numbers a row."""
    if n_outputs != 1:
        raise UnsupportedModelError(
            f"model {type(model).__name__} predicts {n_outputs} numbers for each row; regressors of one number can be "
            "thinned: train one for each."
        )


Outputs = NDArray[np.float32]
"""One contiguous row for each member, one column for each row of the data."""
Probability = Callable[[Scores], Scores]
"""From raw scores to P(second class); for several classes to a row of probabilities, for numbers to predictions."""


LeafOfRows = NDArray[np.unsignedinteger]
"""The leaf of each row in one tree, as the tree's library counts its leaves or nodes."""


@dataclass(frozen=True, eq=False)
class ClassLeaves:
    """New values for the leaves of one member; a leaf without rows gets zero, which is optimal under a ridge."""

    values: tuple[Matrix, ...]
    """For each of its trees a row for each leaf, and a column for each class that the tree speaks for."""


@dataclass(frozen=True, eq=False)
class ClassMembers:
    """The trees of a model, member by member."""

    values: Sequence[Matrix]
    """For each tree a row for each leaf, and a column for each class that the tree speaks for."""
    speaks_for: tuple[slice, ...]
    """The classes that each tree of a member speaks for: all, or one of its own."""
    n_classes: int

    @classmethod
    def of_rounds(cls, values: Sequence[Vector], n_classes: int) -> ClassMembers:
        """Rounds of one tree for each class, given the values of all trees' leaves."""
        return cls([own[:, None] for own in values], tuple(slice(k, k + 1) for k in range(n_classes)), n_classes)

    @classmethod
    def of_vectors(cls, values: Sequence[Matrix]) -> ClassMembers:
        """Trees with a value for each class in every leaf."""
        return cls(values, (slice(None),), values[0].shape[1])

    @property
    def trees_per_member(self) -> int:
        return len(self.speaks_for)

    @property
    def n_members(self) -> int:
        return len(self.values) // self.trees_per_member

    @property
    def n_leaves(self) -> Integers:
        """The rows of values of each member's trees together."""
        sizes = np.array([len(own) for own in self.values], dtype=np.intp)
        return sizes.reshape(-1, self.trees_per_member).sum(axis=1)

    def trees_of(self, member: int) -> range:
        """The trees of a member."""
        return range(member * self.trees_per_member, (member + 1) * self.trees_per_member)

    def as_they_are(self, member: int) -> ClassLeaves:
        return ClassLeaves(tuple(self.values[tree] for tree in self.trees_of(member)))

    def add_scores(self, scores: Matrix, member: int, leaves: Sequence[LeafOfRows], own: ClassLeaves) -> None:
        """Add to the scores what one member says of rows in these leaves, if its values were these."""
        for tree, classes, values in zip(self.trees_of(member), self.speaks_for, own.values, strict=True):
            scores[:, classes] += values.take(leaves[tree], axis=0)


# A library need not tell the leaf of a row: two rows with the same output of a member are taken to be in the same
# leaf, a *kind* of row. Leaves that say the same are one kind, which loses nothing of the model that came in.

MOST_KINDS = 1024
"""A member with more kinds than this is no tree of few leaves, and cannot be refitted."""
MOST_LEAVES = 1500
"""The most kinds of all members together whose values are optimised at once: their products are a dense matrix."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """The outputs of one member, in increasing order."""

    outputs: NDArray[np.float32]

    @classmethod
    def of(cls, outputs: Outputs) -> Kinds:
        """The kinds of one member, from its outputs for some rows."""
        return cls(np.unique(outputs))

    def __len__(self) -> int:
        return len(self.outputs)

    def numbers(self, outputs: Outputs | Vector) -> Integers:
        """The kind of each output; one more than the last where the output is of none."""
        outputs = np.asarray(outputs, dtype=np.float32)
        found = np.minimum(np.searchsorted(self.outputs, outputs), len(self.outputs) - 1)
        return np.where(self.outputs[found] == outputs, found, len(self.outputs))


@dataclass(frozen=True, eq=False)
class NewLeaves:
    """New values for the leaves of one member; a leaf without rows gets zero, which is optimal under a ridge."""

    kinds: Kinds
    values: Vector

    def __call__(self, outputs: Outputs | Vector) -> Vector:
        """The new values in the place of some of the member's outputs."""
        return np.append(self.values, 0.0)[self.kinds.numbers(outputs)]


def refittable_kinds(outputs: Outputs) -> tuple[Integers, list[Kinds]]:
    """The members whose leaves can be refitted at once, the first ones of a large model, and their kinds.

    Members that say the same of all rows are left out. No members are returned if one has too many kinds.
    """
    members: list[int] = []
    kinds: list[Kinds] = []
    total = 0
    for j, of_member in enumerate(outputs):
        own = Kinds.of(of_member)
        if len(own) > MOST_KINDS:
            return np.zeros(0, dtype=np.intp), []
        if total + len(own) > MOST_LEAVES and kinds:
            break
        if len(own) > 1:
            members.append(j)
            kinds.append(own)
            total += len(own)
    return np.array(members, dtype=np.intp), kinds


def refitted_scores(outputs: Outputs, leaves: Sequence[NewLeaves], intercept: float) -> Vector:
    """The scores of rows, from the outputs of the members kept."""
    total = np.full(len(outputs[0]) if len(outputs) else 0, intercept)
    for of_member, own in zip(outputs, leaves, strict=True):
        total += own(of_member)
    return total


CS = (20.0, 100.0, 500.0, 2500.0)
"""The prices where leaves are fitted to y: to two classes, or to numbers with a deviation of one."""
IMITATING_CS = (500.0, 2500.0)
"""The same where the model's own probabilities or predictions are fitted, which have less noise than y."""
MANY_LEAVES = 1000
"""For models with more leaves than this, every second of these prices must do."""
REFIT, IMITATE = "refit", "imitate"
"""Leaves that are fitted to y, and leaves that are fitted to the model's own probabilities or predictions."""

CGrid = list[tuple[str, float]]
"""What leaves are fitted to, and C."""


def C_grid_for(n_leaves: int, fits_y: bool, scale: float = 1.0) -> CGrid:
    """The prices for a model with so many leaves, which are fitted to y as well or not, times the scale."""
    C_grid = [*((REFIT, scale * C) for C in CS if fits_y), *((IMITATE, scale * C) for C in IMITATING_CS)]
    return C_grid if n_leaves <= MANY_LEAVES else C_grid[1::2]


def scale_for(n_classes: int) -> float:
    """Ridges mean as much for one of K evenly likely classes as for two, as in ``LogisticBoost.size_of``."""
    return n_classes**2 / (4.0 * (n_classes - 1))
