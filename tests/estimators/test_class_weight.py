"""``class_weight``: the same model as with sample weights by hand, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.class_weight import compute_sample_weight

from dualboost import DualBoostClassifier, DualBoostClassifierCV, load_model
from dualboost.errors import InvalidDataError, InvalidParameterError

KINDS = {2: np.array(["no", "yes"]), 3: np.array([3, 5, 9])}


def rows(n_classes, n=240, seed=0):
    """Classes of which each is half as frequent as the one before, and that overlap."""
    rng = np.random.default_rng(seed)
    codes = rng.choice(n_classes, n, p=0.5 ** np.arange(n_classes) / (2 - 0.5 ** (n_classes - 1)))
    return rng.normal(size=(n, 3)) + 0.7 * codes[:, None], KINDS[n_classes][codes]


def weights_of(classes):
    return {name: 1.0 + 2.5 * k for k, name in enumerate(classes.tolist())}


def assert_same_model(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    np.testing.assert_array_equal(one.duals_, other.duals_)
    assert one.objective_ == other.objective_


@pytest.mark.parametrize("n_classes", KINDS)
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize(
    "clf",
    [
        DualBoostClassifier(max_depth=2, max_trees=5),
        DualBoostClassifier(max_depth=2, max_trees=9, n_iter_no_change=3, random_state=0),
        DualBoostClassifierCV(Cs=2, max_depth=2, max_trees=3, random_state=0),
    ],
    ids=["plain", "early stopping", "tuned"],
)
def test_it_is_the_sample_weight_of_scikit_learn(clf, balanced, n_classes):
    X, y = rows(n_classes)
    class_weight = "balanced" if balanced else weights_of(KINDS[n_classes])
    by_hand = clone(clf).fit(X, y, sample_weight=compute_sample_weight(class_weight, y))
    assert_same_model(clone(clf).set_params(class_weight=class_weight).fit(X, y), by_hand, X)


def test_it_multiplies_the_sample_weight():
    X, y = rows(3)
    weights, by_class = np.random.default_rng(0).gamma(2.0, size=len(y)), weights_of(KINDS[3])
    options = {"max_depth": 2, "max_trees": 4}
    by_hand = DualBoostClassifier(**options).fit(X, y, weights * compute_sample_weight(by_class, y))
    assert_same_model(DualBoostClassifier(class_weight=by_class, **options).fit(X, y, weights), by_hand, X)


@pytest.mark.parametrize("formulation", ["logistic", "nm"])
def test_a_weight_of_two_is_the_row_twice(formulation):
    X, y = rows(2)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    clf = DualBoostClassifier(formulation, max_depth=2, max_trees=4, class_weight="balanced", calibration="training")
    repeated = clone(clf).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = clone(clf).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-9)


def test_a_rare_class_is_found_more_often():
    X, y = rows(3, n=600)
    plain, balanced = (
        DualBoostClassifier(max_depth=2, max_trees=5, class_weight=value).fit(X, y) for value in (None, "balanced")
    )
    recall = [recall_score(y, clf.predict(X), labels=[9], average=None)[0] for clf in (plain, balanced)]
    assert recall[1] > recall[0] + 0.1


@pytest.mark.filterwarnings("ignore::dualboost.errors.ConstantPredictionWarning")
@pytest.mark.parametrize("left_out", ["no", "yes"])
def test_classes_that_a_dict_leaves_out_weigh_one(left_out):
    X, y = rows(2)
    by_class = {"no": 1.0, "yes": 1.0} | {name: 3.0 for name in KINDS[2] if name != left_out}
    full = DualBoostClassifier(max_trees=3, class_weight=by_class).fit(X, y)
    part = DualBoostClassifier(max_trees=3, class_weight={k: v for k, v in by_class.items() if k != left_out}).fit(X, y)
    assert_same_model(full, part, X)


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("balance", r"class_weight='balance' must be None, 'balanced', or a dict"),
        ("balanced_subsample", "class_weight='balanced_subsample'"),
        ([1.0, 2.0], r"class_weight=\[1.0, 2.0\] must be None"),
        (2.0, "class_weight=2.0"),
        ({"no": -1.0}, r"class_weight\['no'\]=-1.0 must be a finite number above 0"),
        ({"no": 0}, r"class_weight\['no'\]=0"),
        ({"no": np.nan}, r"class_weight\['no'\]=nan"),
        ({"no": "2"}, r"class_weight\['no'\]='2'"),
        ({"no": 1, "Yes": 2}, r"has a weight for 'Yes', which is no class of y; the classes are \['no', 'yes'\]"),
        ({0: 1, 1: 2}, "has a weight for 0, which is no class"),
    ],
)
@pytest.mark.parametrize("estimator", [DualBoostClassifier, DualBoostClassifierCV])
def test_what_is_no_class_weight_is_refused(estimator, value, named):
    with pytest.raises(InvalidParameterError, match=named):
        estimator(class_weight=value).fit(*rows(2))


def test_a_class_without_a_row_to_train_on_is_told_before_it_is_weighed():
    X, y = rows(3)
    with pytest.raises(InvalidDataError, match="No row of class 9 has a positive sample_weight"):
        DualBoostClassifier(class_weight="balanced").fit(X, y, sample_weight=(y != 9).astype(float))


def test_a_fold_may_lack_a_class_that_has_a_weight():
    X, y = rows(3)
    y = np.where(np.arange(len(y)) == 7, 11, y)
    clf = DualBoostClassifier(max_trees=2, class_weight=weights_of(np.append(KINDS[3], 11)))
    with pytest.warns(UserWarning, match="least populated class"):
        assert np.isfinite(cross_val_score(clf, X, y, cv=3)).all()


def test_a_grid_search_over_it():
    X, y = rows(2)
    by_class = weights_of(KINDS[2])
    clf = DualBoostClassifier(max_trees=3, max_depth=2, class_weight=by_class)
    assert clone(clf).get_params()["class_weight"] == by_class
    search = GridSearchCV(clf, {"class_weight": [None, "balanced", by_class]}, cv=2, scoring="balanced_accuracy")
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert max(scores[1:]) > scores[0]


LABELS = {
    "words": np.array(["no", "yes"]),
    "booleans": np.array([False, True]),
    "numbers": np.array([-1, 1]),
    "small numbers": np.array([0, 7], dtype=np.int8),
    "floats": np.array([0.0, 1.0]),
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS)
def test_a_model_file_keeps_it(labels, tmp_path):
    X, y = rows(2)
    y = LABELS[labels][(y == "yes").astype(int)]
    for value in ("balanced", None, dict(zip(LABELS[labels], (1, np.float64(2.5)), strict=True))):
        clf = DualBoostClassifier(max_trees=2, class_weight=value).fit(X, y)
        clf.save(tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        assert loaded.class_weight == value
        assert_same_model(loaded.fit(X, y), clf, X)


def test_keys_of_a_table_by_any_type_of_label():
    X, y = rows(2)
    codes = (y == "yes").astype(int)
    expected = DualBoostClassifier(max_trees=2, class_weight={0: 1, 1: 3}).fit(X, codes)
    for labels in (codes.astype(bool), codes.astype(float), pd.Series(codes).astype("Int64")):
        assert_same_model(DualBoostClassifier(max_trees=2, class_weight={0: 1, 1: 3}).fit(X, labels), expected, X)
