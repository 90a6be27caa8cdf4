"""The pricers, which find new columns, their learners, and the registry that a new learner joins by one line."""

from __future__ import annotations

from typing import Any

from ..errors import InvalidParameterError
from ..trees.tree import Learner
from .base import LearnerSpec, PricedColumn, Pricer, PricingContext, TrainingData
from .cart import BestGrower, CartLearner, CartPricer
from .estimator import ClassifierLearner, EstimatorPricer
from .newton_trees import Grower
from .optimal import OptimalLearner, OptimalPricer
from .pool import Pool, ScoredColumn
from .stumps import EdgePricer
from .xgboost import XGBoostLearner

LEARNERS: dict[str, type[Any]] = {learner.name: learner for learner in (CartLearner, OptimalLearner, XGBoostLearner)}
"""The learners of trees by name; a name stands for the learner with its default options."""


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
    """Who grows the trees whose leaves are re-optimised."""
    growers: list[Grower] = [member.grower(data, context) for member in as_learners(learner)]  # type: ignore[attr-defined]
    return growers[0] if len(growers) == 1 else BestGrower(growers, data.workers, data.device)


def as_alone(learner: Any) -> Any:
    """The learner that finds the same kind of trees on rows that are all held by each worker."""
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
