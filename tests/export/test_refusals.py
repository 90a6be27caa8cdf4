"""What exports refuse, and in which words; and what they take at its extremes."""

import sys
from datetime import date

import numpy as np
import pandas as pd
import pytest

from dualboost import DualBoostClassifier, DualBoostRegressor, to_c, to_lightgbm, to_onnx, to_sql
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
    with pytest.raises(UnsupportedModelError, match=r"'colour' is of type date, which a LightGBM model cannot hold"):
        to_lightgbm(clf)


def named(names, words=("no", "yes"), classes=("left", "right"), learn="word"):
    """A model of two columns: the first has two words, which decide the class, and the second is of numbers."""
    n = 40
    column = pd.Series(np.resize(np.array(words, dtype=object), n), dtype=object)
    column = column if isinstance(words[0], str) else column.astype("category")
    X = pd.DataFrame({0: column, 1: np.linspace(0.0, 1.0, n)})
    code = np.arange(n) % 2 if learn == "word" else (np.arange(n) > n // 2).astype(int)
    X.columns = pd.Index(names, dtype=object)
    clf = DualBoostClassifier(max_depth=1, max_trees=1).fit(X, np.array(classes, dtype=object)[code])
    assert clf.tree_sum().used_features.tolist() == [0 if learn == "word" else 1]
    return clf, X


ALIKE = r"The columns 'a' and 'A' differ only in case"
NUL = r"'a\\x00b' holds a NUL character"
HALF = r"'\\ud800' holds half of a character"
REFUSED = {
    "case": (to_sql, {"names": ["a", "A"]}, ALIKE),
    "case, the other is used": (to_sql, {"names": ["a", "A"], "learn": "number"}, ALIKE),
    "no name in SQL": (to_sql, {"names": ["", "A"]}, "empty name, which SQL does not have"),
    "NUL in a column of SQL": (to_sql, {"names": ["a\0b", "A"]}, "The column " + NUL),
    "NUL in a category of SQL": (to_sql, {"names": ["a", "b"], "words": ["a\0b", "c"]}, "class or category " + NUL),
    "NUL in a class of SQL": (to_sql, {"names": ["a", "b"], "classes": ["a\0b", "c"]}, "class or category " + NUL),
    "half a character in SQL": (to_sql, {"names": ["\ud800", "b"]}, "The column " + HALF),
    "NUL in a category of C": (to_c, {"names": ["a", "b"], "words": ["a\0b", "a"]}, "class or category " + NUL),
    "NUL in a class of C": (to_c, {"names": ["a", "b"], "classes": ["a\0b", "a"]}, "class or category " + NUL),
    "half a character in C": (to_c, {"names": ["a", "b"], "classes": ["\ud800", "a"]}, "class or category " + HALF),
    "1 and '1' in C": (to_c, {"names": ["a", "b"], "words": [1, "1"]}, "1 and '1' of 'a' are the same text"),
    "no name in ONNX": (to_onnx, {"names": ["", "b"]}, "empty name, which ONNX does not have"),
    "an output of ONNX": (to_onnx, {"names": ["label", "b"]}, "'label' has the name of an output"),
    "half a character in ONNX": (to_onnx, {"names": ["a", "b"], "words": ["\ud800", "c"]}, HALF),
}


@pytest.mark.parametrize(("export", "parts", "message"), REFUSED.values(), ids=REFUSED)
def test_names_that_a_language_cannot_hold(export, parts, message):
    with pytest.raises(UnsupportedModelError, match=message):
        export(named(**parts)[0])


TAKEN = {
    "letters that no database folds": ["é", "É"],
    "blanks": ["a", "a "],
    "names of ours": ["c0", "_c0"],
    "comments and trigraphs": ["*/ /*/ *??/", "??/\n/* *\\"],
    "unseen": ["\u202e", "\x1b[31m\r\n"],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("names", TAKEN.values(), ids=TAKEN)
def test_names_that_every_language_holds(target, names):
    clf, X = named(names, words=names, classes=names)
    assert TARGETS[target](clf, X)["predict"].tolist() == clf.predict(X).tolist()


def test_columns_that_no_tree_tests_may_have_any_name():
    clf, X = named(["a\0b", "A"], learn="number")
    assert '"A"' in to_sql(clf)
    for names in (["", "b"], ["a", "b\0"], ["a=1", "\x1b"]):
        clf, X = named(names)
        found = to_lightgbm(clf).predict(clf._features(X))
        np.testing.assert_allclose(found, clf.predict_proba(X)[:, 1], rtol=1e-9)


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
