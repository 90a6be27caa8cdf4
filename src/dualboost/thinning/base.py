"""The interface to other libraries: a fitted model as members whose weighted outputs add up to its raw score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Scores, Vector
from ..tasks import Task, TwoClasses
from .leaf_path import LeafPath
from .links import Link, Logit
from .outputs import Outputs, Probability
from .rows import MemberRows


class Adapter(ABC):
    """One kind of model: what thinning asks of it, for two classes and for several.

    ``__init__`` reads the model, and refuses a model that is not fitted or cannot be thinned. No method changes the
    model that was passed in.
    """

    describes: ClassVar[str]
    """The models that the adapter takes, in words for messages."""
    keeps_type: ClassVar[bool] = True
    """Whether ``rebuild`` returns a model of the same type."""
    refits: bool = False
    """Whether ``rewrite`` can give the leaves of members new values."""

    classes: NDArray[Any]
    weights: Vector
    """The weight of each member in the model before thinning."""
    intercept: Any
    """A number; for several classes one for each class."""
    n_nodes: Integers
    """The nodes of each member."""
    n_leaves: Integers
    link: Any
    """From raw scores to probabilities, for the model as it is."""
    refitted_link: ClassVar[Any]
    """The same for refitted leaves."""

    @classmethod
    @abstractmethod
    def handles(cls, model: Any) -> bool:
        """Whether the model is of this kind; finding out does not import other libraries."""

    @abstractmethod
    def __init__(self, model: Any) -> None: ...

    @property
    @abstractmethod
    def task(self) -> Task:
        """What the classes of the model are to a row."""

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
        """A model of these members with new leaves, whose log-odds are the intercept plus the values of the leaves."""
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

    def probability(self, raw: Scores) -> Scores:
        """The probabilities of the model before thinning, for its raw scores."""
        found: Scores = self.link.probability(raw)
        return found

    def recalibrated(self, scores: Scores, labels: Vector, counts: Vector) -> Probability:
        """From the raw scores of a rebuilt model to probabilities, if it was fitted to these rows."""
        curve: Probability = self.link.probability
        return curve


class TwoClassAdapter(Adapter):
    """The raw score of a row is ``intercept + weights @ outputs``; positive means the second class."""

    intercept: float
    link: Link
    refitted_link: ClassVar[Link] = Logit()

    @abstractmethod
    def outputs(self, X: Any) -> Outputs:
        """The output of each member for each row of X: one contiguous row for each member."""

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """What tells the leaves of members apart, as ``outputs`` are laid out; None where outputs do."""
        return None

    @property
    def task(self) -> TwoClasses:
        return TwoClasses(self.classes)

    def rows(self, X: Any, labels: Vector, counts: Vector) -> MemberRows:
        outputs = self.outputs(X)
        return MemberRows(outputs, labels, counts, self.intercept + self.weights @ outputs, self.leaf_outputs(X))

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
