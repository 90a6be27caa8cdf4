"""The interface to other libraries: a fitted model as members whose outputs add up to its raw score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Scores, Vector
from ..errors import InvalidDataError
from ..matrix.rows import Rows
from ..targets import BinaryTarget, MulticlassTarget, NumericTarget, Target
from ..targets.numbers import LARGEST_USUAL
from .links import MEAN, ClassLink, Link, Logit, LogProbabilities, NumberLink, Predicts, class_figures, number_figures
from .members import C_grid_for, CGrid, ClassLeaves, ClassMembers, Outputs, Probability, scale_for
from .paths import ClassLeafPath, LeafPath, NumberLeafPath, RoundLeafPath
from .rows import ClassRows, MemberRows, NumberLeaves, NumberRows


class ClassWeights(NamedTuple):
    """The weights of classes that a model was trained with, each as scikit-learn writes it; they multiply."""

    given: tuple[Any, ...] = ()
    unread: str = ""
    """Why there may be others, which cannot be read."""


class Adapter(ABC):
    """One kind of model: what thinning asks of it, for two classes, for several and for numbers.

    ``__init__`` reads the model, and refuses a model that is not fitted or cannot be thinned. No method changes the
    model that was passed in.
    """

    describes: ClassVar[str]
    """The models that the adapter takes, in words for messages."""
    keeps_type: ClassVar[bool] = True
    """Whether ``rebuild`` returns a model of the same type."""
    refits: bool = False
    """Whether ``rewrite`` can give the leaves of members new values."""

    takes_weights: ClassVar[bool] = False
    """Whether members can get new weights in place of new leaves."""

    classes: NDArray[Any]
    """Those of a classifier."""
    balances_weights: ClassVar[bool] = False
    """Whether "balanced" counts rows by their sample weights; other libraries count rows."""
    cut: float = 0.0
    """The raw score of two classes above which ``predict`` of the model decides for the second class."""
    weights: Vector
    """The weight of each member in the model before thinning."""
    intercept: Any
    """A number; for several classes one for each class."""
    n_nodes: Integers
    """The nodes of each member."""
    n_leaves: Integers
    link: Any
    """From raw scores to probabilities, or to predicted numbers, for the model as it is."""
    refitted_link: Any
    """The same for refitted leaves."""

    @classmethod
    @abstractmethod
    def handles(cls, model: Any) -> bool:
        """Whether the model is of this kind; finding out does not import other libraries."""

    @abstractmethod
    def __init__(self, model: Any) -> None: ...

    @property
    @abstractmethod
    def target(self) -> Target:
        """What y is to the model."""

    @abstractmethod
    def rows(self, X: Any, labels: Vector, counts: Vector) -> Any:
        """The rows of X with what the members say of them."""

    @abstractmethod
    def leaf_path(self, rows: Any) -> LeafPath:
        """Smaller and smaller ensembles with refitted leaves, fitted to these rows."""

    @abstractmethod
    def rebuild(self, kept: Integers, weights: Vector, intercept: Any) -> Any:
        """A model of these members only, with these weights and this intercept."""

    def rewrite(self, kept: Integers, leaves: Sequence[Any], intercept: Any) -> Any:
        """A model of these members with new leaves, whose values and the intercept add up to log-odds or a number."""
        raise NotImplementedError

    def fresh(self) -> Any | None:
        """An unfitted model that trains as many members in the same way; None if the model cannot be trained again."""
        return None

    def with_probabilities(self, model: Any, scores: Scores, labels: Vector, counts: Vector) -> Any:
        """The rebuilt model, with recalibrated probabilities if these are not a fixed function of the raw score."""
        return model

    @abstractmethod
    def raw_scores(self, model: Any, X: Any) -> Scores:
        """The raw scores of the model, or of a model rebuilt from it."""

    @abstractmethod
    def saved_bytes(self, model: Any) -> int:
        """The size of the model as its own library saves it."""

    @property
    def class_weights(self) -> ClassWeights:
        """Those that the model was trained with."""
        return ClassWeights()

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the columns that the model was trained on, if it knows them."""
        return None

    @property
    def n_features(self) -> int | None:
        """The number of columns that the model was trained on, if it knows it."""
        return None

    @property
    def trees_per_member(self) -> int:
        """How many trees are kept or dropped together: those of a round, where each class has a tree of its own."""
        return 1

    @property
    def n_members(self) -> int:
        return len(self.weights)

    def C_grid(self, knows_others: bool) -> CGrid:
        """What leaves are refitted to, and at which C.

        ``knows_others`` if they are judged on rows that the trees were not grown on: those make a fit to y look better
        than it is.
        """
        return C_grid_for(int(self.n_leaves.sum()), knows_others, scale_for(len(self.classes)))

    def figures(self, model: Any, X: Any, y: NDArray[Any], scores: Scores) -> dict[str, float]:
        """How good the model, or one rebuilt from it, is on rows for which it has these raw scores."""
        return class_figures(y, self.target.decode(scores), self.probabilities(model, X, scores), self.classes)

    def probabilities(self, model: Any, X: Any, scores: Scores) -> Scores:
        """Those of the model, or of one rebuilt from it, on rows for which it has these raw scores."""
        return np.asarray(model.predict_proba(X) if hasattr(model, "predict_proba") else self.link.expected(scores))

    def expected(self, raw: Scores) -> Scores:
        """The probabilities, or predictions, of the model before thinning, for its raw scores."""
        found: Scores = self.link.expected(raw)
        return found

    def recalibrated(self, scores: Scores, labels: Vector, counts: Vector) -> Probability:
        """From the raw scores of a rebuilt model to probabilities, if it was fitted to these rows."""
        curve: Probability = self.link.expected
        return curve


