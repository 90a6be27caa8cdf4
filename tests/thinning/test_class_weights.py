"""A model that was trained with weights of classes keeps its aim: its leaves are refitted and judged by them."""

import re
import warnings

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier, sum_models, to_classifier
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier, thin
from dualboost.errors import ThinningWarning
from dualboost.thinning import adapter_for
from dualboost.thinning.trials import read_rows

SICK = 0.12


def rare(n=1500, seed=0):
    """One row in eight of a class, which can be told apart in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] + 1.2 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 1.0 - SICK), "sick", "healthy")


def sick(n=600, seed=0):
    """The same as numbers."""
    X, y = rare(n, seed)
    return X, (y == "sick").astype(int)


def three(n=600, seed=0):
    """Two rare classes."""
    X, _ = sick(n, seed)
    return X, np.digitize(X[:, 0] + 0.8 * np.random.default_rng(seed).normal(size=n), [1.2, 2.0])


XGB = {"n_estimators": 10, "max_depth": 2, "n_jobs": 1}
LGB = {"n_estimators": 10, "max_depth": 2, "verbose": -1, "n_jobs": 1}
CAT = {"iterations": 10, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
BALANCE = (1.0 - SICK) / SICK


def xgb(**weights):
    return xgboost.XGBClassifier(**XGB, **weights)


def lgb(**options):
    return lightgbm.LGBMClassifier(**LGB | options)


def cat(**weights):
    return CatBoostClassifier(**CAT, **weights)


MODELS = {
    "ours": lambda weights: DualBoostClassifier(max_depth=2, max_trees=15, class_weight=weights),
    "LightGBM": lambda weights: lightgbm.LGBMClassifier(
        n_estimators=20, max_depth=2, verbose=-1, n_jobs=1, class_weight=weights
    ),
    "forest": lambda weights: RandomForestClassifier(20, max_depth=3, random_state=0, class_weight=weights),
    "AdaBoost": lambda weights: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2, class_weight=weights), n_estimators=5, learning_rate=0.1, random_state=0
    ),
    "bagging": lambda weights: BaggingClassifier(
        DecisionTreeClassifier(max_depth=3, class_weight=weights), 10, random_state=0
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_balanced_classes_stays_one(name):
    X, y = rare()
    new, labels = rare(seed=1)
    large = MODELS[name]("balanced").fit(X, y)
    small = thin(large, X, y, tolerance=0.01, random_state=0).model
    before, after = (balanced_accuracy_score(labels, model.predict(new)) for model in (large, small))
    assert before > 0.75
    assert after > before - 0.05


OWN = {
    "XGBoost": xgb(scale_pos_weight=BALANCE),
    "XGBoost, raw": xgb(scale_pos_weight=2 * BALANCE, objective="binary:logitraw"),
    "LightGBM": lgb(scale_pos_weight=BALANCE),
    "LightGBM, unbalanced": lgb(is_unbalance=True),
    "LightGBM, alias": lgb(unbalanced_sets=True),
    "CatBoost": cat(scale_pos_weight=BALANCE),
    "CatBoost, balanced": cat(auto_class_weights="Balanced"),
    "CatBoost, list": cat(class_weights=[1.0, BALANCE]),
    "CatBoost, dict": cat(class_weights={1: BALANCE, 0: 1.0}),
    "CatBoost, softmax": cat(class_weights=[1.0, BALANCE], loss_function="MultiClass"),
}


@pytest.mark.parametrize("model", OWN.values(), ids=OWN)
def test_a_model_with_the_weights_of_its_own_library_keeps_its_rare_class(model):
    X, y = sick()
    large = model.fit(X, y)
    small = thin(large, X, y, tolerance=0.02, random_state=0).model
    before, after = (balanced_accuracy_score(y, np.ravel(one.predict(X))) for one in (large, small))
    assert before > 0.7
    assert after > before - 0.08


@pytest.mark.parametrize(
    "model",
    [cat(auto_class_weights="Balanced"), lgb(class_weight="balanced", n_estimators=6)],
    ids=["CatBoost", "LightGBM"],
)
def test_several_classes_of_which_two_are_rare(model):
    X, y = three()
    large = model.fit(X, y)
    small = thin(large, X, y, tolerance=0.02, random_state=0).model
    before, after = (balanced_accuracy_score(y, np.ravel(one.predict(X))) for one in (large, small))
    assert before > 0.6
    assert after > before - 0.08


def lgb_booster(X, y, **weights):
    return lightgbm.train({"objective": "binary", "verbose": -1, **weights}, lightgbm.Dataset(X, y), 3)


def xgb_booster(X, y, **weights):
    params = {"objective": "binary:logistic", "max_depth": 2, **weights}
    return xgboost.train(params, xgboost.DMatrix(X, y), 3)


def saved_and_loaded(model, path):
    model.save_model(path)
    return type(model)().load_model(path)


def bagged(class_weight):
    return BaggingClassifier(DecisionTreeClassifier(max_depth=2, class_weight=class_weight), 3)


def counted(y, power=1.0):
    """The largest class has a weight of one."""
    counts = np.bincount(y)
    return (counts.max() / counts) ** power


READ = {
    "XGBoost, booster": (sick, lambda X, y: xgb_booster(X, y, scale_pos_weight=3.0), [1.0, 3.0]),
    "LightGBM, booster": (sick, lambda X, y: lgb_booster(X, y, scale_pos_weight=3.0), [1.0, 3.0]),
    "LightGBM, booster, alias": (sick, lambda X, y: lgb_booster(X, y, unbalance="true"), counted),
    "LightGBM, two kinds": (sick, lgb(class_weight={1: 2.0}, scale_pos_weight=3.0).fit, [1.0, 6.0]),
    "LightGBM, twice": (sick, lgb(class_weight="balanced", is_unbalance=True).fit, lambda y: counted(y, 2.0)),
    "LightGBM, entropy": (sick, lgb(objective="cross_entropy", scale_pos_weight=3.0).fit, [1.0, 1.0]),
    "LightGBM, words": (rare, lgb(scale_pos_weight=3.0).fit, [1.0, 3.0]),
    "LightGBM, three": (three, lgb(class_weight={2: 5.0}).fit, [1.0, 1.0, 5.0]),
    "LightGBM, three, ignored": (three, lgb(is_unbalance=True).fit, [1.0, 1.0, 1.0]),
    "CatBoost, square root": (sick, cat(auto_class_weights="SqrtBalanced").fit, lambda y: counted(y, 0.5)),
    "CatBoost, three": (three, cat(class_weights=[1.0, 2.0, 5.0]).fit, [1.0, 2.0, 5.0]),
    "CatBoost, three, balanced": (three, cat(auto_class_weights="Balanced").fit, counted),
    "CatBoost, words": (rare, cat(class_weights={"sick": 4.0, "healthy": 2.0}).fit, [1.0, 2.0]),
    "CatBoost, three, in an order of its own": (
        three,
        cat(class_weights={2: 5.0, 0: 1.0, 1: 2.0}).fit,
        [1.0, 2.0, 5.0],
    ),
    "bagging": (rare, bagged({1: 4.0}).fit, [1.0, 4.0]),
    "bagging, balanced": (sick, bagged("balanced").fit, counted),
    "a list": (sick, lambda X, y: [lgb(class_weight={1: 4.0}).fit(X, y) for _ in range(2)], [1.0, 4.0]),
    "nothing": (sick, xgb().fit, [1.0, 1.0]),
}


@pytest.mark.parametrize("name", READ)
def test_rows_weigh_as_they_did_in_training(name):
    """Up to a factor that all rows share."""
    data, fit, expected = READ[name]
    X, y = data()
    codes = np.unique(y, return_inverse=True)[1]
    expected = np.asarray(expected(codes) if callable(expected) else expected)
    counts = read_rows(adapter_for(fit(X, y)), X, y, None).counts
    np.testing.assert_allclose(counts / counts.min(), (expected / expected.min())[codes], rtol=1e-6)


def test_catboost_counts_rows_by_their_weights_and_lightgbm_does_not():
    X, y = sick()
    rows = np.where(y == 1, 3.0, 1.0)
    for model, expected in ((cat(auto_class_weights="Balanced"), BALANCE), (lgb(is_unbalance=True), 3 * BALANCE)):
        counts = read_rows(adapter_for(model.fit(X, y, sample_weight=rows)), X, y, rows).counts
        np.testing.assert_allclose(counts[y == 1][0] / counts[y == 0][0], expected, rtol=1e-6)


def test_models_from_files_keep_their_weights(tmp_path):
    X, y = sick()
    models = (cat(scale_pos_weight=3.0).fit(X, y), tmp_path / "model.cbm"), (xgb_booster(X, y), tmp_path / "model.ubj")
    loaded = saved_and_loaded(models[0][0], str(models[0][1]))
    assert set(read_rows(adapter_for(loaded), X, y, None).counts) == {1.0, 3.0}
    xgb_booster(X, y, scale_pos_weight=3.0).save_model(models[1][1])
    loaded = xgboost.Booster(model_file=models[1][1])
    assert set(read_rows(adapter_for(loaded), X, y, None).counts) == {1.0, 3.0}


@pytest.mark.parametrize("weights", [{"sick": 6.0, "healthy": 0.5}, {"sick": 6.0}], ids=str)
def test_weights_by_class_are_weights_of_rows(weights):
    """As multiplicities, without folds, whose models would be trained with the weights twice."""
    X, y = rare()
    large = MODELS["LightGBM"](weights).fit(X, y)
    plain = MODELS["LightGBM"](None).fit(X, y, sample_weight=[weights.get(label, 1.0) for label in y])
    found = thin(large, X, y, tolerance=0.02, validation_fraction=None)
    rows = [weights.get(label, 1.0) for label in y]
    expected = thin(plain, X, y, sample_weight=rows, tolerance=0.02, validation_fraction=None)
    np.testing.assert_array_equal(found.kept, expected.kept)
    np.testing.assert_allclose(found.model.predict_proba(X), expected.model.predict_proba(X), rtol=1e-9)


def test_forests_that_balance_the_rows_of_each_tree_count_as_balanced():
    X, y = rare()
    forest = MODELS["forest"]("balanced_subsample").fit(X, y)
    small = thin(forest, X, y, tolerance=0.005, random_state=0).model
    assert balanced_accuracy_score(y, small.predict(X)) > 0.75


def cat_sum(X, y):
    return to_classifier(sum_models([cat(scale_pos_weight=weight).fit(X, y) for weight in (2.0, 4.0)]))


def without_parameters(X, y):
    text = lgb_booster(X, y, is_unbalance=True).model_to_string()
    return lightgbm.Booster(model_str=re.sub(r"\nparameters:.*?end of parameters\n", "\n", text, flags=re.DOTALL))


UNREAD = {
    "a sum of CatBoost's": (cat_sum, "it has no parameters of a training.*scoring='balanced_accuracy'"),
    "a text of LightGBM's": (without_parameters, "its text has no parameters of a training.*scoring="),
    "a list": (
        lambda X, y: [lgb().fit(X, y), lgb(class_weight="balanced").fit(X, y)],
        "class_weight='balanced' weighs classes in a part of the model.*scoring=",
    ),
    "a list that begins with weights": (
        lambda X, y: [lgb(class_weight="balanced").fit(X, y), lgb().fit(X, y)],
        "class_weight='balanced' weighs classes in a part of the model.*scoring=",
    ),
    "members of other libraries": (
        lambda X, y: BaggingClassifier(xgb(scale_pos_weight=3.0), 2).fit(X, y),
        "scale_pos_weight=3.0 weighs classes in a part of the model.*scoring=",
    ),
    "a regressor": (
        lambda X, y: lightgbm.LGBMRegressor(**LGB, class_weight={0: 1.0, 1: 5.0}).fit(X, y),
        "y has numbers, and they are.*pass the weights of the rows as sample_weight",
    ),
}


@pytest.mark.filterwarnings("ignore:The thinned model predicts class")  # the tolerance is large
@pytest.mark.parametrize("name", UNREAD)
def test_weights_that_cannot_be_read_are_warned_of_unless_the_call_has_an_aim(name):
    X, y = sick(200)
    fit, words = UNREAD[name]
    model, options = fit(X, y), {"tolerance": 0.3, "validation_fraction": None}
    with pytest.warns(ThinningWarning, match=f"cannot be read: {words}"):
        thin(model, X, y, **options)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        thin(model, X, y, sample_weight=np.ones(len(y)), **options)
    assert not [str(own.message) for own in raised if "cannot be read" in str(own.message)]


def plain_accuracy(y, predicted):
    return np.mean(y == predicted)


WEIGHTED = " (weights of classes)"
LABELS = {
    "weights": ({"scale_pos_weight": 8.0}, None, f"accuracy, validation{WEIGHTED}"),
    "no weights": ({}, None, "accuracy, validation"),
    "another score": ({"scale_pos_weight": 8.0}, "neg_log_loss", f"neg_log_loss, validation{WEIGHTED}"),
    "a metric without weights": (
        {"scale_pos_weight": 8.0},
        make_scorer(plain_accuracy),
        "plain_accuracy, validation",
    ),
}


@pytest.mark.parametrize("name", LABELS)
def test_a_score_weighted_by_class_is_labelled_so(name):
    weights, scoring, label = LABELS[name]
    X, _ = rare(400)
    y = (X[:, 0] + X[:, 1] + np.random.default_rng(1).normal(size=len(X)) > 0).astype(int)
    large = xgb(**weights).fit(X, y)
    result = thin(large, X, y, tolerance=0.05, validation_data=(X, y), scoring=scoring)
    summary = result.summary()
    assert [own for own in summary if "validation" in own] == [label]
    assert summary["accuracy, rows given"][0] == pytest.approx(large.score(X, y))
    assert ("weights of classes" in result.judged_on) == label.endswith(WEIGHTED)
    if scoring != "neg_log_loss":
        counts = np.where(y == 1, 8.0, 1.0) if label.endswith(WEIGHTED) else None
        assert result.full_score == pytest.approx(large.score(X, y, counts), abs=1e-6)
    lines = str(summary).splitlines()
    assert len({len(line) for line in lines if not line.endswith(" ")}) == 1


def with_a_rare_class(several, seed):
    """A class of 4 % of the rows, and one or two others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(600, 5))
    score = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=len(X))
    others = (X[:, 2] > 0).astype(int) if several else 0
    return X, np.where(score > np.quantile(score, 0.96), 1 + several, others)


@pytest.mark.parametrize(("several", "ranking"), [(0, "roc_auc"), (1, "roc_auc_ovr")])
def test_a_class_that_is_no_longer_predicted_is_warned_of(several, ranking):
    X, y = with_a_rare_class(several, seed=0)
    large = xgboost.XGBClassifier(n_estimators=20, max_depth=1, n_jobs=1).fit(X, y)
    new = with_a_rare_class(several, seed=1)
    lost, n = y.max(), np.sum(large.predict(X) == y.max())
    words = f"predicts class {lost} for no row of X; the original model did for {n} of 600.*_accuracy' or '{ranking}'"
    with pytest.warns(ThinningWarning, match=words) as raised:
        result = thin(large, X, y, tolerance=0.05, validation_data=new)
    assert raised[0].filename == __file__
    assert lost not in result.model.predict(X)
    kept = thin(large, X, y, tolerance=0.01, validation_data=new, scoring="balanced_accuracy")
    assert lost in kept.model.predict(X)
