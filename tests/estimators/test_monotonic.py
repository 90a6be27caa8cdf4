"""``monotonic_cst``: scores never fall with a feature, or never rise, whatever all other features are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_regression

from dualboost import (
    CartLearner,
    DualBoostClassifier,
    DualBoostClassifierCV,
    DualBoostRegressor,
    DualBoostRegressorCV,
    SolverOptions,
    thin,
)
from dualboost.errors import InvalidParameterError, UnsupportedModelError

from ..thoroughness import every

SIGNS = [1, -1, 0, 1, 0]
N_PAIRS = 10_000


def rows(kind, n=400, seed=0):
    """Noise, a wave and a dip that break the order, gaps, few values, and a category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 3] = np.round(2 * X[:, 3])
    X[rng.random(n) < 0.1, 1] = np.nan
    X[rng.random(n) < 0.1, 2] = np.nan
    X[:, 4] = rng.integers(4, size=n)
    score = X[:, 0] + 1.5 * np.sin(4 * X[:, 0]) - np.nan_to_num(X[:, 1]) ** 2 * np.sign(np.nan_to_num(X[:, 1]))
    score += np.nan_to_num(X[:, 2]) * X[:, 3] / 2 + (X[:, 4] == 1) * X[:, 0] + rng.normal(size=n)
    return X, {"two": score > 0, "numbers": score, "counts": rng.poisson(np.exp(score / 3))}[kind]


LEAVES = {
    "logistic": ("two", DualBoostClassifier(max_depth=4, max_trees=8)),
    "all to the optimum": ("two", DualBoostClassifier(max_depth=3, max_trees=4, solver=SolverOptions("auto", "every"))),
    "convex": ("two", DualBoostClassifier("convex", optimize="leaves", max_depth=3, max_trees=6)),
    "hinge": ("two", DualBoostClassifier("lp", optimize="leaves", max_depth=3, max_trees=4)),
    "squared": ("numbers", DualBoostRegressor(max_depth=4, max_trees=8)),
    "huber": ("numbers", DualBoostRegressor("huber", max_depth=3, max_trees=6)),
    "absolute": ("numbers", DualBoostRegressor("absolute", max_depth=3, max_trees=5)),
    "quantile": ("numbers", DualBoostRegressor("quantile", max_depth=3, max_trees=4)),
    "poisson": ("counts", DualBoostRegressor("poisson", max_depth=3, max_trees=6)),
    "held to limits": (
        "numbers",
        DualBoostRegressor(max_trees=6, min_samples_leaf=15, max_leaf_nodes=9, subsample=0.6),
    ),
    "early stopping": ("two", DualBoostClassifier(max_trees=8, n_iter_no_change=3, random_state=0)),
    "tuned": ("two", DualBoostClassifierCV(Cs=2, max_depth=3, max_trees=4, random_state=0)),
    "tuned for numbers": ("numbers", DualBoostRegressorCV(Cs=2, max_depth=3, max_trees=4, random_state=0)),
}
PAPER = (
    "nm",
    "qrlp",
    "lp",
    "cg",
    "erlp",
    "md",
    "lp-nu",
    "hard",
    "md-full",
    "convex",
    "lexi",
    "soft",
    "total",
    "mlp",
    "cq",
)
TREES = {
    **{
        f"{name}, trees": ("two", DualBoostClassifier(name, max_depth=3, max_trees=15, calibration="training"))
        for name in every(PAPER, ("nm", "lp", "cg", "md"))
    },
    "confidence": ("two", DualBoostClassifier("cg", learner=CartLearner(4, voting="confidence"), max_trees=15)),
    "limits, trees": ("two", DualBoostClassifier("md", max_depth=4, min_samples_leaf=10, max_trees=15)),
    "numbers, trees": ("numbers", DualBoostRegressor(optimize="weights", max_depth=3, max_trees=15)),
}
FITS = LEAVES | TREES


