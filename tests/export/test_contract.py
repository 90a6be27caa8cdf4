"""What every export promises: it answers as the estimator does, where it is meant to run."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from dualboost import DualBoostClassifier, DualBoostRegressor, load_model, thin
from dualboost.errors import DegenerateEnsembleWarning, UnfittedModelError, UnsupportedModelError
from dualboost.export import to_c, to_lightgbm, to_onnx, to_sql
from dualboost.formulations import ConvexBoost, LPBoost
from dualboost.targets.quantiles import Widening
from dualboost.thinning import ThinnedTreesClassifier

from ..golden import expected, label, model_paths
from ..numbers_to_learn import amounts, counts
from ..random_trees import random_tree
from ..several_classes import three_classes
from ..thinning.models import numbers, table, truths
from ..thoroughness import every, how_many
from .running import TARGETS, answers

WORDS = np.array(["it's", 'a "word"', "é\\n??/"])
"""Labels that C and SQL would misread if they were not quoted with care."""


def fitted(estimator, data, labels=None):
    X, y = data()
    return estimator.fit(X, y if labels is None else np.asarray(labels)[y]), data(n=300, seed=7)[0]


def with_new_categories():
    """Rows with a category that was not there in training."""
    clf, new = fitted(DualBoostClassifier(max_depth=3, max_trees=8), table)
    return clf, new.assign(colour=pd.Categorical(np.where(new.index % 5, new["colour"].astype(object), "unheard of")))


def with_awkward_names():
    names = ["a */ b", 'say "x"', "ü; --", "db_s", "select", "colour\\"]
    X, y = table()
    clf = DualBoostClassifier("cg", max_depth=2, max_trees=8).fit(X.set_axis(names, axis=1), WORDS[:2][y])
    return clf, table(n=300, seed=7)[0].set_axis(names, axis=1)


def with_many_types():
    """Categories that are integers, floats, booleans and text."""
    X, y = table()
    kinds = {"whole": 3 + np.arange(400) % 4, "half": np.arange(400) % 5 / 2, "truth": np.arange(400) % 3 == 0}
    X = X.assign(**{name: pd.Categorical(values) for name, values in kinds.items()})
    label = (kinds["whole"] == 4) ^ (kinds["half"] > 1) ^ kinds["truth"] ^ (y > 0)
    return DualBoostClassifier(max_depth=4, max_trees=12).fit(X, label), X


def with_truths():
    return fitted(DualBoostClassifier(max_depth=3, max_trees=6), truths)


def with_an_array_of_truths():
    X, y = truths()
    X = np.column_stack([X["member"], X["share"] > 0.6, X["asked"].fillna(True).astype(bool)])
    return DualBoostClassifier(max_depth=2, max_trees=4).fit(X, y), X


def with_truths_from_a_file():
    clf, new = with_truths()
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder, "model.json"))
        return load_model(Path(folder, "model.json")), new


def thinned_truths():
    X, y = truths()
    X = X.assign(asked=X["asked"].fillna(True).astype(bool))
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, y)
    return thin(forest, X, y, max_trees=5).model, X


def with_changed(model, **parts):
    """The model with other parts of its ensemble."""
    return model.with_fitted(replace(model.fitted_, ensemble=replace(model.fitted_.ensemble, **parts)))


def with_ties():
    """Stumps of which two outvote the third by a rounding error only."""
    clf, new = fitted(DualBoostClassifier("lp", max_trees=12), numbers)
    stumps = [clf.estimators_[0].with_votes(np.array(votes)) for votes in ([-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0])]
    tied = with_changed(clf, learners=stumps, weights=np.array([0.1, 0.2, 0.3]))
    assert not tied.decision_function(new).any()
    return tied, new


def with_large_intercepts():
    """Margins of classes whose intercepts alone would be cut off at 1."""
    clf, new = fitted(DualBoostClassifier("cg", max_depth=2, max_trees=6), three_classes, WORDS)
    return with_changed(clf, intercept=clf.weights_.sum() * np.array([1.2, 0.9, -1.1]) / 0.7), new


def with_crossing_quantiles():
    """Quantiles in the wrong order in some rows, and ends that a negative widening moves past each other."""
    reg, new = fitted(DualBoostRegressor("quantile", quantiles=[0.1, 0.3, 0.6, 0.9], max_trees=5), amounts)
    turned = with_changed(reg, learners=[tree.with_votes(tree.votes[:, ::-1]) for tree in reg.estimators_])
    scores = turned.fitted_.scores(turned._features(new))
    assert 0 < (np.diff(scores, axis=1) < 0).any(axis=1).sum() < len(new)
    width = float(np.median(np.ptp(scores, axis=1)))
    return turned.with_fitted(replace(turned.fitted_, calibration=Widening((-0.5 * width, 0.0)))), new


def thinned_forest(labels):
    X, y = numbers(missing=True)
    y = (y + (np.nan_to_num(X[:, 2]) > 0.5)) if len(labels) > 2 else y
    forest = RandomForestClassifier(15, max_depth=4, random_state=0).fit(X, np.array(labels)[y])
    return thin(forest, X, forest.classes_[np.searchsorted(forest.classes_, np.array(labels)[y])], max_trees=5).model


def empty(labels):
    X, y = numbers()
    y = y + (X[:, 2] > 0.5) if len(labels) > 2 else y
    with pytest.warns(DegenerateEnsembleWarning):
        return DualBoostClassifier(LPBoost(C=1e-6)).fit(X, np.array(labels)[y]), X


def with_nothing_but_text():
    """No tree tests a column, and the first one is of text: whoever runs the export passes it as it is."""
    words = pd.DataFrame({"word": np.resize(["a", "b", "c"], 40), "rare": [f"word {k}" for k in range(40)]})
    with pytest.warns(DegenerateEnsembleWarning):
        return DualBoostClassifier(LPBoost(C=1e-6)).fit(words, np.arange(40) % 2), words


def with_tiny_numbers():
    """Smaller than single precision holds, which an export must not read as zero."""
    X, y = amounts()
    return DualBoostRegressor(max_depth=2, max_trees=4).fit(X, 1e-90 * y), X


CASES = {
    "unheard categories": with_new_categories,
    "awkward names": with_awkward_names,
    "many types": with_many_types,
    "truth values": with_truths,
    "truth values in an array": with_an_array_of_truths,
    "truth values from a file": with_truths_from_a_file,
    "truth values, thinned": thinned_truths,
    "calibrated leaves": lambda: fitted(
        DualBoostClassifier(ConvexBoost(loss="squared_hinge"), optimize="leaves", max_depth=2, max_trees=6), table
    ),
    "three classes": lambda: fitted(DualBoostClassifier(max_depth=3, max_trees=6), three_classes, WORDS),
    "calibrated classes": lambda: fitted(DualBoostClassifier("cg", max_depth=2, max_trees=8), three_classes, WORDS),
    "trees for numbers": lambda: fitted(DualBoostRegressor("absolute", optimize="weights", max_trees=15), amounts),
    "counts": lambda: fitted(DualBoostRegressor("poisson", max_depth=3, max_trees=6), counts),
    "crossing quantiles": with_crossing_quantiles,
    "ties": with_ties,
    "large intercepts": with_large_intercepts,
    "thinned forest": lambda: (thinned_forest(["no", "yes"]), numbers(n=300, seed=7, missing=True)[0]),
    "thinned forest, three classes": lambda: (thinned_forest([1, 2, 5]), numbers(n=300, seed=7, missing=True)[0]),
    "no tree": lambda: empty([False, True]),
    "no tree, text": with_nothing_but_text,
    "tiny numbers": with_tiny_numbers,
    "no tree, three classes": lambda: empty(["a", "b", "c"]),
}
FEW = ["unheard categories", "awkward names", "many types", "truth values", "truth values, thinned",
       "calibrated classes", "crossing quantiles", "ties", "large intercepts",
       "thinned forest", "no tree", "no tree, text", "tiny numbers"]  # fmt: skip


@cache
def case(name):
    return CASES[name]()


def assert_answers(found, model, X):
    wanted = answers(model, X)
    assert found.keys() == wanted.keys()
    for method, answer in wanted.items():
        if method == "predict" and hasattr(model, "classes_"):
            assert found[method].tolist() == answer.tolist()
        else:
            size = min(np.abs(answer).max(), 1.0)
            np.testing.assert_allclose(found[method], answer, rtol=1e-12, atol=1e-13 * size, err_msg=method)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", every(CASES, FEW))
def test_answers_are_those_of_the_estimator(name, target):
    model, X = case(name)
    assert_answers(TARGETS[target](model, X), model, X)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("path", model_paths(), ids=label)
def test_every_kind_of_model_file(path, target):
    X, _ = expected(path)
    model = load_model(path)
    assert_answers(TARGETS[target](model, X), model, X)


@pytest.mark.parametrize("target", TARGETS)
def test_rows_on_the_cuts(target):
    """A row that equals a threshold to the last bit takes the same side everywhere."""
    X, y = numbers(n=2000)
    X = X / 7.0  # numbers with all their digits
    clf = DualBoostClassifier(max_depth=3, max_trees=10).fit(X, y)
    rows = np.repeat(X[:1], 200, axis=0)
    for row, (tree, node) in zip(rows, ((t, n) for t in clf.estimators_ for n in range(len(t.feature))), strict=False):
        row[tree.feature[node]] = tree.threshold[node]
    assert_answers(TARGETS[target](clf, rows), clf, rows)


@given(seed=st.integers(0, 10**6), n_classes=st.sampled_from([2, 3]))
@settings(max_examples=how_many(8, 100))
def test_any_trees(seed, n_classes):
    rng, n_outputs = np.random.default_rng(seed), 1 if n_classes == 2 else n_classes
    trees = [random_tree(rng, n_outputs) for _ in range(rng.integers(1, 4))]
    intercept = 0.3 if n_outputs == 1 else rng.normal(size=n_outputs)
    model = ThinnedTreesClassifier(trees, rng.normal(size=len(trees)), intercept, list("abc"[:n_classes]), 3)
    X = np.column_stack([rng.normal(size=(40, 2)), rng.integers(0, 6, 40)])
    X[rng.random(X.shape) < 0.2] = np.nan
    for target in TARGETS.values():
        assert_answers(target(model, X), model, X)


def test_sets_of_many_categories_take_a_byte_each():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"city": rng.choice([f"City {k}" for k in range(300)], 6000)})
    y = X["city"].str[-1].isin(["1", "4", "7"]) ^ (rng.random(6000) < 0.1)
    clf = DualBoostClassifier(max_depth=2, max_trees=10).fit(X, y)
    n_sets = sum(len(tree.categories) for tree in clf.estimators_)
    assert n_sets > 10
    assert to_onnx(clf).ByteSize() < 300 * n_sets + 15_000
    assert_answers(TARGETS["ONNX"](clf, X), clf, X)


@pytest.mark.parametrize("export", [to_c, to_lightgbm, to_onnx, to_sql])
def test_what_cannot_be_exported(export):
    X, y = table()
    with pytest.raises(UnfittedModelError, match="not fitted"):
        export(DualBoostClassifier())
    with pytest.raises(UnsupportedModelError, match="RandomForestClassifier must be a fitted DualBoostClassifier"):
        export(RandomForestClassifier(2).fit(*numbers()))
    learner = DualBoostClassifier(learner=RandomForestClassifier(2, random_state=0), max_trees=2).fit(*numbers())
    with pytest.raises(UnsupportedModelError, match="not trees"):
        export(learner)
    model = HistGradientBoostingClassifier(max_iter=10, max_leaf_nodes=4, random_state=0).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="encode the categories"):
        export(thin(model, X, y, max_trees=3).model)
