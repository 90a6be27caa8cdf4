"""Regressors looked into: rules, explanations and summaries in the units of y."""

from xml.etree import ElementTree

import numpy as np
import pytest
import shap

from dualboost import DualBoostRegressor, to_lightgbm
from dualboost.errors import DegenerateEnsembleWarning
from dualboost.formulations import QuantileLoss
from dualboost.inspection.html import fitted_html

from ..numbers_to_learn import amounts, counts

NEW, NEW_Y = amounts(n=100, seed=4)
MODELS = {
    "leaves": lambda: DualBoostRegressor(max_depth=3, max_trees=6).fit(*amounts()),
    "weights": lambda: DualBoostRegressor("absolute", C=6.0, optimize="weights", max_depth=2, max_trees=20).fit(
        *amounts()
    ),
    "counts": lambda: DualBoostRegressor("poisson", max_depth=2, max_trees=6).fit(*counts()),
}


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    return MODELS[request.param]()


def shown(reg):
    """What explanations and rules add up to."""
    predicted = reg.predict(NEW)
    return np.log(predicted) if reg.fitted_.target.name == "counts" else predicted


def test_rules_add_up_to_the_prediction(fitted):
    rules = fitted.rules()
    assert list(rules.columns) == ["tree", "leaf", "weight", "conditions", "vote", "weighted_vote", "rows", "share"]
    C_value = np.abs(rules["weighted_vote"].to_numpy())
    assert (np.diff(C_value) <= 1e-6 * C_value.max()).all()
    values = rules.set_index(["tree", "leaf"])["weighted_vote"]
    total = np.full(len(NEW), fitted.fitted_.in_units.intercept)
    X = fitted._features(NEW)
    for j in np.flatnonzero(fitted.weights_).tolist():
        total += values.loc[j].loc[fitted.estimators_[j].leaves(X)].to_numpy()
    np.testing.assert_allclose(total, shown(fitted), rtol=1e-9)
    assert fitted.rules(NEW).groupby("tree")["rows"].sum().eq(len(NEW)).all()


def test_explanations_add_up_to_the_prediction(fitted):
    explained = fitted.explain(NEW)
    assert explained.values.shape == NEW.shape
    assert explained.class_names == []
    np.testing.assert_allclose(explained.base_value + explained.values.sum(axis=1), shown(fitted), rtol=1e-9)
    assert explained.importances().argmax() in (0, 5)


def test_explanations_are_those_of_shap():
    X, y = amounts()
    X = X.drop(columns="colour")
    reg = DualBoostRegressor(max_depth=2, max_trees=5).fit(X, y)
    theirs = shap.TreeExplainer(to_lightgbm(reg))(X[:50])
    np.testing.assert_allclose(reg.explain(X[:50]).values, theirs.values, atol=1e-6 * np.abs(theirs.values).max())


def test_the_unit_of_y_does_not_change_the_order_of_rules():
    X, y = amounts()
    one, tiny = (DualBoostRegressor(max_depth=2, max_trees=4).fit(X, factor * y).rules() for factor in (1.0, 1e-15))
    assert one["conditions"].tolist() == tiny["conditions"].tolist()
    np.testing.assert_allclose(tiny["weighted_vote"] * 1e15, one["weighted_vote"], rtol=1e-6)


def test_without_a_split_the_base_value_is_the_prediction():
    with pytest.warns(DegenerateEnsembleWarning):
        reg = DualBoostRegressor(max_trees=3).fit(np.zeros((20, 2)), np.full(20, 7.0))
    assert reg.rules().empty
    assert reg.explain(np.zeros((3, 2))).base_value == pytest.approx(7.0)


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
def test_the_summary_names_its_scores(options, titles):
    reg = DualBoostRegressor(max_depth=2, max_trees=3, random_state=0, **options).fit(*amounts())
    html = fitted_html(reg)
    assert reg._repr_mimebundle_()["text/html"].endswith(html)
    pictures = [picture.attrib["aria-label"].split(" over ")[0] for picture in ElementTree.fromstring(html).iter("svg")]
    assert [name for name in pictures if not name.startswith("effect of")] == ["objective", *titles]