def falls(model, X, rng, n=N_PAIRS):
    """How far scores change the wrong way at most, over pairs of rows that differ by one feature with a sign."""
    score = getattr(model, "decision_function", model.predict)
    worst = 0.0
    for feature, sign in enumerate(SIGNS):
        if not sign:
            continue
        low = X[rng.integers(len(X), size=n)]
        high = low.copy()
        ends = np.sort(rng.normal(scale=2.0, size=(n, 2)), axis=1)
        low[:, feature], high[:, feature] = ends.T
        low[: n // 2, 4] = high[: n // 2, 4] = rng.integers(4, size=n // 2)
        change = sign * (score(high) - score(low))
        worst = max(worst, float(-change.min()))
    return worst


@pytest.mark.filterwarnings("ignore::dualboost.errors.DegenerateEnsembleWarning")
@pytest.mark.filterwarnings("ignore::dualboost.errors.TiedEnsembleWarning")
@pytest.mark.parametrize("name", FITS)
def test_scores_are_monotone_on_ten_thousand_pairs(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = clone(model).set_params(monotonic_cst=SIGNS, categorical_features=[4]).fit(X, y)
    rng = np.random.default_rng(1)
    assert falls(model, X, rng) == 0.0
    assert model.gap_ <= 1e-6
    assert {int(f) for tree in model.estimators_ for f in tree.feature} & {0, 1, 3}, "some split is to be in order"


@pytest.mark.parametrize("name", ["logistic", "squared", "absolute", "confidence"])
def test_without_the_constraint_scores_are_not_monotone(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    assert falls(clone(model).set_params(categorical_features=[4]).fit(X, y), X, np.random.default_rng(1)) > 0.1


@pytest.mark.parametrize("name", ["logistic", "squared", "absolute"])
def test_every_stage_is_monotone_and_probabilities_are(name):
    kind, model = FITS[name]
    X, y = rows(kind)
    model = clone(model).set_params(monotonic_cst=SIGNS, max_trees=4).fit(X, y)
    low = X[np.random.default_rng(2).integers(len(X), size=1000)]
    high = low.copy()
    high[:, 0] += 1.0
    for below, above in zip(model.staged_predict(low), model.staged_predict(high), strict=True):
        assert (above.astype(float) - below.astype(float)).min() >= -1e-12
    if kind == "two":
        assert (model.predict_proba(high)[:, 1] >= model.predict_proba(low)[:, 1]).all()


def test_trees_without_the_feature_have_no_order():
    """Whose leaves, under a loss with kinks, are those without a constraint."""
    X, y = make_regression(300, 6, noise=5.0, random_state=0)
    X[:, 0] = np.random.default_rng(0).random(300) < 0.5  # says nothing of y
    free, held = (
        DualBoostRegressor("absolute", max_depth=1, max_trees=3, monotonic_cst=signs).fit(X, y)
        for signs in (None, [1, 0, 0, 0, 0, 0])
    )
    assert not any((tree.feature == 0).any() for tree in held.fitted_.ensemble.learners)
    assert held.objective_ == pytest.approx(free.objective_, rel=1e-6)


def test_names_and_numbers_say_the_same():
    X, y = rows("two")
    table = pd.DataFrame(X, columns=list("abcde"))
    by_name = DualBoostClassifier(max_trees=3, monotonic_cst={"a": 1, "b": -1, "d": 1}).fit(table, y)
    by_place = DualBoostClassifier(max_trees=3, monotonic_cst=np.array(SIGNS)).fit(table, y)
    np.testing.assert_array_equal(by_name.decision_function(table), by_place.decision_function(table))


def test_zeros_are_no_constraint():
    X, y = rows("two")
    free = DualBoostClassifier(max_trees=3).fit(X, y)
    zeros = DualBoostClassifier(max_trees=3, monotonic_cst=[0] * 5).fit(X, y)
    np.testing.assert_array_equal(free.decision_function(X), zeros.decision_function(X))


def test_an_order_that_the_data_have_costs_nothing():
    """Stumps on one feature that y rises with: the optimum without the constraint is in order, and stays."""
    x = np.linspace(-1, 1, 60)
    X, y = np.repeat(x, 4)[:, None], np.repeat(np.where(x > 0, 2.0, 0.0) + (x > 0.5), 4)
    free = DualBoostRegressor(max_depth=1, max_trees=2).fit(X, y)
    held = DualBoostRegressor(max_depth=1, max_trees=2, monotonic_cst=[1]).fit(X, y)
    np.testing.assert_allclose(held.predict(X), free.predict(X), atol=1e-3)


def test_a_warm_start_keeps_the_order():
    X, y = rows("numbers")
    model = DualBoostRegressor(max_depth=3, max_trees=3, warm_start=True).fit(X, y)
    model.set_params(max_trees=6, monotonic_cst=SIGNS).fit(X, y)
    assert falls(model, X, np.random.default_rng(0), 2000) == 0.0
    free = DualBoostRegressor(max_depth=3, max_trees=6, optimize="weights", warm_start=True).fit(X, y)
    with pytest.raises(InvalidParameterError, match="warm_start=True goes on from trees that are not monotone"):
        free.set_params(max_trees=9, monotonic_cst=SIGNS).fit(X, y)


REFUSED = [
    ("two", {"monotonic_cst": [1, 0]}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": [2, 0, 0, 0, 0]}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": "rise"}, "1, -1 or 0 for each of the 5 features"),
    ("two", {"monotonic_cst": {"a": 1}}, "X has no names"),
    ("two", {"monotonic_cst": [0, 0, 0, 0, 1], "categorical_features": [4]}, "feature 4, which has categories"),
    ("two", {"monotonic_cst": SIGNS, "learner": "optimal", "max_depth": 1}, "learner='cart'"),
    ("three", {"monotonic_cst": SIGNS}, "3 scores"),
    ("three", {"monotonic_cst": SIGNS, "formulation": "lp"}, "3 scores"),
]


@pytest.mark.parametrize(("kind", "asked", "message"), REFUSED, ids=lambda value: str(value))
def test_what_cannot_be_kept_is_refused(kind, asked, message):
    X, y = rows("two", n=60)
    y = np.arange(len(y)) % 3 if kind == "three" else y
    model = DualBoostClassifier(max_trees=2, **asked)
    with pytest.raises(InvalidParameterError, match=message):
        model.fit(X, y)
    assert not hasattr(model, "fitted_")


def test_several_quantiles_and_unknown_names_are_refused():
    X, y = rows("numbers", n=60)
    with pytest.raises(InvalidParameterError, match="2 scores"):
        DualBoostRegressor("quantile", quantiles=[0.1, 0.9], monotonic_cst=SIGNS).fit(X, y)
    table = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(InvalidParameterError, match="names 'z'"):
        DualBoostRegressor(monotonic_cst={"z": 1}).fit(table, y)
    with pytest.raises(InvalidParameterError, match="must be 1, -1 or 0"):
        DualBoostRegressor(monotonic_cst={"a": "up"}).fit(table, y)


def test_thinning_keeps_the_order_or_is_refused():
    X, y = rows("two")
    model = DualBoostClassifier(max_depth=3, max_trees=8, monotonic_cst=SIGNS).fit(X, y)
    thinned = thin(model, X, y, tolerance=0.5, validation_fraction=None)
    assert falls(thinned.model, X, np.random.default_rng(0), 2000) == 0.0
    X, y = rows("numbers")
    with pytest.raises(UnsupportedModelError, match="monotone constraint"):
        thin(DualBoostRegressor(max_depth=2, max_trees=4, monotonic_cst=SIGNS).fit(X, y), X, y)
