"""Trees for leaves that are re-optimised: which of several equally good splits is taken."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dualboost.learners import CartLearner, PricingContext, TrainingData


@given(seed=st.integers(0, 9_999), scale=st.sampled_from([1e-6, 1.0, 1e3]), ridge=st.sampled_from([0.1, 30.0]))
def test_of_equally_good_splits_that_of_the_first_feature_is_taken(seed, scale, ridge):
    """The second feature is the first one backwards, so that sums over its bins are added up in another order.

    Curvatures are alike, since LightGBM estimates numbers of rows by them, which decides whether a leaf has any.
    """
    rng = np.random.default_rng(seed)
    values, residual, curvature = rng.integers(0, 30, 80).astype(float), rng.normal(size=80), rng.uniform(0.9, 1.1, 80)
    grower = CartLearner(max_depth=3).grower(
        TrainingData(np.column_stack([values, -values]), []), PricingContext(max_depth=3)
    )
    grown = grower.grow(scale * residual, curvature, ridge)
    assert grown is not None
    assert (grown.tree.feature == 0).all()
