"""A tree as a plot: its text and bars, and that nothing covers anything else."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import (
    ConstantPredictionWarning,
    DegenerateEnsembleWarning,
    InvalidParameterError,
    UnsupportedModelError,
)
from dualboost.inspection.rules import strongest
from dualboost.plots import plot_confusion_matrix, plot_effects, plot_tree, plot_weights

from ..inspection.classes import DATA
from ..inspection.classes import fitted as several
from ..numbers_to_learn import counts
from ..thoroughness import how_many
from .conftest import AMOUNTS, AMOUNTS_X, X, Y


def leaves(ax):
    ax.figure.canvas.draw()
    return [child for child in ax.get_children() if isinstance(child, AnnotationBbox)]


def parts(leaf, kind):
    return leaf.offsetbox.findobj(lambda artist: type(artist) is kind)


def boxes_of(ax):
    """The frames of splits and leaves."""
    ax.figure.canvas.draw()
    boxes = {leaf: leaf.patch.get_window_extent() for leaf in leaves(ax)}
    return boxes | {text: text.get_bbox_patch().get_window_extent() for text in ax.texts}


def assert_nothing_overlaps(ax):
    boxes = boxes_of(ax)
    for first, second in combinations(boxes.values(), 2):
        assert not first.overlaps(second)
    figure = ax.figure.bbox
    assert all(figure.x0 <= box.x0 and box.x1 <= figure.x1 for box in boxes.values())
    assert all(figure.y0 <= box.y0 and box.y1 <= figure.y1 for box in boxes.values())
    for leaf in leaves(ax):
        for text in parts(leaf, Text):
            inside, frame = text.get_window_extent(), boxes[leaf]
            assert frame.x0 <= inside.x0, text.get_text()
            assert inside.x1 <= frame.x1, text.get_text()


@pytest.mark.parametrize("name", [*sorted(DATA), "two classes"])
def test_nothing_overlaps(name, with_categories):
    clf, n_trees = (with_categories, 8) if name == "two classes" else (several(name), how_many(1, 3))
    for tree in range(n_trees):
        assert_nothing_overlaps(plot_tree(clf, tree))


@pytest.mark.parametrize("size", [(8, 5), (4, 6), (14, 3)])
@pytest.mark.parametrize("n_classes", [2, 10])
def test_the_font_shrinks_in_axes_given(size, n_classes, with_categories):
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    assert plot_tree(with_categories if n_classes == 2 else several("clothes"), 0, ax=ax) is ax
    assert_nothing_overlaps(ax)


def test_nothing_overlaps_with_long_names():
    rng = np.random.default_rng(0)
    names = [f"a rather long name of feature number {k}, in kilometres" for k in range(4)]
    frame = pd.DataFrame(rng.normal(size=(600, 4)), columns=names)
    frame["an even longer category"] = pd.Categorical([f"category number {k}" for k in rng.integers(0, 12, 600)])
    y = np.where(frame.iloc[:, :4].prod(axis=1) + rng.normal(size=600) > 0, "malignant and dangerous", "benign")
    clf = DualBoostClassifier("cg", max_depth=4, max_trees=6).fit(frame, y)
    for tree in range(6):
        assert_nothing_overlaps(plot_tree(clf, tree))


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


@pytest.mark.parametrize("name", ["iris", "letters"])
def test_bars_are_the_values_of_the_strongest_classes(name):
    clf = several(name)
    heaviest = int(np.argmax(clf.weights_))
    tree, ax = clf.estimators_[heaviest], plot_tree(clf)
    found = {}
    for leaf in leaves(ax):
        *names, rows = [text.get_text() for text in parts(leaf, Text)]
        middle = leaf.offsetbox.width / 2.0
        bars = parts(leaf, Rectangle)
        assert all(min(abs(bar.get_x() - middle), abs(bar.get_x() + bar.get_width() - middle)) < 1e-9 for bar in bars)
        signed = [bar.get_width() * (1 if bar.get_x() >= middle - 1e-9 else -1) / middle for bar in bars]
        found[tuple(names), float(rows.split()[0].replace(",", ""))] = signed
    assert len(found) == tree.n_leaves
    for votes, covers in zip(tree.votes, tree.covers, strict=True):
        shown = strongest(votes, 4)
        np.testing.assert_allclose(found[tuple(clf.classes_[shown].tolist()), covers], votes[shown], atol=1e-9)
    assert f"values up to {clf.weights_[heaviest]:.3g}" in ax.get_title()
    assert ("of 26 classes" in ax.get_title()) == (name == "letters")


def test_a_class_has_the_same_colour_in_every_leaf():
    colours = {}
    for leaf in leaves(plot_tree(several("iris"))):
        for text, bar in zip(parts(leaf, Text), parts(leaf, Rectangle), strict=False):
            colours.setdefault(text.get_text(), set()).add(bar.get_facecolor())
    assert len(colours) == 3
    assert len(set.union(*colours.values())) == 3


def test_bars_of_quantiles_are_in_their_order_with_their_values():
    reg = DualBoostRegressor("quantile", quantiles=[0.05, 0.5, 0.95], max_depth=2, max_trees=3).fit(AMOUNTS_X, AMOUNTS)
    ax = plot_tree(reg)
    ax.figure.canvas.draw()
    rules = reg.rules()
    told = []
    for leaf in (child for child in ax.get_children() if isinstance(child, AnnotationBbox)):
        texts = [text.get_text() for text in leaf.offsetbox.findobj(lambda artist: type(artist) is Text)]
        assert [text.split()[0] for text in texts[:3]] == ["q0.05", "q0.5", "q0.95"]
        told.append([float(text.split()[1].replace(",", "")) for text in texts[:3]])
    of_tree = rules[rules["tree"] == int(ax.get_title().split(",")[0].split()[1])].sort_values("leaf")
    expected = of_tree[["value_q0.05", "value_q0.5", "value_q0.95"]].to_numpy()
    np.testing.assert_allclose(sorted(told), sorted(expected.tolist()), rtol=1e-2)


def test_a_constant_has_no_tree():
    with pytest.warns(DegenerateEnsembleWarning):
        constant = DualBoostRegressor(max_trees=2).fit(np.zeros((10, 1)), np.arange(10.0))
    with pytest.raises(UnsupportedModelError, match="the model has no tree"):
        plot_tree(constant)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_trees_and_weights_are_in_the_units_of_y(loss):
    reg = DualBoostRegressor(loss, max_depth=2, max_trees=4).fit(*counts())
    rules = reg.rules()
    heaviest = int(np.argmax(reg.weights_))
    ax = plot_tree(reg)
    shown = [float(text.get_text().split("\n")[0]) for text in ax.texts if text.get_text().endswith("rows")]
    values = rules.loc[rules["tree"] == heaviest, "weighted_vote"]
    np.testing.assert_allclose(sorted(shown), sorted(values), rtol=1e-2)
    heights = [bar.get_height() for bar in plot_weights(reg).patches]
    np.testing.assert_allclose(heights, rules.groupby("tree")["weighted_vote"].agg(lambda own: own.abs().max()))


def test_large_values_are_written_in_full():
    ax = plot_tree(DualBoostRegressor(max_depth=1, max_trees=1).fit(X, 1e3 * AMOUNTS))
    assert all("e+" not in text.get_text() for text in ax.texts)
    assert "e+" not in ax.get_title()
