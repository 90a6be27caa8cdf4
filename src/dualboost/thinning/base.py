"""The interface to other libraries: a fitted model as members whose weighted outputs add up to its raw score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from .kinds import NewLeaves
from .links import Link
from .outputs import Outputs

Probability = Callable[[Vector], Vector]


class Adapter(ABC):
    """One kind of model. The raw score of a row is ``intercept + weights @ outputs``; positive means the second class.

    ``__init__`` reads the model, and refuses a model that is not fitted or not a classifier of two classes. No method
    changes the model that was passed in.
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
    intercept: float
    n_nodes: Integers
    n_leaves: Integers
    link: Link

    @classmethod
    @abstractmethod
    def handles(cls, model: Any) -> bool:
        """Whether the model is of this kind; finding out does not import other libraries."""

    @abstractmethod
    def __init__(self, model: Any) -> None: ...

    @abstractmethod
    def outputs(self, X: Any) -> Outputs:
        """The output of each member for each row of X: one contiguous row for each member."""

    @abstractmethod
    def rebuild(self, kept: Integers, weights: Vector, intercept: float) -> Any:
        """A model of these members only, whose raw score is ``intercept + weights @ outputs[kept]``."""

    def rewrite(self, kept: Integers, leaves: Sequence[NewLeaves], intercept: float) -> Any:
        """A model of these members with new leaves, whose log-odds are the intercept plus the values of the leaves."""
        raise NotImplementedError

    def leaf_outputs(self, X: Any) -> Outputs | None:
        """What tells the leaves of members apart, as ``outputs`` are laid out; None where outputs do."""
        return None

    def fresh(self) -> Any | None:
        """An unfitted model that trains as many members in the same way; None if the model cannot be trained again."""
        return None

    def with_probabilities(self, model: Any, scores: Vector, labels: Vector, counts: Vector) -> Any:
        """The rebuilt model, with recalibrated probabilities if these are not a fixed function of the raw score."""
        return model

    @abstractmethod
    def raw_scores(self, model: Any, X: Any) -> Vector:
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
    def n_members(self) -> int:
        return len(self.weights)

    def probability(self, raw: Vector) -> Vector:
        """P(second class) of the model before thinning, for its raw scores."""
        return self.link.probability(raw)

    def recalibrated(self, scores: Vector, labels: Vector, counts: Vector) -> Probability:
        """From the raw scores of a rebuilt model to P(second class), if it was fitted to these rows."""
        return self.link.probability


def is_instance_of(model: Any, package: str, *names: str) -> bool:
    """Whether the model's class, or one of its base classes, has one of these names in that package."""
    return any(base.__module__.split(".")[0] == package and base.__name__ in names for base in type(model).__mro__)


def looked_up(leaf_values: list[Vector], leaves: NDArray[Any]) -> Outputs:
    """The outputs of trees, given their leaf values and, in one column for each tree, the leaf of each row."""
    outputs = np.empty((len(leaf_values), len(leaves)), dtype=np.float32)
    for j, values in enumerate(leaf_values):
        outputs[j] = values[leaves[:, j]]
    return outputs
