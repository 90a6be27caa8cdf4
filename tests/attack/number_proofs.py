"""The dual proofs of numbers, of quantiles and of several classes, likewise recomputed from published attributes."""

import numpy as np
from scipy.special import logsumexp, xlogy

from .optima import corrects_leaves, indicators, targets_of
from .proofs import Proof, outside_box, proof_of_class_margins, proof_of_two_classes, require_proof, squares

TINY = np.finfo(float).tiny


def _pinball(tau):
    return lambda t, f: np.maximum(tau * (t - f), (tau - 1.0) * (t - f))


def _huber(t, f):
    distance = np.abs(t - f)
    return np.where(distance <= 1.0, distance**2 / 2.0, distance - 0.5)


LOSSES = {
    "squared": lambda t, f: (t - f) ** 2 / 2.0,
    "huber": _huber,
    "absolute": lambda t, f: np.abs(t - f),
    "quantile": _pinball(0.8),
    "epsilon_insensitive": lambda t, f: np.maximum(np.abs(t - f) - 0.1, 0.0),
    "poisson": lambda t, f: np.exp(f) - t * f,
}


def conjugate(name, t, u, prices):
    """g(u) of each row, and the ends of its box, as the docstrings of the losses state them."""
    if name in ("squared", "huber"):
        bound = np.full_like(u, np.inf) if name == "squared" else prices
        return u**2 / (2.0 * prices) - t * u, -bound, bound
    if name == "poisson":
        q = np.maximum(t - u / prices, 0.0)
        return prices * (xlogy(q, q) - q), np.full_like(u, -np.inf), prices * t
    low, high = {"quantile": (-0.2, 0.8)}.get(name, (-1.0, 1.0))
    tube = 0.1 * np.abs(u) if name == "epsilon_insensitive" else 0.0
    return tube - t * u, low * prices, high * prices


def of_numbers(name, A, t, prices, u, values, scores, over_leaves):
    keep = prices > 0
    A, t, prices, u, scores = A[keep], t[keep], prices[keep], u[keep], scores[keep]
    edges = A.T @ u
    if not over_leaves:  # a weight has a price of one
        u, edges = (part / max(edges.max(initial=0.0), 1.0) for part in (u, edges))
    terms, low, high = conjugate(name, t, u, prices)
    size = max(np.abs(u).sum(), np.finfo(float).eps * prices.sum(), TINY)  # smaller duals are zero, but for rounding
    outside = max(outside_box(u, low, high), abs(u.sum()) / size)
    primal = float(prices @ LOSSES[name](t, scores))
    if over_leaves:
        return Proof(squares(values) + primal, -terms.sum() - squares(edges), outside, prices.sum())
    return Proof(values.sum() + primal, -terms.sum(), outside, prices.sum())


def of_quantiles(Z, t, prices, duals, values, scores, levels):
    """A row has a dual for each level, and one for the order of each level and the next."""
    n, levels = len(levels), np.array(levels)
    u, order = duals[:, :n], duals[:, n:]
    residual = u + np.pad(order, ((0, 0), (1, 0))) - np.pad(order, ((0, 0), (0, 1)))
    losses = np.column_stack([_pinball(level)(t, own) for level, own in zip(levels, scores.T, strict=True)])
    box = outside_box(u, (levels - 1.0) * prices[:, None], levels * prices[:, None])
    balance = np.abs(residual.sum(axis=0)).max() / max(np.abs(u).sum(), TINY)
    outside = max(box, balance, outside_box(order, 0.0, np.inf) if order.any() else 0.0)
    primal, dual = float(prices @ losses.sum(axis=1)), t @ u.sum(axis=1) - squares(Z.T @ residual)
    return Proof(squares(values) + primal, dual, outside, prices.sum())


def of_softmax(Z, codes, prices, residual, values, scores):
    own = np.eye(scores.shape[1])[codes]
    shares = own * prices[:, None] - residual
    keep = prices > 0
    primal = prices @ (logsumexp(scores, axis=1) - (own * scores).sum(axis=1))
    clipped = np.maximum(shares[keep], 0.0)
    dual = -xlogy(clipped, clipped / prices[keep, None]).sum() - squares(Z.T @ residual)
    balance = max(np.abs(residual.sum(axis=0)).max(), np.abs(residual.sum(axis=1)).max()) / max(prices.sum(), TINY)
    return Proof(squares(values) + primal, dual, max(outside_box(shares, 0.0, np.inf), balance))


def proof_of(model, case):
    """The proof of any model, or None where none is written down."""
    if hasattr(model, "classes_") and len(model.classes_) == 2:
        return proof_of_two_classes(model, case)
    X, counts, over_leaves = model._features(case.X()), case.counts(), corrects_leaves(model)
    prices = model.formulation_.C * counts / counts.sum()
    scores = model.fitted_.scores(X)
    if not over_leaves and hasattr(model, "classes_"):
        return proof_of_class_margins(model, case)
    if not over_leaves:
        t = targets_of(model, case)
        return of_numbers(
            model.formulation_.name, model.fitted_.votes(X), t, prices, model.duals_, model.weights_, scores, False
        )  # fmt: skip
    Z, values = indicators(model, X), np.concatenate(model.fitted_.stages.stages[-1].values)
    if hasattr(model, "classes_"):
        return of_softmax(Z, np.searchsorted(model.classes_, case.target()), prices, model.duals_, values, scores)
    t = targets_of(model, case)
    if model.formulation_.link == "quantiles":
        return of_quantiles(Z, t, prices, model.duals_, values, scores, model.formulation_.quantiles)
    return of_numbers(model.formulation_.name, Z, t, prices, model.duals_, values, scores, True)


def require_dual_proof(model, case):
    """Whether there is a proof; if there is, it must be that of the reported gap."""
    proof = proof_of(model, case)
    if proof is not None:
        require_proof(model, proof, model.formulation_.objective_sign)
    return proof is not None
