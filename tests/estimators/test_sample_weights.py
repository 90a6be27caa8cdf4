"""A row of weight k is the row k times; weight zero is absence; real weights are a matter of scale."""

import numpy as np
import pytest

from dualboost import DualBoostClassifier
from dualboost.errors import InvalidDataError, InvalidParameterError

from ..conftest import small_dataset


def same_model(one, other, X):
    np.testing.assert_array_equal(one.votes(X), other.votes(X))
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-12)
    np.testing.assert_allclose(one.history_["objective"], other.history_["objective"], rtol=1e-12)
    assert one.stop_reason_ == other.stop_reason_


@pytest.mark.parametrize("depth", [1, 3])
def test_weights_equal_repeated_rows(formulation_shape, depth):
    X, y = small_dataset("twonorm")
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    clf = DualBoostClassifier(formulation_shape, max_depth=depth, calibration="training", max_trees=20)
    weighted = clf.fit(X, y, sample_weight=weights)
    order = np.random.default_rng(1).permutation(weights.sum())
    repeated = DualBoostClassifier(formulation_shape, max_depth=depth, calibration="training", max_trees=20).fit(
        np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order]
    )
    same_model(weighted, repeated, X)
    assert (weighted.duals_[weights == 0] == 0).all()
    np.testing.assert_allclose(
        np.sort(np.repeat(weighted.duals_ / np.maximum(weights, 1), weights)),
        np.sort(repeated.duals_),
        atol=1e-12,
    )


def test_zero_weight_rows_are_never_seen(formulation_shape):
    X, y = small_dataset("ringnorm")
    weights = np.ones(len(y))
    weights[100:] = 0.0
    spoilt = X.copy()
    spoilt[100:] = 1e9
    one = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        spoilt, y, sample_weight=weights
    )
    other = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(X[:100], y[:100])
    same_model(one, other, X)


def test_real_weights_matter_by_their_sum_over_equal_rows(formulation_shape):
    X, y = small_dataset("waveform")
    weights = np.random.default_rng(2).exponential(size=len(y))
    whole = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        X, y, sample_weight=weights
    )
    halves = DualBoostClassifier(formulation_shape, calibration="training", max_trees=10).fit(
        np.vstack([X, X]), np.r_[y, y], sample_weight=np.r_[0.25 * weights, 0.75 * weights]
    )
    np.testing.assert_allclose(whole.objective_, halves.objective_, rtol=1e-6)
    np.testing.assert_array_equal(whole.votes(X), halves.votes(X))


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_default_C_follows_the_scale_of_the_weights(formulation_shape, scale):
    """With C=None a common factor of all weights changes nothing but what depends on ln M."""
    X, y = small_dataset("twonorm")
    n_trees = 100 if formulation_shape == "hard" else 10  # before it separates the classes, a tie is its best margin
    clf = DualBoostClassifier(formulation_shape, calibration="training", max_trees=n_trees).fit(
        X, y, sample_weight=np.full(len(y), scale)
    )
    assert clf.gap_ <= 1e-6
    assert clf.score(X, y) > 0.8


def test_weights_that_no_model_file_could_hold_are_refused():
    X, y = small_dataset("twonorm")
    with pytest.raises(
        InvalidDataError, match=r"sample_weight contains 1e\+95; the largest weight may be 1e\+90: divide"
    ):
        DualBoostClassifier(max_trees=2).fit(X, y, sample_weight=np.full(len(y), 1e95))


@pytest.mark.parametrize("formulation", ["qrlp", "erlp"])
@pytest.mark.parametrize("total", [np.sum, sum, lambda weights: sum(weights[::-1])], ids=["numpy", "forwards", "back"])
def test_C_may_be_the_total_of_the_weights(formulation, total):
    """In whatever order it was added up: the bound is the same number up to rounding."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)).round(1)
        y = X[:, 0] + rng.normal(size=60) > 0
        weights = rng.random(60) * 10.0 ** rng.integers(-3, 4)
        clf = DualBoostClassifier(formulation, C=total(weights), max_trees=2, calibration="training")
        assert clf.fit(X, y, sample_weight=weights).gap_ <= 1e-6
    with pytest.raises(InvalidParameterError, match="the total of the sample weights"):
        clf.set_params(C=1.0001 * total(weights)).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("unit", [1e-48, 1e-9, 1e20])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("formulation", ["md", "md-full", "nm", "lp-nu"])
def test_the_unit_of_the_weights_does_not_matter(formulation, n_classes, unit):
    """Their sizes may differ too: by a factor of a million here."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=80), [0.5, 1.5][: n_classes - 1])
    weights = np.exp(3.0 * rng.normal(size=80))
    one, other = (
        DualBoostClassifier(formulation, max_depth=2, calibration="training", max_trees=5, optimize="weights").fit(
            X, y, sample_weight=factor * weights
        )
        for factor in (1.0, unit)
    )
    assert other.gap_ <= 1e-6
    assert other.objective_ / (1.0 if formulation == "lp-nu" else unit) == pytest.approx(one.objective_, rel=2e-6)