@dataclass(frozen=True, eq=False)
class CutClasses(BinaryTarget):
    """Two classes of which the second one has the scores above a cut."""

    cut: float

    def decode(self, scores: Vector) -> NDArray[Any]:
        return super().decode(scores - self.cut)

    def labels(self, targets: Vector) -> NDArray[Any]:
        return super().decode(targets)

    def quality(self, scores: Vector, targets: Vector, rows: Rows) -> float:
        return super().quality(scores - self.cut, targets, rows)


class TwoClassAdapter(Adapter):
    """The raw score of a row is ``intercept + weights @ outputs``; above ``cut`` it means the second class."""

    takes_weights: ClassVar[bool] = True
    intercept: float
    link: Link
    refitted_link: Link = Logit()

    @abstractmethod
    def outputs(self, X: Any) -> Outputs:
        """The output of each member for each row of X: one contiguous row for each member."""

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """What tells the leaves of members apart, as ``outputs`` are laid out; None where outputs do."""
        return None

    @property
    def target(self) -> BinaryTarget:
        return CutClasses(self.classes, self.cut)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> MemberRows:
        outputs = self.outputs(X)
        full_scores = self.intercept + self.weights @ outputs
        return MemberRows(outputs, labels, counts, full_scores, self.leaf_outputs(X), self.cut)

    def leaf_path(self, rows: MemberRows) -> LeafPath:
        return LeafPath(rows)


def is_instance_of(model: Any, package: str, *names: str) -> bool:
    """Whether the model's class, or one of its base classes, has one of these names in that package."""
    return any(base.__module__.split(".")[0] == package and base.__name__ in names for base in type(model).__mro__)


def looked_up(leaf_values: list[Vector], leaves: NDArray[Any]) -> Outputs:
    """The outputs of trees, given their leaf values and, in one column for each tree, the leaf of each row."""
    outputs = np.empty((len(leaf_values), len(leaves)), dtype=np.float32)
    for j, values in enumerate(leaf_values):
        outputs[j] = values[leaves[:, j]]
    return outputs


