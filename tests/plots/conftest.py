import matplotlib
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor

from ..numbers_to_learn import amounts
from ..thinning.models import numbers, table

matplotlib.use("Agg")
import matplotlib.pyplot as plt

X, Y = numbers()
AMOUNTS_X, AMOUNTS = amounts()
NEW, NEW_Y = amounts(n=150, seed=3)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def fitted():
    return DualBoostClassifier("lp", max_depth=2, max_trees=15, validation_fraction=0.2, random_state=0).fit(X, Y)


@pytest.fixture(scope="session")
def with_categories():
    frame, y = table(n=1000)
    return DualBoostClassifier("cg", max_depth=4, max_trees=8).fit(frame, y)


@pytest.fixture(scope="session")
def regressor():
    options = {"max_depth": 2, "max_trees": 6, "validation_fraction": 0.2, "random_state": 0}
    return DualBoostRegressor(**options).fit(AMOUNTS_X, AMOUNTS)
