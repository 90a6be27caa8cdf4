"""What every pricer owes the loop, whoever it is."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from dualboost.datasets import make_twonorm
from dualboost.pricing import PRICERS, LearnerOptions, TrainingData, make_pool

LEARNERS = [*PRICERS, DecisionTreeClassifier(max_depth=2), LogisticRegression(), [("cart", 1), ("optimal", 2)]]
VARIANTS = [{}, {"criterion": "edge"}, {"voting": "confidence"}]


def data_for(kind="dense"):
    X, y = make_twonorm(200, random_state=0)
    X, y = X[:, :6].copy(), y.astype(float)
    if kind == "categories":
        X[:, 2] = np.digitize(X[:, 2], [-1.0, 0.0, 1.0])
    if kind == "missing":
        X[::7, 0] = np.nan
    return TrainingData(
        sparse.csc_matrix(X) if kind == "sparse" else np.asfortranarray(X), y, [2] * (kind == "categories")
    )


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_columns_are_what_their_learners_vote(learner, variant, depth):
    data = data_for()
    pool = make_pool(learner, data, LearnerOptions(max_depth=depth, tree_time_limit=5.0, **variant))
    rng = np.random.default_rng(depth)
    for _ in range(3):
        u = rng.exponential(size=200) * (rng.random(200) < 0.7)
        offers = pool.price(u)
        assert [offer.edge for offer in offers] == sorted((offer.edge for offer in offers), reverse=True)
        for column, edge in offers:
            assert edge == pytest.approx((u * data.labels) @ column.votes)
            assert edge > 0
            assert (np.abs(column.votes) <= 1.0).all()
            np.testing.assert_array_equal(column.learner.vote(data.X), column.votes)
            assert column.votes.astype(np.float32).astype(float) == pytest.approx(column.votes, abs=0)
            gains = column.learner.feature_gains(6)
            assert gains.shape == (6,)
            assert gains.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_negative_weights_count_for_the_other_label(learner):
    data = data_for()
    u = np.random.default_rng(1).normal(size=200)
    options = LearnerOptions(max_depth=2)
    flipped = TrainingData(data.X, data.labels * np.sign(u), [])
    signed, positive = (
        make_pool(learner, rows, options).price(weights) for rows, weights in ((data, u), (flipped, np.abs(u)))
    )
    for one, other in zip(signed, positive, strict=True):
        np.testing.assert_array_equal(one.column.votes, other.column.votes)


@pytest.mark.parametrize("kind", ["missing", "categories", "sparse"])
@pytest.mark.parametrize("criterion", ["gini", "edge"])
@pytest.mark.parametrize("learner", PRICERS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_kinds_of_features(learner, criterion, kind, depth):
    data = data_for(kind)
    u = np.random.default_rng(2).exponential(size=200)
    pool = make_pool(learner, data, LearnerOptions(max_depth=depth, criterion=criterion))
    (column, edge), *_ = pool.price(u)
    assert edge > 0
    np.testing.assert_array_equal(column.learner.vote(data.X), column.votes)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("u", [np.zeros(200), np.eye(200)[3]], ids=["no weight", "one row"])
def test_degenerate_weights(learner, u):
    data = data_for()
    for column, _ in make_pool(learner, data, LearnerOptions(max_depth=2)).price(u):
        assert np.isfinite(column.votes).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_features_that_do_not_vary(learner):
    data = TrainingData(np.zeros((20, 2), order="F"), np.where(np.arange(20) < 12, 1.0, -1.0), [])
    for column, _ in make_pool(learner, data, LearnerOptions(max_depth=2)).price(np.ones(20)):
        np.testing.assert_array_equal(column.votes, column.votes[0])
