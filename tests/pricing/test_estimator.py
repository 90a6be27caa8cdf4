"""What can be a base learner, and what is said of the rest."""

import pytest
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualboost.errors import InvalidParameterError
from dualboost.pricing import require_learner


@pytest.mark.parametrize(
    ("learner", "voting", "message"),
    [
        ("forest", "hard", "forest"),
        ([], "hard", "empty pool"),
        (("cart", 0), "hard", "depth"),
        (LinearRegression(), "hard", "not a scikit-learn classifier"),
        (3, "hard", "not a scikit-learn classifier"),
        (RidgeClassifier, "hard", r"did you mean RidgeClassifier\(\)"),
        (("cart", True), "hard", "depth"),
        (make_pipeline(StandardScaler(), KNeighborsClassifier()), "hard", "sample_weight"),
        (KNeighborsClassifier(), "hard", "sample_weight"),
        (RidgeClassifier(), "confidence", "predict_proba"),
        (["cart", KNeighborsClassifier()], "hard", "sample_weight"),
    ],
    ids=str,
)
def test_others_are_refused_by_name(learner, voting, message):
    with pytest.raises(InvalidParameterError, match=message):
        require_learner(learner, voting)
