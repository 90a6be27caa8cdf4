"""``warm_start``, as in scikit-learn: a fit that goes on from the trees of the one before."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidDataError, InvalidParameterError
from ..loop.generation import EarlierFit
from ..loop.leaf_wiring import LeafWiring
from ..models.fitted import FittedModel
from ..trees.learner import Learner
from ..trees.ordering import leaf_order
from ..trees.tree import Tree
from .limits import limits_of
from .problem import Problem


def earlier_fit(estimator: Any, problem: Problem, max_trees: int) -> EarlierFit | None:
    """The learners that the estimator has, if it is to go on from them."""
    if not estimator.warm_start or not estimator.__sklearn_is_fitted__():
        return None
    fitted: FittedModel = estimator.fitted_
    _require_same_data(fitted, problem)
    learners = list(fitted.ensemble.learners)
    if len(learners) > max_trees:
        raise InvalidParameterError(
            f"max_trees={max_trees} is less than the {len(learners)} trees that warm_start=True goes on from: give as "
            "many or more, or set warm_start=False."
        )
    _require_order(estimator, learners, problem)
    return EarlierFit(learners, problem.rows.X)


def _require_order(estimator: Any, learners: list[Learner], problem: Problem) -> None:
    """Refuse trees whose votes stay what they are where these are not in the order asked for."""
    signs = limits_of(estimator, problem.training_set, problem.rows, 0).signs
    if signs is None or isinstance(problem.wiring, LeafWiring):
        return
    for tree in (learner for learner in learners if isinstance(learner, Tree)):
        order = leaf_order(tree, signs)
        if order is not None and not np.array_equal(order.nearest(tree.votes), tree.votes):
            raise InvalidParameterError(
                f"monotonic_cst={estimator.monotonic_cst!r}, but warm_start=True goes on from trees that are not "
                "monotone: set warm_start=False."
            )


def _require_same_data(fitted: FittedModel, problem: Problem) -> None:
    """Refuse data that the trees of before cannot read."""
    data = problem.training_set
    before, now = fitted.ensemble.n_features, data.features.shape[1]
    if before != now:
        raise InvalidDataError(
            f"X has {now} features, but the trees that warm_start=True goes on from have {before}: pass the same "
            "features, or set warm_start=False."
        )
    codes = [{k: list(known) for k, known in one.categories.items()} for one in (fitted.encoder, data.encoder)]
    if codes[0] != codes[1]:
        raise InvalidDataError(
            "X has other categories than the trees that warm_start=True goes on from: pass the same rows, or set "
            "warm_start=False."
        )
    if fitted.task.name != data.task.name or fitted.task.output_names != data.task.output_names:
        raise InvalidDataError(
            f"y has {data.task.output_names or data.task.name}, but the trees that warm_start=True goes on from have "
            f"{fitted.task.output_names or fitted.task.name}: pass the same y, or set warm_start=False."
        )
