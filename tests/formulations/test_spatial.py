"""Spatial LP-Boost: weights of neighbouring features that are alike, on images with a block of informative pixels."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from dualboost import CartLearner, DualBoostClassifier, DualBoostClassifierCV, SolverOptions, load_model
from dualboost.errors import DegenerateEnsembleWarning, InvalidParameterError
from dualboost.formulations import SpatialLPBoost
from dualboost.formulations.side_rows import most_neighbours, neighbouring_pairs

from ..conftest import small_dataset
from ..paper_programmes import spatial
from ..thoroughness import every

SHAPE = (10, 10)
BLOCK = np.zeros(SHAPE, dtype=bool)
BLOCK[2:5, 3:7] = True


def images(n, seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    return rng.normal(size=(n, BLOCK.size)) + 0.5 * y[:, None] * BLOCK.ravel(), y


STUMPS_AND_TREES = every([{}, {"criterion": "edge"}, {"max_depth": 2}], few=[{}])
X, Y = images(200, 0)
X_NEW, Y_NEW = images(2000, 1)


def fitted(smoothness, **options):
    return fitted_by(SpatialLPBoost(smoothness=smoothness, neighbours=SHAPE), **options)


def fitted_by(formulation, **options):
    options = {"C": 0.05, "max_trees": 150} | options
    options["learner"] = CartLearner(criterion=options.pop("criterion", "gini"))
    return DualBoostClassifier(formulation, **{"calibration": "training", **options}).fit(X, Y)


def shares(clf):
    return np.transpose([learner.feature_gains(clf.n_features_in_) for learner in clf.estimators_])


def variation(clf):
    """The differences between neighbours for each unit of weight."""
    v = (shares(clf) @ clf.weights_).reshape(SHAPE)
    return (np.abs(np.diff(v, axis=0)).sum() + np.abs(np.diff(v, axis=1)).sum()) / clf.weights_.sum()


@pytest.mark.parametrize("options", STUMPS_AND_TREES, ids=str)
def test_without_smoothness_it_is_lp(options):
    plain, clf = fitted_by("lp", **options), fitted(0.0, **options)
    np.testing.assert_array_equal(clf.weights_, plain.weights_)
    assert (clf.objective_, clf.bound_, clf.stop_reason_) == (plain.objective_, plain.bound_, plain.stop_reason_)


@pytest.mark.parametrize("options", STUMPS_AND_TREES, ids=str)
def test_more_smoothness_makes_weights_smoother(options):
    found = [variation(fitted(smoothness, **options)) for smoothness in (0.0, 0.1, 0.3, 2.0)]
    assert (np.diff(found) < 0).all()
    assert found[-1] < 0.1 * found[0]


def test_it_finds_the_block():
    plain, smooth = (fitted(smoothness, criterion="edge") for smoothness in (0.0, 0.3))
    weight = [float((shares(clf) @ clf.weights_)[BLOCK.ravel()].sum() / clf.weights_.sum()) for clf in (plain, smooth)]
    assert weight[0] < 0.92
    assert weight[1] > 0.98
    assert smooth.score(X_NEW, Y_NEW) > plain.score(X_NEW, Y_NEW) + 0.02


@pytest.mark.parametrize("smoothness", every([0.03, 0.3, 1.0], few=[0.3]))
@pytest.mark.parametrize(
    "options", [{}, {"max_depth": 3}, {"solver": SolverOptions("highs"), "max_trees": 30}], ids=str
)
def test_the_optimum_over_the_columns_held(smoothness, options):
    clf = fitted(smoothness, **options)
    pairs = neighbouring_pairs(SHAPE, BLOCK.size)
    expected = spatial(Y[:, None] * clf.votes(X), 0.05, None, shares(clf), smoothness, pairs)
    assert clf.objective_ == pytest.approx(expected, rel=1e-6)
    assert clf.gap_ <= 1e-6


def test_every_held_column_respects_its_threshold():
    """No edge exceeds one plus what four neighbours can ask for, and some exceed one."""
    clf = fitted(0.1)
    edges = (clf.duals_ * Y) @ clf.votes(X)
    assert 1.0 < edges.max() <= 1.4 + 1e-6


def test_nothing_is_proven():
    clf = fitted(0.1, learner="optimal")
    assert clf.bound_ is None
    assert not clf.certified_


def test_classifiers_without_features_have_no_part_in_it():
    X, y = small_dataset("twonorm")
    plain, clf = (
        DualBoostClassifier(name, C=1.0, learner=GaussianNB(), calibration="training", max_trees=5).fit(X, y)
        for name in ("lp", "spatial")
    )
    np.testing.assert_allclose(clf.weights_, plain.weights_, atol=1e-9)


def test_columns_with_the_same_votes_on_other_features_are_two():
    X, y = small_dataset("integers")
    clf = DualBoostClassifier(SpatialLPBoost(smoothness=1.0), C=1.0, learner=CartLearner(criterion="edge"))
    clf.fit(np.repeat(X, 2, axis=1), y)
    votes = clf.votes(np.repeat(X, 2, axis=1))
    assert len(np.unique(votes, axis=1).T) < clf.n_generated_
    assert clf.gap_ <= 1e-6


@pytest.mark.parametrize("smoothness", every([0.0, 0.3, 1.0], few=[0.0, 0.3]))
def test_the_smallest_useful_C_is_enough(smoothness):
    with pytest.warns(DegenerateEnsembleWarning, match="smallest C that uses a learner is about") as caught:
        assert fitted(smoothness, C=1e-4, criterion="edge").n_trees_ == 0
    named = float(str(caught[0].message).split()[-1].rstrip("."))
    assert fitted(smoothness, C=1.01 * named, criterion="edge").n_trees_ > 0


def test_pairs_of_neighbours():
    assert [most_neighbours(one) for one in (None, (2, 3), (2, 3, 4), ((0, 3), (3, 0), (1, 3)))] == [2, 4, 6, 2]
    np.testing.assert_array_equal(neighbouring_pairs(None, 3), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(
        neighbouring_pairs((2, 3), 6), [[0, 3], [1, 4], [2, 5], [0, 1], [3, 4], [1, 2], [4, 5]]
    )
    given = SpatialLPBoost(neighbours=np.array([[3, 0], [0, 3], [1, 2]])).neighbours
    np.testing.assert_array_equal(neighbouring_pairs(given, 4), [[0, 3], [1, 2]])
    assert len(neighbouring_pairs(None, 1)) == 0
    assert len(neighbouring_pairs((2, 3, 4), 24)) == 12 + 16 + 18


@pytest.mark.parametrize(
    "neighbours", ["grid", (0, 3), 4, (2.5, 2), [[0, 1, 2]], [[1, 1]], [[-1, 0]], [], [[0], [1, 2]]]
)
def test_impossible_neighbours_are_refused(neighbours):
    with pytest.raises(InvalidParameterError, match="neighbours="):
        SpatialLPBoost(neighbours=neighbours)


@pytest.mark.parametrize("smoothness", [-0.1, np.nan, np.inf, "much", None, True])
def test_impossible_smoothness_is_refused(smoothness):
    with pytest.raises(InvalidParameterError, match="smoothness="):
        SpatialLPBoost(smoothness=smoothness)


def test_neighbours_that_are_not_of_these_rows_are_refused():
    with pytest.raises(InvalidParameterError, match="grid of 12 cells, but X has 100 columns"):
        DualBoostClassifier(SpatialLPBoost(neighbours=(3, 4))).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="names column 100, but X has 100 columns"):
        DualBoostClassifier(SpatialLPBoost(neighbours=[[0, 100]])).fit(X, Y)


@pytest.mark.parametrize("neighbours", [None, SHAPE, np.array([[0, 1], [7, 4]])], ids=str)
def test_model_files_keep_the_neighbours(neighbours, tmp_path):
    formulation = SpatialLPBoost(smoothness=np.float64(0.2), neighbours=neighbours)
    clf = DualBoostClassifier(formulation, calibration="training", max_trees=5).fit(X, Y)
    clf.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.formulation_ == clf.formulation_
    assert loaded.formulation.resolve(100.0) == formulation.resolve(100.0)
    np.testing.assert_array_equal(loaded.predict(X_NEW), clf.predict(X_NEW))


def test_C_is_tuned_with_side_rows():
    formulation = SpatialLPBoost(smoothness=0.2, neighbours=SHAPE)
    tuned = DualBoostClassifierCV(formulation, Cs=[0.03, 0.1, 0.3], cv=3, max_trees=60).fit(X, Y)
    assert tuned.score(X_NEW, Y_NEW) > 0.8
    assert tuned.formulation_.neighbours == SHAPE


def test_features_that_never_vary():
    with pytest.warns(DegenerateEnsembleWarning):
        clf = DualBoostClassifier("spatial").fit(np.zeros((30, 2)), np.arange(30) % 2)
    assert clf.gap_ <= 1e-6
