"""What every pricer owes the loop, whoever it is."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from dualboost.datasets import make_twonorm
from dualboost.errors import InvalidParameterError
from dualboost.learners import (
    LEARNERS,
    CartLearner,
    ClassifierLearner,
    OptimalLearner,
    PricingContext,
    TrainingData,
    make_pool,
)

MEMBERS = [
    *LEARNERS,
    DecisionTreeClassifier(max_depth=2),
    LogisticRegression(),
    [CartLearner(max_depth=1), OptimalLearner(max_depth=2)],
]
VARIANTS = [
    CartLearner(criterion="edge"),
    CartLearner(criterion="edge", voting="confidence", n_thresholds=3),
    CartLearner(voting="confidence"),
    OptimalLearner(voting="confidence", tree_time_limit=5.0),
    OptimalLearner(n_thresholds=3, tree_time_limit=5.0),
    ClassifierLearner(LogisticRegression(), voting="confidence"),
]


def data_for(kind="dense"):
    X, y = make_twonorm(200, random_state=0)
    X, y = X[:, :6].copy(), y.astype(float)
    if kind == "categories":
        X[:, 2] = np.digitize(X[:, 2], [-1.0, 0.0, 1.0])
    if kind == "missing":
        X[::7, 0] = np.nan
    X = sparse.csc_matrix(X) if kind == "sparse" else np.asfortranarray(X)
    return TrainingData(X, [2] * (kind == "categories")), y


@pytest.mark.parametrize("learner", [*MEMBERS, *VARIANTS], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_columns_are_what_their_learners_vote(learner, depth):
    data, labels = data_for()
    pool = make_pool(learner, data, PricingContext(max_depth=depth))
    rng = np.random.default_rng(depth)
    for _ in range(3):
        residual = rng.exponential(size=200) * (rng.random(200) < 0.7) * labels
        offers = pool.price(residual, None)
        assert [offer.edge for offer in offers] == sorted((offer.edge for offer in offers), reverse=True)
        for column, edge in offers:
            assert edge == pytest.approx(residual @ column.votes)
            assert edge > 0
            assert (np.abs(column.votes) <= 1.0).all()
            np.testing.assert_array_equal(column.learner.vote(data.X), column.votes)
            assert column.votes.astype(np.float32).astype(float) == pytest.approx(column.votes, abs=0)
            gains = column.learner.feature_gains(6)
            assert gains.shape == (6,)
            assert gains.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["missing", "categories", "sparse"])
@pytest.mark.parametrize("learner", [*LEARNERS, CartLearner(criterion="edge")], ids=str)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_all_kinds_of_features(learner, kind, depth):
    data, labels = data_for(kind)
    residual = np.random.default_rng(2).exponential(size=200) * labels
    pool = make_pool(learner, data, PricingContext(max_depth=depth))
    (column, edge), *_ = pool.price(residual, None)
    assert edge > 0
    np.testing.assert_array_equal(column.learner.vote(data.X), column.votes)


@pytest.mark.parametrize("learner", MEMBERS, ids=str)
@pytest.mark.parametrize("residual", [np.zeros(200), np.eye(200)[3]], ids=["no weight", "one row"])
def test_degenerate_weights(learner, residual):
    data, _ = data_for()
    for column, _ in make_pool(learner, data, PricingContext(max_depth=2)).price(residual, None):
        assert np.isfinite(column.votes).all()


@pytest.mark.parametrize("learner", MEMBERS, ids=str)
def test_features_that_do_not_vary(learner):
    data, residual = TrainingData(np.zeros((20, 2), order="F"), []), np.where(np.arange(20) < 12, 1.0, -1.0)
    for column, _ in make_pool(learner, data, PricingContext(max_depth=2)).price(residual, None):
        np.testing.assert_array_equal(column.votes, column.votes[0])


@pytest.mark.parametrize("learner", VARIANTS, ids=str)
def test_learners_are_cloned_and_changed_by_name(learner):
    again = clone(learner)
    assert type(again) is type(learner)
    assert again is not learner
    assert again.set_params(voting="hard").voting == "hard"
    with pytest.raises(InvalidParameterError, match="voting='loud'"):
        again.set_params(voting="loud")
    assert again.voting == "hard"
    with pytest.raises(InvalidParameterError, match="no parameter 'depth'"):
        again.set_params(depth=3)


def test_a_depth_of_its_own_goes_before_that_of_the_fit():
    data, labels = data_for()
    for learner in (CartLearner(), OptimalLearner()):
        own, common = (make_pool(one, data, PricingContext(max_depth=2)) for one in (learner, type(learner)(1)))
        (deep, _), (shallow, _) = (pool.price(labels, None)[0] for pool in (own, common))
        assert (deep.learner.n_leaves > 2, shallow.learner.n_leaves) == (True, 2)


def test_the_parameters_of_a_classifier_are_nested():
    learner = ClassifierLearner(LogisticRegression())
    assert learner.get_params()["classifier__C"] == 1.0
    assert learner.set_params(classifier__C=0.5).classifier.C == 0.5
    assert "classifier__C" not in learner.get_params(deep=False)
