"""Trees grown on samples of the rows: what is drawn, and what the fitted model may not depend on."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from dualboost import DualBoostClassifier, DualBoostRegressor
from dualboost.boosting.leaf_context import FEWEST_ROWS, LEAST_SHARE, RowSamples, part, share_of_rows

KEYS = np.random.default_rng(0).integers(2**64, size=20_000, dtype=np.uint64)
X, Y = make_classification(160, 6, n_informative=4, flip_y=0.2, random_state=0)


def draw(samples):
    (mask, share), (rest, whole) = samples.draws()
    assert rest is None
    assert whole == 1.0
    return mask, share


def test_a_share_of_the_rows_is_drawn_anew_each_time():
    samples = RowSamples(KEYS, 0.7, seed=3)
    (first, share), (second, _) = draw(samples), draw(samples)
    assert share == 0.7
    assert first.mean() == pytest.approx(0.7, abs=0.015)
    assert (first & second).mean() == pytest.approx(0.49, abs=0.02)


def test_what_is_drawn_belongs_to_the_row_and_not_to_its_place():
    order = np.random.default_rng(1).permutation(len(KEYS))
    one, _ = draw(RowSamples(KEYS, 0.5, seed=7))
    other, _ = draw(RowSamples(KEYS[order], 0.5, seed=7))
    assert (one[order] == other).all()


def test_targets_of_opposite_sign_are_drawn_alike():
    one, _ = draw(RowSamples(KEYS, 0.5))
    other, _ = draw(RowSamples(KEYS ^ np.uint64(1), 0.5))
    assert (one == other).all()


def test_all_rows_need_no_draw():
    assert list(RowSamples(KEYS, 1.0).draws()) == [(None, 1.0)]


def test_rows_not_drawn_are_zero():
    mask = np.array([True, False])
    assert part(np.array([3.0, 4.0]), mask).tolist() == [3.0, 0.0]
    assert part(np.array([[3.0, 1.0], [4.0, 2.0]]), mask).tolist() == [[3.0, 1.0], [0.0, 0.0]]


def test_the_more_leaves_the_fewer_rows_a_tree_sees():
    shares = [share_of_rows(n_leaves, 1000) for n_leaves in (0, 250, 300, 400, 500, 10_000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[:2] == [1.0, 1.0]
    assert shares[-2:] == [LEAST_SHARE, LEAST_SHARE]
    assert share_of_rows(10_000, FEWEST_ROWS - 1) == share_of_rows(10_000, 1000, n_outputs=3) == 1.0


@pytest.mark.parametrize("make", [DualBoostClassifier, DualBoostRegressor])
def test_the_model_depends_on_the_seed_and_on_nothing_else(make):
    def scores(X, y, **options):
        model = make(max_depth=3, max_trees=12, **options).fit(X, y)
        assert model.gap_ <= 1e-6
        return (model.decision_function if make is DualBoostClassifier else model.predict)(X_GIVEN)

    X_GIVEN, order = X, np.random.default_rng(2).permutation(len(X))
    expected = scores(X, Y, random_state=5)
    assert (scores(X, Y, random_state=5, n_jobs=2) == expected).all()
    np.testing.assert_allclose(scores(X[order], Y[order], random_state=5), expected, rtol=1e-9, atol=1e-12)
    assert (scores(X, Y, random_state=6) != expected).any()
    assert (scores(X, Y) == scores(X, Y, random_state=None)).all()
