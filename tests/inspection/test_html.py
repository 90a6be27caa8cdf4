"""The summary in notebooks: scikit-learn's diagram, and below it the figures of a fit."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.formulations import LPBoost, QuantileLoss
from dualboost.inspection.effects import effects_of
from dualboost.inspection.html import fitted_html

from ..numbers_to_learn import amounts
from ..thinning.models import numbers, table
from .classes import fitted as several

X, Y = numbers()


@pytest.fixture(scope="module")
def fitted():
    return DualBoostClassifier("nm", max_trees=12, validation_fraction=0.2, random_state=0).fit(X, Y)


def test_the_diagram_stays_and_the_figures_follow(fitted):
    html = fitted._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in html
    added = fitted_html(fitted)
    assert html.endswith(added)
    assert fitted._repr_html_().endswith(added)
    for figure in (f"{fitted.n_trees_} of {fitted.n_generated_}", f"{fitted.gap_:.1e}", fitted.stop_reason_):
        assert figure in added


def test_the_curves_are_those_of_the_history(fitted):
    root = ElementTree.fromstring(fitted_html(fitted))
    objective, training, validation = (line.attrib["points"].split() for line in root.iter("polyline"))
    assert len(objective) == len(training) == len(validation) == fitted.n_iter_
    heights = [float(point.split(",")[1]) for point in objective]
    assert np.corrcoef(heights, fitted.history_["objective"])[0, 1] == pytest.approx(-1.0, abs=1e-3)
    for point in objective + training + validation:
        x, y = map(float, point.split(","))
        assert 0 <= x <= 220
        assert 0 <= y <= 56


def test_before_the_fit_it_is_the_diagram_alone():
    html = DualBoostClassifier()._repr_mimebundle_()["text/html"]
    assert "sk-top-container" in html
    assert "polyline" not in html


def test_text_only_where_that_is_configured(fitted):
    with config_context(display="text"):
        assert list(fitted._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(fitted, "_repr_html_")


@pytest.mark.parametrize("damage", ["history", "figures", "formulation"])
def test_whatever_is_missing_the_diagram_is_shown(fitted, damage):
    damaged = fitted.with_fitted(replace(fitted.fitted_, **{damage: None}))
    assert "sk-top-container" in damaged._repr_html_()
    assert "polyline" not in damaged._repr_html_()


def test_one_iteration_and_none_used():
    ElementTree.fromstring(fitted_html(DualBoostClassifier(max_trees=1).fit(X, Y)))
    with pytest.warns(DegenerateEnsembleWarning):
        empty = DualBoostClassifier(LPBoost(C=1e-6)).fit(X, Y)
    assert f"0 of {empty.n_generated_}" in fitted_html(empty)


def test_inside_a_pipeline(fitted):
    assert "DualBoostClassifier" in estimator_html_repr(make_pipeline(fitted))


def labels(html):
    return [picture.attrib["aria-label"] for picture in ElementTree.fromstring(html).iter("svg")]


def test_effects_are_shown_in_one_scale():
    X, y = table()
    clf = DualBoostClassifier(max_depth=2, max_trees=10).fit(X, y)
    html = fitted_html(clf)
    found = effects_of(clf.fitted_, None)
    shown = [label.removeprefix("effect of ") for label in labels(html) if label.startswith("effect of ")]
    singles = [found.names.features[effect.cells[0].feature] for effect in found.singles[:6]]
    assert shown[: len(singles)] == singles
    assert len(shown) == len(singles) + min(len(found.pairs), 2)
    assert "effects on the log-odds of 1" in html


def test_steps_are_drawn_as_steps():
    clf = DualBoostClassifier(max_depth=1, max_trees=10).fit(X, Y)
    effect = effects_of(clf.fitted_, None).singles[0]
    root = ElementTree.fromstring(fitted_html(clf))
    curve = next(path for path in root.iter("path") if path.attrib.get("stroke-width") == "1.6")
    assert curve.attrib["d"].count("V") == len(effect.cells[0].cuts)
    assert not set(curve.attrib["d"]) & set("LCSQ")
    heights = [float(part.split("V")[1]) for part in curve.attrib["d"].split("H")[1:-1]]
    np.testing.assert_allclose(np.corrcoef(heights, effect.values[1:-1, 0])[0, 1], -1.0, atol=1e-3)


def test_deep_trees_show_importances():
    clf = DualBoostClassifier(max_depth=4, max_trees=5).fit(X, Y)
    html = fitted_html(clf)
    assert "importance of features" in html
    assert f"x0 {clf.feature_importances_[0]:.0%}" in html
    assert not any(label.startswith("effect of") for label in labels(html))


@pytest.mark.parametrize("depth", [2, 4])
def test_classes_and_what_cannot_be_seen_are_escaped(depth):
    frame = pd.DataFrame(X, columns=["\x1b[31m", "\u202eb", "c\0", "f\n", "<g>"])
    classes = np.array(["</div><script>", "<b>\x1b"])
    html = fitted_html(DualBoostClassifier(max_depth=depth, max_trees=8).fit(frame, classes[Y]))
    assert {one.tag for one in ElementTree.fromstring(html).iter()} <= {
        "div",
        "span",
        "svg",
        "path",
        "rect",
        "circle",
        "polyline",
        "br",
    }
    assert html.isprintable()


def test_names_are_escaped():
    frame = pd.DataFrame(X, columns=["<a>", "b & c", 'd "e"', "f", "g"])
    html = fitted_html(DualBoostClassifier(max_depth=2, max_trees=8).fit(frame, Y))
    assert "<a>" not in html
    assert "effect of <a>" in labels(html)


@pytest.mark.parametrize("name", ["iris", "digits", "table"])
def test_the_summary_of_several_classes_draws_the_history(name):
    clf = several(name)
    root = ElementTree.fromstring(fitted_html(clf))
    objective, training = (line.attrib["points"].split() for line in root.iter("polyline"))
    assert len(objective) == len(training) == clf.n_iter_
    assert f"{clf.n_trees_} of {clf.n_generated_}" in "".join(root.itertext())
    assert clf._repr_html_().endswith(fitted_html(clf))


@pytest.mark.parametrize(
    ("options", "titles"),
    [
        ({}, ["R²"]),
        ({"validation_fraction": 0.2}, ["R²", "neg_mean_squared_error"]),
        ({"validation_fraction": 0.2, "scoring": "r2"}, ["R²"]),
        ({"validation_fraction": 0.2, "loss": QuantileLoss(quantiles=0.8)}, ["R²", "neg_mean_pinball_loss"]),
    ],
    ids=str,
)
def test_the_summary_of_a_regressor_names_its_scores(options, titles):
    reg = DualBoostRegressor(max_depth=2, max_trees=3, random_state=0, **options).fit(*amounts())
    html = fitted_html(reg)
    assert reg._repr_mimebundle_()["text/html"].endswith(html)
    pictures = [label.split(" over ")[0] for label in labels(html)]
    assert [name for name in pictures if not name.startswith("effect of")] == ["objective", *titles]
