"""Plots of models with several classes: what is drawn is what the model holds, and nothing covers anything else."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from dualboost import DualBoostClassifierCV
from dualboost.inspection.rules import strongest
from dualboost.plots import plot_history, plot_margins, plot_path, plot_tree, plot_weights

from ..inspection.classes import DATA, fitted, iris
from ..thoroughness import every, how_many

SETS = sorted(DATA)


def leaves(ax):
    ax.figure.canvas.draw()
    return [child for child in ax.get_children() if isinstance(child, AnnotationBbox)]


def parts(leaf, kind):
    return leaf.offsetbox.findobj(lambda artist: type(artist) is kind)


def assert_nothing_overlaps(ax):
    boxes = {leaf: leaf.patch.get_window_extent() for leaf in leaves(ax)}
    boxes |= {text: text.get_bbox_patch().get_window_extent() for text in ax.texts}
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


@pytest.mark.parametrize("name", SETS)
def test_nothing_overlaps(name):
    for tree in range(how_many(1, 3)):
        assert_nothing_overlaps(plot_tree(fitted(name), tree))


@pytest.mark.parametrize("size", every([(8, 5), (4, 6), (14, 3)], few=[(4, 6)]))
def test_leaves_shrink_in_axes_given(size):
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    assert plot_tree(fitted("clothes"), 0, ax=ax) is ax
    assert_nothing_overlaps(ax)


@pytest.mark.parametrize("name", ["iris", "letters"])
def test_bars_are_the_values_of_the_strongest_classes(name):
    clf = fitted(name)
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
    for leaf in leaves(plot_tree(fitted("iris"))):
        for text, bar in zip(parts(leaf, Text), parts(leaf, Rectangle), strict=False):
            colours.setdefault(text.get_text(), set()).add(bar.get_facecolor())
    assert len(colours) == 3
    assert len(set.union(*colours.values())) == 3


def test_the_height_of_margins_at_zero_is_the_error():
    clf, (X, y) = fitted("letters"), DATA["letters"]()
    ax = plot_margins(clf, X, y)
    margins, shares = ax.lines[1].get_xdata(), ax.lines[1].get_ydata()
    assert shares[np.flatnonzero(margins <= 0)[-1]] == pytest.approx(1.0 - clf.score(X, y))
    assert "against the best other" in ax.get_xlabel()


def test_history_and_weights():
    clf, (X, y) = fitted("table"), DATA["table"]()
    objective, accuracy = plot_history(clf, X, y)
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), clf.history_["objective"])
    assert objective.get_title(loc="left") == f"duality gap at the end: {clf.gap_:.2g}"
    assert accuracy.lines[-1].get_ydata()[-1] == clf.score(X, y)
    heights = [bar.get_height() for bar in plot_weights(clf).patches]
    np.testing.assert_allclose(heights, clf.weights_)


def test_the_path_of_a_tuned_model():
    X, y = iris()
    tuned = DualBoostClassifierCV(Cs=3, max_trees=3, random_state=0).fit(X, y)
    points = plot_path(tuned).collections[-1].get_offsets()
    np.testing.assert_allclose(points, np.column_stack([tuned.path_["C"], tuned.path_["score"]]))
