"""Who finds new columns: the pricers, and the registry that a new one joins by one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any

from ..errors import InvalidParameterError
from ..trees.learner import Learner
from .base import LearnerOptions, PricedColumn, Pricer, TrainingData
from .cart import CartPricer
from .estimator import EstimatorPricer, require_classifier
from .optimal import OptimalPricer
from .pool import Offer, Pool
from .stumps import EdgePricer

PRICERS: dict[str, Callable[[TrainingData, LearnerOptions], Pricer]] = {
    "cart": lambda data, options: (EdgePricer if options.criterion == "edge" else CartPricer)(data, options),
    "optimal": OptimalPricer,
}


def make_pool(learner: Any, data: TrainingData, options: LearnerOptions, rotate: bool = False) -> Pool:
    """The pricers that the estimator's ``learner`` names."""
    members = learner if isinstance(learner, list) else [learner]
    return Pool([_make_pricer(member, data, options) for member in members], rotate)


def _make_pricer(member: Any, data: TrainingData, options: LearnerOptions) -> Pricer:
    if isinstance(member, tuple):
        name, depth = member
        return PRICERS[name](data, replace(options, max_depth=int(depth)))
    return PRICERS[member](data, options) if isinstance(member, str) else EstimatorPricer(member, data, options)


def require_learner(learner: Any, voting: str) -> None:
    """A clear error for a ``learner`` that is none."""
    members = learner if isinstance(learner, list) else [learner]
    if not members:
        raise InvalidParameterError("learner=[] is an empty pool; name at least one learner.")
    for member in members:
        name = member[0] if isinstance(member, tuple) and len(member) == 2 else member
        if isinstance(name, str):
            if name not in PRICERS:
                raise InvalidParameterError(
                    f"learner={learner!r} is not known; choose one of {sorted(PRICERS)}, a scikit-learn classifier, "
                    "or a list of them."
                )
            depth = 1 if name is member else member[1]
            if isinstance(depth, bool) or not isinstance(depth, Integral) or depth < 1:
                raise InvalidParameterError(f"learner={member!r}: the depth must be an integer of at least 1.")
        else:
            require_classifier(member, voting, sorted(PRICERS))


__all__ = [
    "PRICERS",
    "CartPricer",
    "EdgePricer",
    "EstimatorPricer",
    "Learner",
    "LearnerOptions",
    "Offer",
    "OptimalPricer",
    "Pool",
    "PricedColumn",
    "Pricer",
    "TrainingData",
    "make_pool",
    "require_learner",
]
