"""One number so far away that nothing of the others is learnt is told of; other tails are not."""

import warnings

import numpy as np
import pytest

from dualboost import DualBoostRegressor
from dualboost.errors import DataWarning

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(200, 2)), RNG.normal(size=200)


def with_one(far):
    return np.append(Y[:-1], far)


@pytest.mark.parametrize("far", [1e9, -1e9])
def test_one_number_that_hides_all_others_is_told_of(far):
    with pytest.warns(DataWarning, match=r"One number of y is 9\.95e\+08 from .*leave it out or take loss='huber'"):
        DualBoostRegressor(max_depth=1, max_trees=2).fit(X, with_one(far))


@pytest.mark.parametrize(
    "y",
    [
        with_one(30.0),  # far, but the others are learnt beside it
        np.append(np.zeros(199), 1e9),  # of the others there is nothing to learn
        np.append(Y[:-2], [1e9, -2e9]),  # two of them
    ],
    ids=["near", "others are equal", "two"],
)
def test_nothing_is_told_of_other_tails(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        DualBoostRegressor(max_depth=1, max_trees=2).fit(X, y)


def test_robust_losses_tell_of_those_that_count_as_nearer():
    with pytest.warns(DataWarning, match="1 of 200 numbers of y are further than"):
        DualBoostRegressor("huber", max_depth=1, max_trees=2).fit(X, with_one(1e9))
