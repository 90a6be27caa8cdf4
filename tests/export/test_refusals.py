"""What exports refuse, and in which words; and what they take at its extremes."""

import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, to_c, to_onnx, to_sql
from dualboost.errors import InvalidParameterError, MissingDependencyError, UnsupportedModelError
from dualboost.thinning import ThinnedTreesClassifier
from dualboost.trees.tree import Tree

from ..numbers_to_learn import amounts
from ..thinning.models import numbers, table
from .running import TARGETS


@pytest.fixture(scope="module")
def two_classes():
    return DualBoostClassifier(max_trees=3).fit(*table())


@pytest.fixture(scope="module")
def quantiles():
    return DualBoostRegressor("quantile", quantiles=[0.1, 0.9], max_trees=3).fit(*amounts())


@pytest.mark.parametrize("name", ["", "2nd", "a-b", "a b", None])
def test_names_in_c(two_classes, name):
    with pytest.raises(InvalidParameterError, match="must be a name in C"):
        to_c(two_classes, name=name)


def test_two_files_of_c_in_one_program(two_classes):
    first, second = to_c(two_classes, name="first"), to_c(two_classes, name="second")
    assert "first" not in second
    assert first.replace("first", "second") == second


def test_questions_in_sql(two_classes, quantiles):
    for model, asked, message in (
        (two_classes, {"probability_of": "maybe"}, r"probability_of='maybe' must be one of the classes: \[0, 1\]"),
        (two_classes, {"probability_of": 1, "end": "lower"}, "probability_of and end are both given"),
        (two_classes, {"quantile": 0.1}, "quantile=0.1 is not for such a model"),
        (quantiles, {"quantile": 0.5}, r"quantile=0.5 must be one of the model's: \[0.1, 0.9\]"),
        (quantiles, {"end": "middle"}, "end='middle' must be 'lower' or 'upper'"),
        (quantiles, {"probability_of": 1}, "probability_of=1 is not for such a model"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            to_sql(model, **asked)


def test_categories_that_others_do_not_have():
    X, y = table()
    days = X.assign(colour=pd.Categorical(X["colour"].map({c: date(2020, 1, k + 1) for k, c in enumerate("uvwxyz")})))
    clf = DualBoostClassifier(max_trees=3).fit(days, y)
    with pytest.raises(UnsupportedModelError, match="of type date cannot be written in SQL"):
        to_sql(clf)
    with pytest.raises(UnsupportedModelError, match=r"categories of 'colour' are of .* one that ONNX does not have"):
        to_onnx(clf)


def test_onnx_without_its_package(two_classes, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'onnx>="):
        to_onnx(two_classes)


@pytest.mark.parametrize("target", [name for name in TARGETS if name != "SQLite"])
def test_a_deep_tree(target):
    n = 60
    right = np.append(np.arange(1, n), ~n)
    chain = Tree(
        np.zeros(n, dtype=np.intp), np.arange(float(n)), ~np.arange(n), right, np.zeros(n, dtype=bool), {}, np.zeros(n),
        np.linspace(-1, 1, n + 1),
    )  # fmt: skip
    model = ThinnedTreesClassifier([chain], [1.0], 0.1, [0, 1], 1)
    X = np.linspace(-3, n + 3, 200)[:, None]
    np.testing.assert_allclose(TARGETS[target](model, X)["predict_proba"], model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sqlite_takes_trees_of_the_depth_that_is_promised(n_classes):
    X, y = numbers(n=4000)
    y = y + (X[:, 3] > 0) if n_classes == 3 else y
    clf = DualBoostClassifier("cg", max_depth=10, max_trees=2).fit(X, y)
    assert max(tree.depth for tree in clf.estimators_) == 10
    np.testing.assert_allclose(TARGETS["SQLite"](clf, X)["predict_proba"], clf.predict_proba(X), rtol=1e-12)
