"""Plots of regressors: what is drawn is what the model predicts, in the units of y."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from dualboost import DualBoostRegressor, DualBoostRegressorCV
from dualboost.errors import DegenerateEnsembleWarning, InvalidDataError, UnfittedModelError, UnsupportedModelError
from dualboost.plots import (
    plot_confusion_matrix,
    plot_history,
    plot_intervals,
    plot_margins,
    plot_path,
    plot_predictions,
    plot_residuals,
    plot_tree,
    plot_weights,
)

from ..numbers_to_learn import amounts, counts

X, Y = amounts()
NEW, NEW_Y = amounts(n=150, seed=3)


@pytest.fixture(scope="module")
def fitted():
    return DualBoostRegressor(max_depth=2, max_trees=6, validation_fraction=0.2, random_state=0).fit(X, Y)


def figures(title):
    """The numbers in a title."""
    return [float(part.split()[-1]) for part in title.split(", ")]


def test_predictions_against_what_is_true(fitted):
    ax = plt.subplots()[1]
    assert plot_predictions(fitted, NEW, NEW_Y, ax=ax) is ax
    predicted = fitted.predict(NEW)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([NEW_Y, predicted]))
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), ax.lines[0].get_ydata())
    assert ax.get_xlim() == ax.get_ylim()
    expected = [root_mean_squared_error(NEW_Y, predicted), r2_score(NEW_Y, predicted)]
    np.testing.assert_allclose(figures(ax.get_title()), expected, rtol=5e-3, atol=5e-4)


def test_residuals_against_predictions(fitted):
    ax = plot_residuals(fitted, NEW, NEW_Y)
    predicted = fitted.predict(NEW)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([predicted, NEW_Y - predicted]))
    expected = [mean_absolute_error(NEW_Y, predicted), np.mean(NEW_Y - predicted)]
    np.testing.assert_allclose(figures(ax.get_title()), expected, rtol=5e-3)


def test_intervals_and_what_is_true():
    options = {"quantiles": [0.1, 0.25, 0.75, 0.9], "max_depth": 2, "max_trees": 4}
    reg = DualBoostRegressor("quantile", **options).fit(X, Y)
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
def test_which_models_and_rows_are_taken(draw, fitted):
    numbers = NEW[["a", "b"]].fillna(0.0)
    draw(LinearRegression().fit(numbers, NEW_Y), numbers, pd.Series(NEW_Y.round(), dtype="Int64"))
    draw(fitted, NEW[:1], NEW_Y[:1])
    with pytest.raises(UnsupportedModelError, match="needs a fitted regressor, not a LogisticRegression"):
        draw(LogisticRegression().fit(numbers, NEW_Y > 1000), numbers, NEW_Y)
    with pytest.raises(UnfittedModelError, match="needs a fitted regressor"):
        draw(DualBoostRegressor(), NEW, NEW_Y)
    with pytest.raises(InvalidDataError, match="y has 149 entries and X has 150 rows"):
        draw(fitted, NEW, NEW_Y[1:])


def test_history_shows_the_share_of_the_variance(fitted):
    axes = plot_history(fitted, NEW, NEW_Y)
    assert axes[-1].get_ylabel() == "R²"
    training, given = (line.get_ydata() for line in axes[-1].lines)
    np.testing.assert_array_equal(training, fitted.history_["train_score"])
    assert given[-1] == pytest.approx(fitted.score(NEW, NEW_Y))
    assert axes[-1].figure.axes[-1].get_ylabel() == "neg_mean_squared_error,\nheld out"
    by_share = DualBoostRegressor(max_depth=2, max_trees=3, validation_fraction=0.2, scoring="r2").fit(X, Y)
    assert plot_history(by_share)[-1].get_legend_handles_labels()[1] == ["training", "held out"]


def test_history_has_no_panel_for_one_gap(fitted):
    objective, quality = plot_history(fitted)
    assert objective.get_title(loc="left") == f"duality gap at the end: {fitted.gap_:.2g}"
    assert (objective.get_ylabel(), quality.get_ylabel()) == ("objective", "R²")
    given = plt.subplots(3, 1)[1]
    assert list(plot_history(fitted, ax=given)) == [given[0], given[2]]
    assert not given[1].axison


def test_history_has_no_panel_for_gaps_of_few_iterations():
    a, b, noise = np.random.default_rng(0).normal(size=(3, 300))
    stopped = DualBoostRegressor(max_depth=2, max_trees=6, n_iter_no_change=3, random_state=0)
    stopped.fit(np.column_stack([a, b]), a * b + noise)
    assert 1 < np.isfinite(stopped.history_["gap"]).sum() < 0.5 * len(stopped.history_["gap"])
    assert len(plot_history(stopped)) == 2


def test_path_against_C_where_trees_are_as_many():
    cv = DualBoostRegressorCV(Cs=[1.0, 10.0, 100.0], max_depth=1, max_trees=3, random_state=0).fit(X, Y)
    assert set(cv.path_["n_trees"]) == {3}
    ax = plot_path(cv)
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), np.column_stack([cv.path_["C"], cv.path_["score"]]))
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "C, with 3 trees each, mean over the folds")


def test_bars_of_quantiles_are_in_their_order_with_their_values():
    reg = DualBoostRegressor("quantile", quantiles=[0.05, 0.5, 0.95], max_depth=2, max_trees=3).fit(X, Y)
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
    ax = plot_tree(DualBoostRegressor(max_depth=1, max_trees=1).fit(X, 1e3 * Y))
    assert all("e+" not in text.get_text() for text in ax.texts)
    assert "e+" not in ax.get_title()


def test_path_names_the_score_of_the_loss():
    cv = DualBoostRegressorCV("absolute", Cs=3, max_depth=2, max_trees=4, random_state=0).fit(X, Y)
    assert plot_path(cv).get_ylabel() == "neg_mean_absolute_error on held-out rows"


def test_what_is_for_classes_is_refused(fitted):
    for draw in (plot_margins, plot_confusion_matrix):
        with pytest.raises(UnsupportedModelError, match="needs a fitted DualBoostClassifier, not a DualBoostRegressor"):
            draw(fitted, NEW, NEW_Y)
