"""What can be a base learner, and what is said of the rest."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualboost import DualBoostClassifier
from dualboost.errors import InvalidDataError, InvalidParameterError
from dualboost.learners import CartLearner, ClassifierLearner, require_learner


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        ("forest", "forest"),
        ([], "empty pool"),
        (("cart", 3), "is no learner"),
        (LinearRegression(), "is no learner"),
        (3, "is no learner"),
        (RidgeClassifier, r"did you mean RidgeClassifier\(\)"),
        (CartLearner, r"did you mean CartLearner\(\)"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "sample_weight"),
        (KNeighborsClassifier(), "sample_weight"),
        (["cart", KNeighborsClassifier()], "sample_weight"),
    ],
    ids=str,
)
def test_others_are_refused_by_name(learner, message):
    with pytest.raises(InvalidParameterError, match=message):
        require_learner(learner)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_a_classifier_cannot_take_are_told(n_classes):
    X, y = np.arange(30.0)[:, None], np.arange(30) % n_classes
    X[3] = np.nan
    with pytest.raises(
        InvalidDataError, match=r"learner=LogisticRegression\(.*\) cannot be fitted .*NaN.*learner='cart'"
    ):
        DualBoostClassifier("lp", learner=LogisticRegression()).fit(X, y)


def test_confidence_needs_probabilities():
    with pytest.raises(InvalidParameterError, match="predict_proba"):
        ClassifierLearner(RidgeClassifier(), voting="confidence")


@pytest.mark.parametrize("voting", ["hard", "confidence"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_rows_that_a_classifier_cannot_take_are_told(n_classes, voting):
    X, y = np.arange(30.0)[:, None], np.arange(30) * n_classes // 30
    clf = DualBoostClassifier("nm", learner=ClassifierLearner(LogisticRegression(), voting), calibration="training")
    clf.fit(X, y)
    with pytest.raises(InvalidDataError, match=r"learner=LogisticRegression\(.*\) cannot predict these rows: .*NaN"):
        clf.predict(np.full((2, 1), np.nan))
