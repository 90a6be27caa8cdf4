"""Confusion matrices: the numbers are scikit-learn's, and fit into their cells."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

from dualboost import DualBoostClassifier
from dualboost.errors import InvalidDataError, UnfittedModelError
from dualboost.plots import plot_confusion_matrix

from ..inspection.classes import DATA
from ..inspection.classes import fitted as several
from .conftest import X, Y


def numbers_in(ax, n_classes):
    counts = np.zeros((n_classes, n_classes))
    for text in ax.texts:
        column, row = text.get_position()
        counts[int(row), int(column)] = float(text.get_text().replace(",", ""))
    return counts


@pytest.mark.parametrize("name", ["iris", "clothes", "letters"])
def test_the_numbers_are_those_of_scikit_learn(name):
    clf, (X, y) = several(name), DATA[name]()
    ax = plot_confusion_matrix(clf, X, y)
    np.testing.assert_array_equal(numbers_in(ax, len(clf.classes_)), confusion_matrix(y, clf.predict(X)))
    assert ax.get_title() == f"{clf.score(X, y):.1%} of {len(y):,} rows correct"
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(set(names)) == len(clf.classes_)
    assert all(str(label).startswith(name.rstrip("…")) for label, name in zip(clf.classes_, names, strict=True))


def test_two_classes_and_other_classifiers(fitted):
    for clf in (fitted, LogisticRegression().fit(X, Y)):
        ax = plot_confusion_matrix(clf, X, Y)
        np.testing.assert_array_equal(numbers_in(ax, 2), confusion_matrix(Y, clf.predict(X)))


@pytest.mark.parametrize("size", [(3, 3), (9, 4)])
def test_numbers_fit_into_cells_of_axes_given(size):
    clf, (X, y) = several("clothes"), DATA["clothes"]()
    given = plt.subplots(1, 2, figsize=(2 * size[0], size[1]), layout="constrained")[1][1]
    ax = plot_confusion_matrix(clf, X, y, ax=given)
    assert ax is given
    ax.figure.canvas.draw()
    (left, _), (right, _) = ax.transData.transform([(0, 0), (1, 0)])
    assert all(text.get_window_extent().width <= right - left for text in ax.texts)


def test_errors_are_told_from_what_is_correct_by_colour():
    clf = DummyClassifier(strategy="constant", constant=1).fit(np.zeros((3, 1)), [0, 1, 2])
    colours = plot_confusion_matrix(clf, np.zeros((4, 1)), [0, 1, 2, 2]).images[0].get_array()
    blue, orange = colours[1, 1], colours[0, 1]
    assert blue[2] > blue[0]
    assert orange[0] > orange[2]
    np.testing.assert_array_equal(colours[2, 0, :3], 1.0)


def test_of_very_many_classes_numbers_and_some_names_are_left_out():
    y = np.arange(300)
    clf = DummyClassifier(strategy="most_frequent").fit(y[:, None], y)
    ax = plot_confusion_matrix(clf, y[:, None], y)
    assert not ax.texts
    assert 10 < len(ax.get_yticklabels()) < 300


def test_what_cannot_be_drawn(fitted):
    with pytest.raises(UnfittedModelError, match="plot_confusion_matrix"):
        plot_confusion_matrix(DualBoostClassifier(), X, Y)
    with pytest.raises(InvalidDataError, match="the model knows the classes"):
        plot_confusion_matrix(fitted, X, Y + 1)
    with pytest.raises(InvalidDataError, match="y has shape"):
        plot_confusion_matrix(fitted, X, Y[:-1])
