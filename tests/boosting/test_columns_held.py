"""Where the cost of a weight grows with it, a column held keeps a large edge: the best one not held is wanted."""

import numpy as np
import pytest

from dualboost import CartLearner, DualBoostClassifier
from dualboost.formulations import FORMULATIONS, ConvexBoost

from ..paper_programmes import cg, convex, logistic

RNG = np.random.default_rng(0)
X = RNG.integers(0, 8, size=(60, 3)).astype(float)
Y = np.where(X.sum(axis=1) + 2.0 * RNG.normal(size=60) > 10, 1, -1)


def all_stumps():
    """The votes of every stump on X, and the two constant ones, each once."""
    cuts = [(feature, cut) for feature in range(3) for cut in np.unique(X[:, feature])]
    votes = np.array([np.where(X[:, feature] >= cut, 1.0, -1.0) for feature, cut in cuts])
    return np.unique(np.concatenate([votes, -votes]), axis=0).T


PROGRAMMES = {
    "cg": (FORMULATIONS["cg"](), 0.05, lambda A: cg(A, 0.05)),
    "logistic": (FORMULATIONS["logistic"](), 20.0, lambda A: logistic(A, 20.0, Y)),
    "l2": (ConvexBoost(penalty="l2"), 0.05, lambda A: convex(A, 0.05, penalty="l2")),
    "linf": (ConvexBoost(penalty="linf"), 0.02, lambda A: convex(A, 0.02, penalty="linf")),
}


def fit(name, learner, **options):
    formulation, C, _ = PROGRAMMES[name]
    chosen = {"optimize": "weights", "max_depth": 1, "max_trees": 200, "calibration": "training"} | options
    return DualBoostClassifier(formulation, C, learner=learner, **chosen).fit(X, Y)


@pytest.mark.parametrize("learner", ["optimal", CartLearner(criterion="edge")])
@pytest.mark.parametrize("name", list(PROGRAMMES))
def test_the_optimum_over_all_stumps(name, learner):
    clf = fit(name, learner)
    assert clf.objective_ == pytest.approx(PROGRAMMES[name][2](Y[:, None] * all_stumps()), rel=2e-6)
    assert clf.stop_reason_ == "certified"
    assert clf.bound_ == pytest.approx(clf.objective_, rel=2e-6)


@pytest.mark.parametrize("name", list(PROGRAMMES))
@pytest.mark.parametrize(("learner", "depth"), [("cart", 1), ("cart", 2), ("optimal", 2)])
def test_more_is_found_than_the_column_held(name, learner, depth):
    """A heuristic learner is asked for trees on other features: the fit goes on where its first tree is held."""
    clf = fit(name, learner, max_depth=depth, max_trees=40)
    assert clf.gap_ <= 1e-6
    roots = {int(np.argmax(tree.feature_gains(3))) for tree in clf.estimators_ if tree.feature_gains(3).any()}
    assert roots == {0, 1, 2}


def test_no_column_is_held_twice():
    votes = fit("linf", "optimal").votes(X)
    assert len(np.unique(votes, axis=1).T) == votes.shape[1]
