"""Synthetic input for each stage."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_breast_cancer

from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.formulations import FORMULATIONS
from dualboost.matrix.columns import Columns
from dualboost.matrix.rows import Rows

from .thoroughness import MECHANISMS, SHAPES, every, how_many

settings.register_profile(
    "dualboost",
    deadline=None,
    derandomize=True,
    max_examples=how_many(15, 100),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("dualboost")

ALL_FORMULATIONS = sorted(FORMULATIONS)
TRIED_FORMULATIONS = every(ALL_FORMULATIONS, MECHANISMS)
VOTES_ALONE = [name for name in ALL_FORMULATIONS if not FORMULATIONS[name].has_sides]
THINNING_FORMULATIONS = every(VOTES_ALONE, few=("lp", "nm", "md", "erlp", "lexi"))
"""Those that need to know no more of a column than its votes; guides have no part in thinning."""


def has_no_C(formulation):
    """Whether it asks for the margin of every row: on noisy rows, or with few stumps, the best one is that of a tie."""
    return len(set(FORMULATIONS[formulation]().C_grid(100))) == 1


class OneFeature:
    """A learner of which only its feature is known."""

    def __init__(self, feature):
        self.feature = feature

    def feature_gains(self, n_features):
        return (np.arange(n_features) == self.feature).astype(float)


def columns_of(labels, counts=None, votes=(), n_jobs=1, sides=None):
    """Columns of learners with these votes; what made them is noted: ``labels``, ``counts`` and ``features``."""
    counts = np.ones(len(labels)) if counts is None else counts
    columns = Columns(Rows(counts, (labels > 0).astype(np.intp), n_jobs), sides=sides)
    columns.labels, columns.counts, columns.features = labels, counts, []
    for column in votes:
        columns.append(labels * column)
    return columns


def stump_columns(n_rows=120, n_columns=20, seed=0, multiplicities=True, formulation=None, n_jobs=1):
    """Columns of random stumps on noisy data, no two alike; with the side rows of the formulation of that name."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_rows) < 0.45, 1.0, -1.0)
    X = rng.normal(size=(n_rows, 6)) + 0.4 * labels[:, None]
    counts = rng.integers(1, 4, n_rows).astype(float) if multiplicities else np.ones(n_rows)
    sides = None if formulation is None else FORMULATIONS[formulation]().side_rows(Rows(counts), 6)
    columns = columns_of(labels, counts, n_jobs=n_jobs, sides=sides)
    while columns.n_columns < n_columns:
        learner = OneFeature(rng.integers(6))
        entries = labels * np.where(X[:, learner.feature] > rng.normal(), 1.0, -1.0)
        if not columns.holds(entries, learner):
            columns.append(entries, learner)
            columns.features.append(learner.feature)
    return columns


def stump_shares(columns):
    """The share of each of six features in each column."""
    return np.eye(6)[:, columns.features]


def is_priced_by_votes(clf):
    """Whether the votes of a column, under the fitted sample weights, are all that it is worth."""
    sides = clf.formulation_.side_rows(Rows(np.ones(2)), clf.n_features_in_)
    return sides.feature_multiplier(np.zeros(sides.n)) is None


def dense(columns):
    """A without its side rows: a row for each row of the data, a column for each learner."""
    return columns.dense().T[: columns.n_data]


def expanded(columns):
    """A with each row repeated as often as its multiplicity says."""
    return np.repeat(dense(columns), columns.counts.astype(int), axis=0)


def small_dataset(name, n=150):
    """Five kinds of data: real, three artificial, and one of few integers with repeated and contradictory rows."""
    if name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X[:n], y[:n]
    if name == "integers":
        rng = np.random.default_rng(3)
        X = rng.integers(0, 3, (n, 4)).astype(float)
        return X, np.where(X.sum(axis=1) + rng.normal(size=n) > 4, "yes", "no")
    make = {"twonorm": make_twonorm, "ringnorm": make_ringnorm, "waveform": make_waveform}[name]
    return make(n, random_state=1)


SMALL_DATASETS = ("breast_cancer", "integers", "ringnorm", "twonorm", "waveform")


def three_values_of_C(formulation, n_samples):
    """The ends and the middle of the paper's range, or of its part that uses a learner on so few rows."""
    grid = FORMULATIONS[formulation]().C_grid(n_samples)
    if FORMULATIONS[formulation]().smallest_useful_C(1.0) is not None:
        grid = np.geomspace(10.0 / n_samples, grid[-1], 3)
    return [float(grid[0]), float(grid[len(grid) // 2]), float(grid[-1])]


@pytest.fixture(params=TRIED_FORMULATIONS)
def formulation_name(request):
    return request.param


@pytest.fixture(params=every(ALL_FORMULATIONS, SHAPES))
def formulation_shape(request):
    """For promises of code outside the masters, in which few kinds of formulations differ."""
    return request.param
