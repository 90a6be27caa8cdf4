"""More categories than a 16-bit code can count."""

import numpy as np
import pytest

from dualboost.errors import InvalidDataError
from dualboost.learners import CartLearner, OptimalLearner, PricingContext, TrainingData

N_CATEGORIES = 40_000
EVERY_CATEGORY = TrainingData(np.arange(N_CATEGORIES, dtype=float)[:, None], [0])
BY_EDGE = [CartLearner(criterion="edge"), OptimalLearner()]


@pytest.mark.parametrize("learner", BY_EDGE, ids=lambda learner: learner.name)
def test_the_category_with_the_largest_edge_is_found(learner):
    residual = np.full(N_CATEGORIES, 0.01)
    residual[39_000] = -1.0
    column = learner.pricer(EVERY_CATEGORY, PricingContext()).price(residual, None)
    np.testing.assert_array_equal(column.votes, np.sign(residual))


def test_the_same_for_several_classes():
    residual = np.tile([0.02, -0.01, -0.01], (N_CATEGORIES, 1))
    residual[39_000] = [-0.5, 1.0, -0.5]
    column = CartLearner(criterion="edge").pricer(EVERY_CATEGORY, PricingContext(n_outputs=3)).price(residual, None)
    np.testing.assert_array_equal(column.votes, np.eye(3)[residual.argmax(axis=1)])


def test_more_splits_than_can_be_paired_are_refused():
    with pytest.raises(InvalidDataError, match=r"X has 40000 splits, more than the 16384 .* put rare categories"):
        OptimalLearner(max_depth=2).pricer(EVERY_CATEGORY, PricingContext())
