"""Rows with numbers to learn: amounts, which may be negative, and counts."""

import numpy as np

from .thinning.models import table


def amounts(n=400, seed=0):
    """Numbers with gaps and a category, which decide an amount far from zero."""
    X, _ = table(n, seed)
    warm = X["colour"].isin(["u", "x"]).to_numpy()
    noise = np.random.default_rng(seed).normal(size=n)
    return X, 1000.0 + 30.0 * (X["a"].fillna(1.0).to_numpy() * np.where(warm, 2.0, -1.0) + 0.3 * noise)


def counts(n=400, seed=0):
    """The same for counts of at least zero."""
    X, y = amounts(n, seed)
    return X, np.random.default_rng(seed + 1).poisson(np.exp((y - 1000.0) / 40.0)).astype(float)
