"""A tree as a picture: what is written in it, and that nothing covers anything else."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier
from dualboost.errors import ConstantPredictionWarning, InvalidParameterError, UnsupportedModelError
from dualboost.plots import plot_confusion_matrix, plot_effects, plot_tree

from .conftest import X, Y


def extents(ax):
    ax.figure.canvas.draw()
    return {text: text.get_bbox_patch().get_window_extent() for text in ax.texts}


def assert_nothing_overlaps(ax):
    boxes = extents(ax)
    for (one, first), (other, second) in combinations(boxes.items(), 2):
        assert not first.overlaps(second), (one.get_text(), other.get_text())
    figure = ax.figure.bbox
    assert all(figure.x0 <= box.x0 and box.x1 <= figure.x1 for box in boxes.values())
    assert all(figure.y0 <= box.y0 and box.y1 <= figure.y1 for box in boxes.values())


@pytest.mark.parametrize("tree", range(8))
def test_nothing_overlaps_with_categories_and_missing_values(with_categories, tree):
    assert_nothing_overlaps(plot_tree(with_categories, tree))


def test_nothing_overlaps_with_long_names():
    rng = np.random.default_rng(0)
    names = [f"a rather long name of feature number {k}, in kilometres" for k in range(4)]
    frame = pd.DataFrame(rng.normal(size=(600, 4)), columns=names)
    frame["an even longer category"] = pd.Categorical([f"category number {k}" for k in rng.integers(0, 12, 600)])
    y = np.where(frame.iloc[:, :4].prod(axis=1) + rng.normal(size=600) > 0, "malignant and dangerous", "benign")
    clf = DualBoostClassifier("cg", max_depth=4, max_trees=6).fit(frame, y)
    for tree in range(6):
        assert_nothing_overlaps(plot_tree(clf, tree))


@pytest.mark.parametrize("size", [(8, 5), (4, 6), (14, 3)])
def test_the_writing_shrinks_in_axes_given(with_categories, size):
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    assert plot_tree(with_categories, 0, ax=ax) is ax
    assert_nothing_overlaps(ax)


def test_names_are_drawn_letter_by_letter():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"$\\frac{$": rng.normal(size=200), "\x1b$x$": rng.choice(["$a$", "\u202e", "_"], 200)})
    y = np.where((frame.iloc[:, 0] > 0) ^ (frame.iloc[:, 1] == "_"), "$a^b$", "\x1b[31m")
    clf = DualBoostClassifier(max_depth=2, max_trees=4).fit(frame, y)
    drawn_by = plot_tree(clf), plot_effects(clf, frame)[0], plot_confusion_matrix(clf, frame, y)
    for figure in (ax.figure for ax in drawn_by):
        figure.canvas.draw()
        drawn = [text._preprocess_math(text.get_text()) for text in figure.findobj(Text)]
        assert not any(is_mathematics for _, is_mathematics in drawn)
        assert all(not {"\x1b", "\u202e"} & set(text) for text, _ in drawn)
        assert any("$a^b$" in text for text, _ in drawn)


def test_classes_without_a_letter_are_drawn():
    X = np.random.default_rng(0).normal(size=(60, 1))
    y = np.array(["", " ", "  "])[np.digitize(X[:, 0], [-0.5, 0.5])]
    plot_tree(DualBoostClassifier(max_depth=2, max_trees=1).fit(X, y)).figure.canvas.draw()


def test_what_is_written(with_categories):
    tree = with_categories.estimators_[0]
    ax = plot_tree(with_categories, 0)
    texts = [text.get_text() for text in ax.texts]
    leaves = [text for text in texts if text.endswith("rows")]
    assert len(leaves) == tree.n_leaves
    rows = [float(text.split("\n")[-1].split()[0].replace(",", "")) for text in leaves]
    assert sorted(rows) == sorted(tree.covers)
    assert any(text.startswith("colour in {") for text in texts)
    assert sum(text.startswith("yes") for text in texts) == len(tree.feature)
    assert any(text.endswith("or missing") for text in texts)


def test_no_missing_values_no_mention(fitted):
    assert not any("missing" in text.get_text() for text in plot_tree(fitted).texts)


def test_the_heaviest_tree_unless_another_is_named(fitted):
    assert plot_tree(fitted).get_title().startswith(f"tree {np.argmax(fitted.weights_)},")
    assert plot_tree(fitted, 1).get_title().startswith("tree 1,")


def test_a_single_leaf():
    with pytest.warns(ConstantPredictionWarning, match="all with the same probability"):
        constant = DualBoostClassifier("md", max_trees=2).fit(np.zeros((10, 1)), [0] * 6 + [1] * 4)
    ax = plot_tree(constant, 0)
    assert len(ax.texts) == 1
    assert_nothing_overlaps(ax)


def test_trees_that_are_not_there(fitted):
    for tree in (-1, len(fitted.estimators_), "first"):
        with pytest.raises(InvalidParameterError, match=rf"tree={tree!r} must be"):
            plot_tree(fitted, tree)
    with pytest.raises(UnsupportedModelError, match="plot_tree needs an ensemble of trees"):
        plot_tree(DualBoostClassifier(learner=LogisticRegression(), max_trees=3).fit(X, Y))
