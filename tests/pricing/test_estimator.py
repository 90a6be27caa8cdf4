"""What can be a base learner, and what is said of the rest."""

import pytest
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualboost.errors import InvalidParameterError
from dualboost.pricing import CartLearner, ClassifierLearner, require_learner


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


def test_confidence_needs_probabilities():
    with pytest.raises(InvalidParameterError, match="predict_proba"):
        ClassifierLearner(RidgeClassifier(), voting="confidence")
