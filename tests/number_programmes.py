"""Losses for numbers in CVXPY: nothing here is shared with the package."""

import cvxpy as cp
import numpy as np

from .paper_programmes import _solve

LOSSES = {
    "squared": lambda y, f: cp.square(y - f) / 2,
    "huber": lambda y, f: cp.huber(y - f, 1) / 2,
    "absolute": lambda y, f: cp.abs(y - f),
    "quantile": lambda y, f: cp.maximum(0.8 * (y - f), -0.2 * (y - f)),
    "epsilon_insensitive": lambda y, f: cp.pos(cp.abs(y - f) - 0.1),
    "poisson": lambda y, f: cp.exp(f) - cp.multiply(y, f),
}


def ordered_quantiles(A, y, prices, levels):
    """The least sum of the pinball losses of all levels over values with a ridge, where no row's quantiles cross."""
    values, intercepts = cp.Variable((A.shape[1], len(levels))), cp.Variable((1, len(levels)))
    scores = A @ values + np.ones((len(A), 1)) @ intercepts
    losses = [
        prices @ cp.maximum(level * (y - scores[:, k]), (level - 1) * (y - scores[:, k]))
        for k, level in enumerate(levels)
    ]
    objective = cp.Minimize(0.5 * cp.sum_squares(values) + sum(losses))
    return _solve(objective, [cp.diff(scores, axis=1) >= 0], scales=(1.0, 10.0, 0.1))


def optimum(A, y, prices, loss, over_leaves):
    """The least objective over values with a ridge, or over weights with a price, and a free intercept."""
    w, intercept = cp.Variable(A.shape[1]), cp.Variable()
    losses = prices @ LOSSES[loss](np.asarray(y), A @ w + intercept)
    if over_leaves:
        return _solve(cp.Minimize(0.5 * cp.sum_squares(w) + losses), [], scales=(1.0, 10.0, 0.1))
    return _solve(cp.Minimize(cp.sum(w) + losses), [w >= 0], scales=(1.0, 10.0, 0.1))
