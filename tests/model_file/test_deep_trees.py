"""Trees as deep as a fit can make them are saved, shown and explained; deeper ones are refused in files."""

import json

import numpy as np
import pytest

from dualboost import CartLearner, DualBoostClassifier, load_model
from dualboost.errors import ModelFormatError, UnsupportedModelError
from dualboost.inspection.rules import draw_tree, names_of
from dualboost.plots import plot_tree

from .test_damaged import document

DEEPEST = 256


def chain(depth):
    """A tree whose right sides are leaves, as a file has it."""
    nodes = range(depth)
    return {
        "weight": 1.0,
        "feature": [0] * depth,
        "threshold": [float(-node) for node in nodes],
        "left": [*range(1, depth), ~0],
        "right": [~(node + 1) for node in nodes],
        "missing_left": [False] * depth,
        "categories": [None] * depth,
        "gain": [1.0] * depth,
        "votes": [[1.0 - 2.0 * (leaf % 2)] for leaf in range(depth + 1)],
        "covers": [1.0] * (depth + 1),
    }


def file_with(tree, path):
    model = document("stumps")
    model["trees"][0] = tree
    path.write_text(json.dumps(model))
    return path


@pytest.mark.parametrize("depth", [DEEPEST + 1, 30_000])
def test_a_deeper_tree_is_refused(depth, tmp_path):
    path = file_with(chain(depth), tmp_path / "model.json")
    with pytest.raises(ModelFormatError, match=rf"trees\[0\] is {depth} splits deep; .* at most {DEEPEST}"):
        load_model(path)


def explained_scores(clf, X):
    explained = clf.explain(X)
    return explained.base_value + explained.values.sum(axis=1)


def splits_drawn(clf):
    """How many splits are in the text of the first tree, which is also drawn."""
    plot_tree(clf, 0)
    return draw_tree(clf.estimators_[0], names_of(clf.fitted_)).count("if ")


def test_the_deepest_tree_that_is_read_can_be_looked_into(tmp_path):
    clf = load_model(file_with(chain(DEEPEST), tmp_path / "model.json"))
    X = -np.arange(20.0)[:, None] * np.ones(5)
    np.testing.assert_allclose(explained_scores(clf, X), clf.decision_function(X), atol=1e-6)
    assert splits_drawn(clf) == DEEPEST
    assert (clf.rules()["tree"] == 0).sum() == DEEPEST + 1


def one_row_at_a_time(n_rows, **options):
    """A fit to rows of which but one can be split off at a time, by another feature each."""
    X, y = np.tril(np.ones((n_rows, n_rows))), np.arange(n_rows) % 2
    clf = DualBoostClassifier("nm", learner=CartLearner(**options), max_trees=1)
    return clf.fit(X, y, sample_weight=np.linspace(1.0, 2.0, n_rows)), X


def test_no_fit_makes_a_tree_that_cannot_be_loaded(tmp_path):
    clf, X = one_row_at_a_time(300, max_depth=10_000)
    assert splits_drawn(clf) == DEEPEST
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    assert len(loaded.rules()) == clf.n_leaves_ == DEEPEST + 1


def test_explanations_are_exact_or_refused():
    clf, X = one_row_at_a_time(100, max_depth=40)
    np.testing.assert_allclose(explained_scores(clf, X), clf.decision_function(X), atol=1e-6)
    clf, X = one_row_at_a_time(100, max_depth=41)
    with pytest.raises(UnsupportedModelError, match=r"estimators_\[0\] tests 41 features .* max_depth=40 or less"):
        clf.explain(X)
