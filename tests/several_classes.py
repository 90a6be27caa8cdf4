"""Rows of three classes, with gaps and a category."""

import numpy as np

from .thinning.models import table


def three_classes(n=400, seed=0):
    """A number with gaps and a category decide between 0, 1 and 2."""
    X, _ = table(n, seed)
    warm = X["colour"].isin(["u", "x"]).to_numpy()
    return X, np.where(warm, 2, (X["a"].fillna(1.0) > 0).to_numpy()) * (np.arange(n) % 9 > 0)
