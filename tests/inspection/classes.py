"""Data with several classes, and fits of them."""

from functools import cache

import numpy as np
from sklearn.datasets import load_digits, load_iris

from dualboost import DualBoostClassifier

from ..thinning.models import table

LETTERS = [chr(ord("A") + k) for k in range(26)]
CLOTHES = np.array(
    [
        "T-shirt or top",
        "Trousers of any length",
        "Pullover",
        "Dress",
        "Coat for the winter",
        "Sandal",
        "Shirt with long sleeves",
        "Sneaker",
        "Bag",
        "Ankle boot made of leather",
    ]
)


def three_classes(n=400, seed=0):
    """The table with gaps and a category, and a label that depends on both."""
    X, y = table(n, seed)
    return X, np.where(X["b"].isna(), "unknown", np.where(y == 1, "high", "low"))


def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


def digits(n=600):
    X, y = load_digits(return_X_y=True)
    return X[:n], y[:n]


def clothes():
    """Ten classes with long names."""
    X, y = digits()
    return X, CLOTHES[y]


def letters(n=1300):
    """Twenty-six classes, each around its own centre."""
    rng = np.random.default_rng(0)
    centres = 3.0 * rng.normal(size=(26, 5))
    codes = np.arange(n) % 26
    return centres[codes] + rng.normal(size=(n, 5)), np.array(LETTERS)[codes]


DATA = {"iris": iris, "digits": digits, "table": three_classes, "clothes": clothes, "letters": letters}


@cache
def fitted(name):
    X, y = DATA[name]()
    return DualBoostClassifier(max_depth=3, max_trees=6).fit(X, y)
