"""Histories, weights, margins and paths: the plots show the numbers of the model."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dualboost import DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV, thin
from dualboost.errors import (
    DegenerateEnsembleWarning,
    InvalidDataError,
    InvalidParameterError,
    MissingDependencyError,
    UnfittedModelError,
    UnsupportedModelError,
)
from dualboost.formulations import LPBoost
from dualboost.inspection.html import fitted_html
from dualboost.plots import plot_confusion_matrix, plot_history, plot_margins, plot_path, plot_tree, plot_weights

from ..inspection.classes import DATA, iris
from ..inspection.classes import fitted as several
from .conftest import AMOUNTS, AMOUNTS_X, NEW, NEW_Y, X, Y


def drawn(ax, label):
    return next(line for line in ax.lines if line.get_label() == label).get_ydata()


def test_history_has_three_panels(fitted):
    objective, gap, accuracy = plot_history(fitted, X, Y)
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), fitted.history_["objective"])
    np.testing.assert_array_equal(gap.lines[0].get_ydata(), np.maximum(fitted.history_["gap"], 1e-16))
    assert gap.get_yscale() == "log"
    np.testing.assert_array_equal(drawn(accuracy, "training"), fitted.history_["train_score"])
    np.testing.assert_array_equal(drawn(accuracy, "held out"), fitted.history_["validation_score"])
    assert drawn(accuracy, "X and y passed")[-1] == fitted.score(X, Y)


def test_history_without_rows_and_with_a_bound():
    clf = DualBoostClassifier("lp", learner="optimal", max_trees=10).fit(X, Y)
    objective, _, accuracy = plot_history(clf)
    np.testing.assert_array_equal(drawn(objective, "bound over all trees"), clf.history_["bound"])
    assert [text.get_text() for text in accuracy.get_legend().get_texts()] == ["training"]


def test_history_into_given_axes(fitted):
    axes = plt.subplots(1, 3)[1]
    assert list(plot_history(fitted, ax=axes)) == list(axes)
    with pytest.raises(InvalidParameterError, match="three axes"):
        plot_history(fitted, ax=axes[:2])


def test_history_in_the_place_of_one_subplot(fitted):
    left, right = plt.subplots(1, 2)[1]
    panels = plot_history(fitted, ax=left)
    assert len(panels) == 3
    assert not left.axison
    assert all(panel.get_position().x1 <= right.get_position().x0 for panel in panels)


def test_history_needs_both_rows_and_labels(fitted):
    with pytest.raises(InvalidDataError, match="y is None"):
        plot_history(fitted, X)
    with pytest.raises(InvalidDataError, match="X is None"):
        plot_history(fitted, y=Y)


def test_history_of_a_thinned_model(fitted):
    thinned = thin(fitted, X, Y, tolerance=0.02, random_state=0).model
    assert len(plot_history(thinned)) == 3
    with pytest.raises(UnsupportedModelError, match="thinned"):
        plot_history(thinned, X, Y)


def test_weights_are_shares(fitted):
    ax = plot_weights(fitted)
    heights = [bar.get_height() for bar in ax.patches]
    assert sum(heights) == pytest.approx(1.0)
    assert len(heights) == np.count_nonzero(fitted.weights_)
    assert f"of {fitted.n_generated_} trees" in ax.get_title()


def test_weights_of_an_empty_ensemble():
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, Y)
    assert plot_weights(clf).get_title().startswith("0 of")


@pytest.mark.parametrize("form", ["dict", "list", "one"])
def test_margins_are_a_distribution(fitted, form):
    other = DualBoostClassifier("cg", max_trees=10).fit(X, Y)
    models = {"dict": {"LP": fitted, "CG": other}, "list": [("LP", fitted), ("CG", other)], "one": fitted}[form]
    ax = plot_margins(models, X, Y)
    curve = ax.lines[1]
    x, shares = curve.get_xdata(), curve.get_ydata()
    assert (np.diff(x) >= 0).all()
    assert shares[np.flatnonzero(x <= 0)[-1]] == pytest.approx(np.mean(fitted.margins(X, Y) <= 0))
    assert shares[-1] == 1.0
    assert (ax.get_legend() is None) == (form == "one")


def test_margins_of_what_has_none(fitted):
    with pytest.raises(UnsupportedModelError, match="not a LogisticRegression"):
        plot_margins({"a": LogisticRegression().fit(X, Y)}, X, Y)
    for models in ([], [fitted]):
        with pytest.raises(InvalidParameterError, match="list of"):
            plot_margins(models, X, Y)


@pytest.mark.parametrize(
    ("cv", "data", "against"),
    [
        (DualBoostClassifierCV("nm", Cs=5, max_trees=15, random_state=0), lambda: (X, Y), "n_trees"),
        (DualBoostClassifierCV("nm", Cs=[0.1], max_trees=15, random_state=0), lambda: (X, Y), "n_trees"),
        (DualBoostClassifierCV(Cs=3, max_trees=3, random_state=0), iris, "C"),
    ],
    ids=["several C", "one C", "classes"],
)
def test_path_has_all_values_and_a_ring(cv, data, against):
    ax, path = plot_path(cv.fit(*data())), cv.path_
    expected = np.column_stack([path[against], path["score"]])
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), expected)
    ring = next(line for line in ax.lines if str(line.get_label()).startswith("chosen"))
    assert ring.get_xdata()[0] == path[against][np.flatnonzero(path["C"] == cv.C_)[0]]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"chosen: C = {cv.C_:.3g}, {cv.n_trees_} trees on all rows" in texts
    assert "± standard error" in texts
    assert "mean over the folds" in ax.get_xlabel()


def test_path_needs_the_tuned_estimator(fitted):
    with pytest.raises(UnsupportedModelError, match="DualBoostClassifierCV"):
        plot_path(fitted)
    with pytest.raises(UnfittedModelError, match="fitted DualBoostClassifierCV"):
        plot_path(DualBoostClassifierCV())


@pytest.mark.parametrize("draw", [plot_history, plot_weights, plot_tree, lambda model: plot_margins(model, X, Y)])
def test_unfitted_models_and_a_missing_library(draw, fitted, monkeypatch):
    with pytest.raises(UnfittedModelError, match="call fit"):
        draw(DualBoostClassifier())
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'matplotlib"):
        draw(fitted)


def test_the_library_is_imported_with_the_first_plot_only():
    code = "import lightgbm, sys; before = set(sys.modules); import dualboost.plots; new = set(sys.modules) - before;"
    code += "assert not any(name.startswith('matplotlib') for name in new)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_another_score_than_the_accuracy_has_an_axis_of_its_own():
    clf = DualBoostClassifier(max_trees=5, validation_fraction=0.3, random_state=0, scoring="neg_log_loss").fit(X, Y)
    axes = plot_history(clf)
    assert "held out" not in axes[-1].get_legend_handles_labels()[1]
    other = axes[-1].figure.axes[-1]
    assert other.get_ylabel() == "neg_log_loss, held out"
    np.testing.assert_array_equal(other.lines[0].get_ydata(), clf.history_["validation_score"])
    assert "neg_log_loss: " in fitted_html(clf)


def test_corrected_leaves_are_drawn_in_their_own_scale():
    """Scores are log-odds, which no axis cuts off; leaves show their values, and no share of weights is claimed."""
    clf = DualBoostClassifier("logistic", max_depth=2, max_trees=6).fit(X, Y)
    margins, ax = clf.margins(X, Y), plot_margins(clf, X, Y)
    assert np.abs(margins).max() > 1
    assert ax.get_xlim()[0] <= margins.min() < margins.max() <= ax.get_xlim()[1]
    assert "log-odds" in ax.get_xlabel()
    weights = plot_weights(clf)
    np.testing.assert_allclose([bar.get_height() for bar in weights.patches], clf.weights_)
    assert "share" not in weights.get_ylabel()
    assert weights.get_title() == f"6 of {clf.n_generated_} trees kept"
    tree, heaviest = plot_tree(clf), int(np.argmax(clf.weights_))
    assert "weights" not in tree.get_title()
    values = clf.weights_[heaviest] * clf.estimators_[heaviest].votes
    shown = [float(text.get_text().split("\n")[0]) for text in tree.texts if text.get_text().endswith("rows")]
    np.testing.assert_allclose(sorted(shown), sorted(values), rtol=1e-2)


def test_path_rings_the_number_of_trees_chosen():
    cv = DualBoostClassifierCV("logistic", Cs=[5.0, 50.0], select="sparsest", max_trees=6, random_state=0).fit(X, Y)
    ring = next(line for line in plot_path(cv).lines if str(line.get_label()).startswith("chosen"))
    assert ring.get_xdata()[0] <= cv.fitted_.tuning.max_trees
    found = np.flatnonzero((cv.path_["C"] == cv.C_) & (cv.path_["n_trees"] == ring.get_xdata()[0]))
    assert ring.get_ydata()[0] in cv.path_["score"][found]


def test_legends_stand_above_the_axes(fitted):
    """So that they cover no curve, whatever it does."""
    cv = DualBoostClassifierCV("nm", Cs=3, max_trees=10, random_state=0).fit(X, Y)
    for ax in [*plot_history(fitted, X, Y)[1:], plot_path(cv)]:
        ax.figure.canvas.draw()
        assert ax.get_legend().get_window_extent().y0 >= ax.bbox.y1 - 1.0
        assert ax.get_legend().get_window_extent().y1 <= ax.figure.bbox.y1 + 1.0


def test_the_height_of_margins_at_zero_is_the_error():
    clf, (X, y) = several("letters"), DATA["letters"]()
    ax = plot_margins(clf, X, y)
    margins, shares = ax.lines[1].get_xdata(), ax.lines[1].get_ydata()
    assert shares[np.flatnonzero(margins <= 0)[-1]] == pytest.approx(1.0 - clf.score(X, y))
    assert "against the best other" in ax.get_xlabel()


def test_history_shows_the_share_of_the_variance(regressor):
    axes = plot_history(regressor, NEW, NEW_Y)
    assert axes[-1].get_ylabel() == "R²"
    training, given = (line.get_ydata() for line in axes[-1].lines)
    np.testing.assert_array_equal(training, regressor.history_["train_score"])
    assert given[-1] == pytest.approx(regressor.score(NEW, NEW_Y))
    assert axes[-1].figure.axes[-1].get_ylabel() == "neg_mean_squared_error,\nheld out"
    by_share = DualBoostRegressor(max_depth=2, max_trees=3, validation_fraction=0.2, scoring="r2").fit(
        AMOUNTS_X, AMOUNTS
    )
    assert plot_history(by_share)[-1].get_legend_handles_labels()[1] == ["training", "held out"]


def test_history_and_weights_of_several_classes():
    clf, (X, y) = several("table"), DATA["table"]()
    objective, accuracy = plot_history(clf, X, y)
    np.testing.assert_array_equal(objective.lines[0].get_ydata(), clf.history_["objective"])
    assert objective.get_title(loc="left") == f"duality gap at the end: {clf.gap_:.2g}"
    assert accuracy.lines[-1].get_ydata()[-1] == clf.score(X, y)
    np.testing.assert_allclose([bar.get_height() for bar in plot_weights(clf).patches], clf.weights_)


def test_history_has_no_panel_for_one_gap(regressor):
    objective, quality = plot_history(regressor)
    assert objective.get_title(loc="left") == f"duality gap at the end: {regressor.gap_:.2g}"
    assert (objective.get_ylabel(), quality.get_ylabel()) == ("objective", "R²")
    given = plt.subplots(3, 1)[1]
    assert list(plot_history(regressor, ax=given)) == [given[0], given[2]]
    assert not given[1].axison


def test_history_has_no_panel_for_gaps_of_few_iterations():
    a, b, noise = np.random.default_rng(0).normal(size=(3, 300))
    stopped = DualBoostRegressor(max_depth=2, max_trees=6, n_iter_no_change=3, random_state=0)
    stopped.fit(np.column_stack([a, b]), a * b + noise)
    assert 1 < np.isfinite(stopped.history_["gap"]).sum() < 0.5 * len(stopped.history_["gap"])
    assert len(plot_history(stopped)) == 2


def test_path_against_C_where_trees_are_as_many():
    cv = DualBoostRegressorCV(Cs=[1.0, 10.0, 100.0], max_depth=1, max_trees=3, random_state=0).fit(AMOUNTS_X, AMOUNTS)
    assert set(cv.path_["n_trees"]) == {3}
    ax = plot_path(cv)
    np.testing.assert_allclose(ax.collections[-1].get_offsets(), np.column_stack([cv.path_["C"], cv.path_["score"]]))
    assert (ax.get_xscale(), ax.get_xlabel()) == ("log", "C, with 3 trees each, mean over the folds")


def test_path_names_the_score_of_the_loss():
    cv = DualBoostRegressorCV("absolute", Cs=3, max_depth=2, max_trees=4, random_state=0).fit(AMOUNTS_X, AMOUNTS)
    assert plot_path(cv).get_ylabel() == "neg_mean_absolute_error on held-out rows"


def test_what_is_for_classes_is_refused(regressor):
    for draw in (plot_margins, plot_confusion_matrix):
        with pytest.raises(UnsupportedModelError, match="needs a fitted DualBoostClassifier, not a DualBoostRegressor"):
            draw(regressor, NEW, NEW_Y)
