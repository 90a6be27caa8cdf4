"""Early stopping returns what it selected: of the ensembles in ``history_``, the one with the best score."""

import numpy as np
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.data.merging import hold_out
from dualboost.datasets import make_ringnorm

HELD_OUT = {"validation_fraction": 0.3, "n_iter_no_change": 5, "random_state": 0}


def noisy_rows(seed):
    X, y = make_ringnorm(150, random_state=seed)
    return X, np.where(np.random.default_rng(seed).random(len(y)) < 0.1, -y, y)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("formulation", "optimize"),
    [*((name, "weights") for name in ("nm", "lp", "cg", "hard", "lexi")), ("logistic", "leaves"), ("lp", "leaves")],
)
def test_the_model_has_the_best_score_of_its_history(formulation, optimize, seed):
    X, y = noisy_rows(seed)
    clf = DualBoostClassifier(formulation, optimize=optimize, max_depth=2, max_trees=12, **HELD_OUT).fit(X, y)
    held = hold_out((y > 0).astype(int), np.ones(len(y)), 0.3, np.random.RandomState(0))
    assert clf.score(X[held], y[held]) == pytest.approx(np.nanmax(clf.history_["validation_score"]), abs=1e-12)
    assert clf.gap_ <= 1e-6
    assert clf.n_trees_ <= 12


def test_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=200)
    model = DualBoostRegressor(max_depth=2, max_trees=12, **HELD_OUT).fit(X, y)
    scores = model.history_["validation_score"]
    assert scores[-1] == np.nanmax(scores)
    assert model.gap_ <= 1e-6


def test_stages_of_leaves_end_with_the_model():
    X, y = noisy_rows(3)
    clf = DualBoostClassifier(optimize="leaves", max_depth=2, max_trees=12, **HELD_OUT).fit(X, y)
    *_, last = clf.staged_predict(X)
    np.testing.assert_array_equal(last, clf.predict(X))
    assert len(list(clf.staged_predict(X))) == clf.n_iter_ == len(clf.history_["gap"])
