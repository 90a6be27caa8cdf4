"""A model that was trained with weights of classes keeps its aim: its leaves are refitted and judged by them."""

import lightgbm
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score

from dualboost import DualBoostClassifier, thin


def rare(n=1500, seed=0):
    """One row in eight of a class, which can be told apart in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    score = X[:, 0] + X[:, 1] + 1.2 * rng.normal(size=n)
    return X, np.where(score > np.quantile(score, 0.88), "sick", "healthy")


MODELS = {
    "ours": lambda weights: DualBoostClassifier(max_depth=2, max_trees=15, class_weight=weights),
    "LightGBM": lambda weights: lightgbm.LGBMClassifier(
        n_estimators=20, max_depth=2, verbose=-1, n_jobs=1, class_weight=weights
    ),
    "forest": lambda weights: RandomForestClassifier(20, max_depth=3, random_state=0, class_weight=weights),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_balanced_classes_stays_one(name):
    X, y = rare()
    new, labels = rare(seed=1)
    large = MODELS[name]("balanced").fit(X, y)
    small = thin(large, X, y, tolerance=0.005, random_state=0).model
    before, after = (balanced_accuracy_score(labels, model.predict(new)) for model in (large, small))
    assert before > 0.75
    assert after > before - 0.05


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
