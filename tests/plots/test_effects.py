"""Curves, bars and maps of effects: what is drawn is what the model adds up."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle, StepPatch

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import (
    DegenerateEnsembleWarning,
    InvalidDataError,
    InvalidParameterError,
    UnfittedModelError,
    UnsupportedModelError,
)
from dualboost.inspection.effects import effects_of
from dualboost.models.tree_sum import category_marginal
from dualboost.plots import plot_effects
from dualboost.plots.effects import places_of

from ..several_classes import three_classes
from ..thinning.models import numbers, table, truths


@pytest.fixture(scope="module")
def stumps():
    return DualBoostClassifier(max_depth=1, max_trees=15).fit(*table(n=1000))


@pytest.fixture(scope="module")
def pairs():
    return DualBoostClassifier(max_depth=2, max_trees=15).fit(*table(n=1000))


def single(model, name):
    found = effects_of(model.fitted_, None)
    return next(effect for effect in found.singles if found.names.features[effect.cells[0].feature] == name)


def panel(axes, name):
    return next(ax for ax in axes if ax.get_title() == name)


def curve(ax):
    (patch,) = (patch for patch in ax.patches if isinstance(patch, StepPatch))
    return patch.get_data()


def bars(ax):
    return [patch for patch in ax.patches if isinstance(patch, Rectangle)]


def test_a_number_has_steps_and_a_bar_for_missing_values(stumps):
    effect, ax = single(stumps, "a"), panel(plot_effects(stumps), "a")
    data = curve(ax)
    np.testing.assert_allclose(data.values, effect.values[:-1, 0])
    np.testing.assert_array_equal(data.edges[1:-1], effect.cells[0].cuts)
    (missing,) = bars(ax)
    assert missing.get_height() == pytest.approx(effect.values[-1, 0])
    assert missing.get_x() > data.edges[-1]


def test_categories_have_bars_with_names(stumps):
    effect, axes = single(stumps, "colour"), plot_effects(stumps)
    ax = panel(axes, "colour")
    np.testing.assert_allclose([bar.get_height() for bar in bars(ax)], effect.values[:, 0])
    below = next(other for other in ax.figure.axes if other.get_subplotspec() is not None and other is not ax
                 and other.get_subplotspec().get_gridspec() is ax.get_subplotspec().get_gridspec())  # fmt: skip
    assert [text.get_text() for text in below.get_xticklabels()] == [*"uvwxyz", "missing"]
    rows = table(n=1000)[0]["colour"].value_counts(dropna=False).reindex([*"uvwxyz", np.nan])
    np.testing.assert_array_equal([bar.get_height() for bar in bars(below)], rows)


def test_the_rows_below_are_those_of_the_data(stumps):
    X, _ = table(n=1000)
    axes = plot_effects(stumps, X)
    below = [ax for ax in axes[0].figure.axes if ax not in list(axes)]
    for ax in below:
        counted = sum(curve(ax).values) if any(isinstance(p, StepPatch) for p in ax.patches) else 0.0
        counted += sum(bar.get_height() for bar in bars(ax))
        assert 0.97 * len(X) <= counted <= len(X)  # tails that no curve changes in may be left out


def test_curves_share_one_scale_and_the_label_says_of_what(stumps):
    axes = plot_effects(stumps)
    assert len({ax.get_ylim() for ax in axes}) == 1
    assert axes[0].figure.get_supylabel() == "effect on the log-odds of 1"


def test_pairs_are_maps(pairs):
    X, _ = table(n=1000)
    for rows in (None, X):
        found = effects_of(pairs.fitted_, None if rows is None else pairs._features(rows))
        axes = plot_effects(pairs, rows)
        maps = [ax for ax in axes if ax.get_title() == "both together"]
        assert len(maps) == min(len(found.pairs), 9 - min(len(found.singles), 6))
        effect, drawn = found.pairs[0], maps[0].collections[0].get_array()
        assert found.names.features[effect.cells[0].feature] == maps[0].get_xlabel()
        known = np.sort(drawn.compressed() if np.ma.isMaskedArray(drawn) else drawn[np.isfinite(drawn)])
        keep = [slice(None) if cells.has_missing else slice(-1) for cells in effect.cells]
        np.testing.assert_allclose(known, np.sort(effect.values[tuple(keep)].ravel()))
        limits = {ax.collections[0].get_clim() for ax in maps}
        assert len(limits) == 1
        assert len(maps[0].collections) == (1 if rows is None else 2)  # dots are rows of X


@pytest.mark.parametrize("most", [1, 2, 4, 20])
def test_no_more_panels_than_asked_for(pairs, most):
    n_effects = len(effects_of(pairs.fitted_, None).effects)
    assert len(plot_effects(pairs, most=most)) == min(most, n_effects)


def test_several_classes_have_a_curve_each():
    clf = DualBoostClassifier(max_depth=2, max_trees=6).fit(*three_classes())
    axes = plot_effects(clf)
    effect, ax = single(clf, "a"), panel(axes, "a")
    drawn = [patch.get_data().values for patch in ax.patches if isinstance(patch, StepPatch)]
    np.testing.assert_allclose(drawn, effect.values[:-1].T)
    (legend,) = axes[0].figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["0", "1", "2"]
    assert any(ax.get_title().startswith("both together: ") for ax in axes)


def test_deeper_trees_show_shap_values():
    X, y = table()
    clf = DualBoostClassifier(max_depth=4, max_trees=6).fit(X, y)
    axes = plot_effects(clf, X, most=4)
    explained = clf.explain(X)
    strongest = [explained.feature_names[k] for k in np.argsort(-explained.importances())[:4]]
    assert [ax.get_title() for ax in axes] == strongest
    points = panel(axes, "a").collections[0].get_offsets()
    inside = X["a"].between(*X["a"].quantile([0.02, 0.98])).to_numpy()  # tails may be left out
    np.testing.assert_allclose(points[inside, 0], X["a"][inside])
    np.testing.assert_allclose(points[inside, 1], explained.values[inside, list(X).index("a")])
    assert axes[0].figure.get_supylabel().startswith("SHAP value")
    with pytest.raises(InvalidDataError, match="plot_effects needs X"):
        plot_effects(clf)


def test_numbers_are_in_their_units():
    X, _ = numbers()
    reg = DualBoostRegressor(max_depth=1, max_trees=8).fit(X, 1000.0 * X[:, 0])
    axes = plot_effects(reg)
    assert axes[0].figure.get_supylabel() == "effect on y"
    assert np.ptp(curve(panel(axes, "x0")).values) > 1000


def test_many_categories_and_long_names():
    rng = np.random.default_rng(0)
    names = np.array([f"a category with the number {k}" for k in range(40)])
    codes = rng.integers(0, 40, 3000)
    long = "a column with a long name, in kilometres per hour"
    X = pd.DataFrame({long: pd.Categorical(names[codes]), "noise": rng.normal(size=3000)})
    clf = DualBoostClassifier(max_depth=1, max_trees=5).fit(X, (codes % 3 == 0).astype(int))
    ax = plot_effects(clf)[0]
    assert ax.get_title().startswith("a column with a long name")
    assert ax.get_title().endswith("(24 of 40)")
    assert len(bars(ax)) == 24
    ax.figure.canvas.draw()
    below = ax.figure.axes[1]
    assert all(len(text.get_text()) <= 14 for text in below.get_xticklabels())


def test_in_the_place_of_a_subplot(stumps):
    left, right = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")[1]
    axes = plot_effects(stumps, ax=left, most=2)
    assert not left.axison
    left.figure.canvas.draw()
    assert all(ax.get_position().x1 <= right.get_position().x0 for ax in axes)
    with pytest.raises(InvalidParameterError, match="one subplot"):
        plot_effects(stumps, ax=[left, right])


def test_what_cannot_be_drawn(stumps):
    with pytest.raises(UnfittedModelError, match="call fit"):
        plot_effects(DualBoostClassifier())
    with pytest.raises(InvalidParameterError, match="most=0"):
        plot_effects(stumps, most=0)
    with pytest.warns(DegenerateEnsembleWarning):
        constant = DualBoostClassifier(max_depth=1).fit(np.zeros((20, 2)), np.arange(20) % 2)
    with pytest.raises(UnsupportedModelError, match="no split"):
        plot_effects(constant)


@pytest.fixture(scope="module")
def with_truths():
    X, y = truths(n=1000)
    return {depth: DualBoostClassifier(max_depth=depth, max_trees=10).fit(X, y) for depth in (1, 2, 3)}


def ticks(axis):
    return axis.get_major_formatter().seq


def test_truth_values_have_bars_named_false_and_true(with_truths):
    effect, ax = single(with_truths[1], "member"), panel(plot_effects(with_truths[1]), "member")
    assert ticks(ax.xaxis) == ["False", "True"]
    np.testing.assert_allclose([bar.get_height() for bar in bars(ax)], effect.values[:2, 0])
    assert ticks(panel(plot_effects(with_truths[1]), "asked").xaxis) == ["False", "True", "missing"]


def test_maps_and_shap_values_name_them_too(with_truths):
    X, _ = truths(n=1000)
    maps = [ax for ax in plot_effects(with_truths[2], X) if ax.get_title() == "both together"]
    named = {ax.get_xlabel(): ax.xaxis for ax in maps} | {ax.get_ylabel(): ax.yaxis for ax in maps}
    assert {name: ticks(axis) for name, axis in named.items() if name != "share"} == {
        "member": ["False", "True"],
        "asked": ["False", "True", "missing"],
    }
    assert ticks(panel(plot_effects(with_truths[3], X), "member").xaxis) == ["False", "True"]


@pytest.mark.parametrize("depth", [2, 3])
def test_numbers_that_are_no_truth_values_are_drawn_where_they_can_be(with_truths, depth):
    X, _ = truths(n=200)
    X = X.assign(member=np.resize([-3.0, 0.5, 7.0, 0.0], 200))
    assert len(plot_effects(with_truths[depth], X))


def test_counts_have_no_halves_at_their_axis():
    X, y = truths(n=400)
    X = X.assign(calls=np.arange(400) % 5)
    model = DualBoostClassifier(max_depth=1, max_trees=5).fit(X, y ^ (X["calls"] > 2))
    assert all("." not in tick for tick in ticks(panel(plot_effects(model), "calls").xaxis))


def test_points_of_a_category_are_spread_whatever_the_data_were_drawn_with():
    """Jitter with the generator of the data would put all rows of a category on one side of it."""
    for seed in range(4):
        column = (np.random.default_rng(seed).random(1000) < 0.5).astype(float)
        places = places_of(column, category_marginal(column, np.ones(1000), 2), seed)
        for value in (0.0, 1.0):
            assert abs(np.mean(places[column == value] - value)) < 0.05