class ClassAdapter(Adapter):
    """A model of several classes, whose raw scores are the intercepts plus the weighted values of a row's leaves."""

    refits = True
    intercept: Vector
    link: ClassLink = LogProbabilities()
    refitted_link: ClassLink = LogProbabilities()
    members: ClassMembers

    @abstractmethod
    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        """For each tree the leaf of each row of X: its row in the tree's values."""

    @abstractmethod
    def written(self, kept: Integers, values: list[Matrix], intercept: Vector) -> Any:
        """A model of these members, given the values of all their trees' leaves; scores are log-probabilities."""

    @property
    def trees_per_member(self) -> int:
        return self.members.trees_per_member

    @property
    def target(self) -> MulticlassTarget:
        return MulticlassTarget(self.classes)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> ClassRows:
        sizes = [len(values) for values in self.members.values]
        leaves = [
            np.asarray(own).astype(np.min_scalar_type(size - 1))
            for own, size in zip(self.leaf_numbers(X), sizes, strict=True)
        ]
        rows = ClassRows(self.members, leaves, labels, counts, np.zeros((len(labels), self.members.n_classes)))
        full_scores = rows.scores(np.arange(self.n_members), self.weights, self.intercept)
        return replace(rows, full_scores=full_scores)

    def leaf_path(self, rows: ClassRows) -> ClassLeafPath:
        return RoundLeafPath(rows) if self.trees_per_member > 1 else ClassLeafPath(rows)

    def rebuild(self, kept: Integers, weights: Vector, intercept: Vector) -> Any:
        values = [
            weight * own
            for member, weight in zip(kept.tolist(), weights.tolist(), strict=True)
            for own in self.members.as_they_are(member).values
        ]
        return self.written(kept, values, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[ClassLeaves], intercept: Vector) -> Any:
        return self.written(kept, [values for own in leaves for values in own.values], intercept)

    def trees_kept(self, kept: Integers) -> list[int]:
        """The trees of the members kept, in their order."""
        return [tree for member in kept.tolist() for tree in self.members.trees_of(member)]


class NumberAdapter(Adapter):
    """A regressor, whose raw scores are the intercept plus the weighted values of a row's leaves."""

    refits = True
    intercept: float
    predicts: Predicts = MEAN
    leaf_values: Sequence[Vector]
    """The values of each tree's leaves."""

    @abstractmethod
    def leaf_numbers(self, X: Any) -> Sequence[NDArray[Any]]:
        """For each tree the leaf of each row of X: its place in the tree's values."""

    @abstractmethod
    def written(self, kept: Integers, values: list[Vector], intercept: float) -> Any:
        """A model of these trees, given the values of all their leaves."""

    @property
    def link(self) -> NumberLink:
        return self.predicts.link

    @property
    def refitted_link(self) -> NumberLink:
        return self.predicts.link

    @property
    def target(self) -> NumericTarget:
        """Scores are in the units of y, or of its logarithm."""
        return self.link.target(0.0, 1.0)

    def C_grid(self, knows_others: bool) -> CGrid:
        return C_grid_for(int(self.n_leaves.sum()), knows_others and self.predicts.is_mean)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> NumberRows:
        _require_usual_size(labels)
        leaves = [
            np.asarray(own).astype(np.min_scalar_type(len(values) - 1))
            for own, values in zip(self.leaf_numbers(X), self.leaf_values, strict=True)
        ]
        rows = NumberRows(self.leaf_values, leaves, labels, counts, np.zeros(len(labels)), self.link)
        return replace(rows, full_scores=rows.scores(np.arange(self.n_members), self.weights, self.intercept))

    def leaf_path(self, rows: NumberRows) -> NumberLeafPath:
        return NumberLeafPath(rows)

    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        values = [weight * self.leaf_values[j] for j, weight in zip(kept.tolist(), weights.tolist(), strict=True)]
        return self.written(kept, values, intercept)

    def rewrite(self, kept: Integers, leaves: Sequence[NumberLeaves], intercept: float) -> Any:
        return self.written(kept, [own.values for own in leaves], intercept)

    def figures(self, model: Any, X: Any, y: NDArray[Any], scores: Scores) -> dict[str, float]:
        return number_figures(y, self.target.decode(scores))


def _require_usual_size(y: Vector) -> None:
    """Refuse a y whose squares are no numbers."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest and not 1.0 / LARGEST_USUAL < largest < LARGEST_USUAL:
        raise InvalidDataError(
            f"y has numbers of size {largest:.1e}, and thinning needs their squares, which double precision does not "
            f"have: train the model on y in a unit that keeps it between {1.0 / LARGEST_USUAL:g} and {LARGEST_USUAL:g}."
        )
