"""Predictions against true values: confusion matrices, predictions, residuals and intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import confusion_matrix, mean_absolute_error, r2_score, root_mean_squared_error

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import InvalidDataError, UnfittedModelError, UnsupportedModelError
from dualboost.plots import plot_confusion_matrix, plot_intervals, plot_predictions, plot_residuals

from ..inspection.classes import DATA
from ..inspection.classes import fitted as several
from .conftest import AMOUNTS, AMOUNTS_X, NEW, NEW_Y, X, Y


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
    with pytest.raises(InvalidDataError, match="the classes of the model are"):
        plot_confusion_matrix(fitted, X, Y + 1)
    with pytest.raises(InvalidDataError, match="y has shape"):
        plot_confusion_matrix(fitted, X, Y[:-1])


def figures(title):
    """The numbers in a title."""
    return [float(part.split()[-1]) for part in title.split(", ")]


def test_predictions_against_what_is_true(regressor):
    ax = plt.subplots()[1]
    assert plot_predictions(regressor, NEW, NEW_Y, ax=ax) is ax
    predicted = regressor.predict(NEW)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([NEW_Y, predicted]))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), ax.lines[0].get_ydata())
    assert ax.get_xlim() == ax.get_ylim()
    expected = [root_mean_squared_error(NEW_Y, predicted), r2_score(NEW_Y, predicted)]
    np.testing.assert_allclose(figures(ax.get_title()), expected, rtol=5e-3, atol=5e-4)


def test_residuals_against_predictions(regressor):
    ax = plot_residuals(regressor, NEW, NEW_Y)
    predicted = regressor.predict(NEW)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([predicted, NEW_Y - predicted]))
    expected = [mean_absolute_error(NEW_Y, predicted), np.mean(NEW_Y - predicted)]
    np.testing.assert_allclose(figures(ax.get_title()), expected, rtol=5e-3)


def test_intervals_and_what_is_true():
    options = {"quantiles": [0.1, 0.25, 0.75, 0.9], "max_depth": 2, "max_trees": 4}
    reg = DualBoostRegressor("quantile", **options).fit(AMOUNTS_X, AMOUNTS)
    ax = plt.subplots()[1]
    assert plot_intervals(reg, NEW, NEW_Y, coverage=0.5, ax=ax) is ax
    low, high = reg.predict_interval(NEW, 0.5).T
    is_inside = (low <= NEW_Y) & (high >= NEW_Y)
    order = np.argsort(reg.predict(NEW), kind="stable")
    drawn = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(drawn, np.column_stack([low, high])[order])
    inside, outside = (collection.get_offsets() for collection in ax.collections[1:])
    np.testing.assert_allclose(inside[:, 1], NEW_Y[order][is_inside[order]])
    np.testing.assert_allclose(outside[:, 1], NEW_Y[order][~is_inside[order]])
    assert f"covers {is_inside.mean():.1%} of 150 rows" in ax.get_title()
    many = plot_intervals(reg, pd.concat([NEW, NEW]), np.append(NEW_Y, NEW_Y))
    assert len(many.collections[0].get_segments()) == 150
    with pytest.raises(UnsupportedModelError, match="needs a fitted DualBoostRegressor, not a LinearRegression"):
        plot_intervals(LinearRegression().fit([[0.0]], [0.0]), [[0.0]], [0.0])


@pytest.mark.parametrize("draw", [plot_predictions, plot_residuals])
def test_which_models_and_rows_are_taken(draw, regressor):
    numbers = NEW[["a", "b"]].fillna(0.0)
    draw(LinearRegression().fit(numbers, NEW_Y), numbers, pd.Series(NEW_Y.round(), dtype="Int64"))
    draw(regressor, NEW[:1], NEW_Y[:1])
    with pytest.raises(UnsupportedModelError, match="needs a fitted regressor, not a LogisticRegression"):
        draw(LogisticRegression().fit(numbers, NEW_Y > 1000), numbers, NEW_Y)
    with pytest.raises(UnfittedModelError, match="needs a fitted regressor"):
        draw(DualBoostRegressor(), NEW, NEW_Y)
    with pytest.raises(InvalidDataError, match="y has 149 entries and X has 150 rows"):
        draw(regressor, NEW, NEW_Y[1:])
