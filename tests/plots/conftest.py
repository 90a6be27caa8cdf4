import matplotlib
import pytest

from dualboost import DualBoostClassifier

from ..thinning.models import numbers, table

matplotlib.use("Agg")
import matplotlib.pyplot as plt

X, Y = numbers()


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
