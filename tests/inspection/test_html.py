"""The summary in notebooks: scikit-learn's diagram, and below it the figures of a fit."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_html_repr

from dualboost import DualBoostClassifier, LPBoost
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.inspection.html import fitted_html

from ..thinning.models import numbers

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
