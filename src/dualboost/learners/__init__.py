"""The learners, their pricers, which find new columns, and the table that a new learner joins by one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Vector
from ..errors import InvalidParameterError
from ..trees.tree import Learner
from ..workers import ALONE, Communicator
from .base import LearnerSpec, PricedColumn, Pricer, PricingContext, TrainingData
from .cart import BestGrower, CartLearner, CartPricer, EdgePricer
from .estimator import ClassifierLearner, EstimatorPricer
from .newton_trees import Grower
from .optimal import OptimalLearner, OptimalPricer
from .xgboost import XGBoostLearner

LEARNERS: dict[str, type[Any]] = {learner.name: learner for learner in (CartLearner, OptimalLearner, XGBoostLearner)}
"""The learners of trees by name; a name stands for the learner with its default options."""


class ScoredColumn(NamedTuple):
    """A column and its edge under the residual that it was priced for."""

    column: PricedColumn
    edge: float


class Pool:
    """Several pricers together, or with ``rotate`` in turn."""

    def __init__(self, pricers: Sequence[Pricer], rotate: bool = False, workers: Communicator = ALONE) -> None:
        self._pricers = list(pricers)
        self._workers = workers
        self._rotate = rotate
        self._next = 0
        self.n_learners = float(sum(pricer.n_learners for pricer in self._pricers))
        self.is_exact = not rotate and all(pricer.is_exact for pricer in self._pricers)

    @property
    def n_rounds(self) -> int:
        """The number of calls of ``price`` in which every pricer has a turn."""
        return len(self._pricers) if self._rotate else 1

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> list[ScoredColumn]:
        """The columns of the pricers, the largest edge first."""
        columns = [pricer.price(residual, feature_multiplier) for pricer in self._in_turn()]
        offers = [self._offer(column, residual) for column in columns]
        return sorted(offers, key=lambda offer: -offer.edge)

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> list[Iterator[ScoredColumn]]:
        """For each pricer with other columns, the columns to take where the one of ``price`` is held already."""
        return [
            (self._offer(column, residual) for column in pricer.others(residual, feature_multiplier))
            for pricer in self._pricers
            if hasattr(pricer, "others")
        ]

    def _offer(self, column: PricedColumn, residual: Vector) -> ScoredColumn:
        return ScoredColumn(column, self._workers.sum(float(np.vdot(residual, column.votes))))

    def is_proven(self, offers: Sequence[ScoredColumn]) -> bool:
        """Whether the first offer is proven to have the largest edge of all learners in the pool."""
        return self.is_exact and all(offer.column.is_proven for offer in offers)

    def _in_turn(self) -> list[Pricer]:
        if not self._rotate:
            return self._pricers
        self._next, now = (self._next + 1) % len(self._pricers), self._next
        return [self._pricers[now]]


def make_pool(learner: Any, data: TrainingData, context: PricingContext, rotate: bool = False) -> Pool:
    """The pricers for the estimator's parameter ``learner``."""
    return Pool([member.pricer(data, context) for member in as_learners(learner)], rotate, data.workers)


def makes_trees(learner: Any) -> bool:
    """Whether all learners grow trees, whose leaves can be re-optimised."""
    return all(hasattr(member, "grower") for member in as_learners(learner))


def affordable_depth(learner: Any, depth: int) -> int:
    """This default depth, or less where a learner would take long for such a tree."""
    return min(depth, *(getattr(member, "affordable_depth", depth) for member in as_learners(learner)))


def make_grower(learner: Any, data: TrainingData, context: PricingContext) -> Grower:
    """The grower of the trees whose leaves are optimised."""
    growers: list[Grower] = [member.grower(data, context) for member in as_learners(learner)]  # type: ignore[attr-defined]
    return growers[0] if len(growers) == 1 else BestGrower(growers, data.workers, data.device)


def as_alone(learner: Any) -> Any:
    """The learners for the rows of one worker."""
    return [member.alone if hasattr(member, "alone") else member for member in as_learners(learner)]


def require_learner(learner: Any) -> None:
    """Raise an error for a ``learner`` that is not valid."""
    for member in as_learners(learner):
        member.check()


def as_learners(learner: Any) -> list[LearnerSpec]:
    """One learner or a list of learners, as a list of objects."""
    members = learner if isinstance(learner, list) else [learner]
    if not members:
        raise InvalidParameterError("learner=[] is an empty pool; name at least one learner.")
    return [_as_learner(member) for member in members]


def _as_learner(member: Any) -> LearnerSpec:
    if isinstance(member, str):
        if member not in LEARNERS:
            raise InvalidParameterError(
                f"learner={member!r} is not known; choose one of {sorted(LEARNERS)}, a learner object, a scikit-learn "
                "classifier, or a list of them."
            )
        named: LearnerSpec = LEARNERS[member]()
        return named
    makes_pricers = hasattr(member, "pricer") and not isinstance(member, type)
    return member if makes_pricers else ClassifierLearner(member)


__all__ = [
    "LEARNERS",
    "CartLearner",
    "CartPricer",
    "ClassifierLearner",
    "EdgePricer",
    "EstimatorPricer",
    "Grower",
    "Learner",
    "LearnerSpec",
    "OptimalLearner",
    "OptimalPricer",
    "Pool",
    "PricedColumn",
    "Pricer",
    "PricingContext",
    "ScoredColumn",
    "TrainingData",
    "XGBoostLearner",
    "affordable_depth",
    "as_alone",
    "as_learners",
    "make_grower",
    "make_pool",
    "makes_trees",
    "require_learner",
]
