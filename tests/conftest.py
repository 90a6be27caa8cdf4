"""Synthetic input for each stage."""

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_breast_cancer

from dualboost.columns import Columns
from dualboost.datasets import make_ringnorm, make_twonorm, make_waveform
from dualboost.formulations import FORMULATIONS

settings.register_profile("dualboost", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("dualboost")

ALL_FORMULATIONS = sorted(FORMULATIONS)


def has_no_C(formulation):
    """Whether it asks for the margin of every row: on noisy rows, or with few stumps, the best one is that of a tie."""
    return len(set(FORMULATIONS[formulation]().C_grid(100))) == 1


def stump_columns(n_rows=120, n_columns=20, seed=0, multiplicities=True):
    """Columns of random stumps on noisy data, no two alike."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n_rows) < 0.45, 1.0, -1.0)
    X = rng.normal(size=(n_rows, 6)) + 0.4 * labels[:, None]
    counts = rng.integers(1, 4, n_rows).astype(float) if multiplicities else np.ones(n_rows)
    columns = Columns(labels, counts)
    while columns.n_columns < n_columns:
        votes = np.where(X[:, rng.integers(6)] > rng.normal(), 1.0, -1.0)
        if not columns.holds(votes):
            columns.append(votes)
    return columns


def expanded(columns):
    """A with each row repeated as often as its multiplicity says."""
    return np.repeat(columns.signed.T, columns.counts.astype(int), axis=0)


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


@pytest.fixture(params=ALL_FORMULATIONS)
def formulation_name(request):
    return request.param
