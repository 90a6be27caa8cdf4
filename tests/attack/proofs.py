"""The dual proof of classes, recomputed from published attributes: weights, duals, votes and C, and nothing else.

Each function returns the value of the weights, the value of the duals, which no weights can pass, and by how much the
duals leave the set in which that is so. They are written from the docstrings of the formulations.
"""

from typing import Any, NamedTuple

import numpy as np

from .optima import corrects_leaves, indicators
from .sane import require

ROUNDING = 1e-7


class Proof(NamedTuple):
    """A primal and a dual value, how infeasible the duals are, and the size of the terms that may cancel."""

    primal: float
    dual: float
    outside: float
    size: float = 0.0
    noise: float = 0.0
    """By how much either value of the fit may be off by rounding, where a large C multiplies its terms."""


def outside_box(u, low, high):
    """By what share of the largest dual some dual leaves its box."""
    return float(max((low - u).max(), (u - high).max(), 0.0) / max(np.abs(u).max(), np.finfo(float).tiny))


def _q_log_q(q):
    return q * np.log(np.where(q > 0, q, 1.0))


def _entropy(q):
    return -(_q_log_q(q) + _q_log_q(1.0 - q))


LOSSES = {
    "exponential": (lambda m: np.exp(-m), lambda q: q - _q_log_q(q), np.inf),
    "logistic": (lambda m: np.logaddexp(0.0, -m), lambda q: _entropy(np.clip(q, 0.0, 1.0)), 1.0),
    "squared_hinge": (lambda m: np.maximum(1.0 - m, 0.0) ** 2, lambda q: q - q**2 / 4.0, np.inf),
    "huber": (lambda m: np.where(m > -1, np.maximum(1.0 - m, 0.0) ** 2, -4.0 * m), lambda q: q - q**2 / 4.0, 4.0),
    "hinge": (lambda m: np.maximum(1.0 - m, 0.0), lambda q: q, 1.0),
}
"""A loss of a margin, minus its conjugate at -q, and the largest q."""


def losses(name, prices, margins, u):
    """The loss of the margins, the part of the dual value that the rows have, and how infeasible u is."""
    loss, gain, steepest = LOSSES[name]
    keep = prices > 0
    q = np.maximum(u[keep] / prices[keep], 0.0)
    return prices @ loss(margins), prices[keep] @ gain(q), outside_box(u, 0.0, steepest * prices)


class Parts(NamedTuple):
    """What a fit has published: A, multiplicities, weights, duals, signs of the labels, and C with its kin.

    ``A`` and ``duals`` have, for each row, an entry for each class that is not its own: with two classes a single one.
    A row has the least of its margins.
    """

    A: Any
    c: Any
    w: Any
    duals: Any
    signs: Any
    formulation: Any
    intercept: float

    @property
    def u(self):
        return self.duals.sum(axis=1)

    @property
    def margins(self):
        return (self.A @ self.w).min(axis=1)

    @property
    def edges(self):
        return np.einsum("ikj,ik->j", self.A, self.duals)

    @property
    def best_edge(self):
        return self.edges.max(initial=0.0)

    @property
    def imbalance(self):
        """By how much the duals of the classes differ, which an intercept asks to be equal."""
        return float(abs(self.signs @ self.u) / max(np.abs(self.u).sum(), np.finfo(float).tiny))


def with_more_digits(fit):
    """The same parts, to compute with in more digits than the fit, so that rounding errors are those of the fit."""
    return fit._replace(**{name: getattr(fit, name).astype(np.longdouble) for name in ("A", "c", "w", "duals")})


def squares(values):
    return 0.5 * (np.asarray(values) ** 2).sum()


def with_edges_of_one(fit):
    """Duals that a price of one for each weight admits: they shrink, and their value too, until no edge exceeds it."""
    return fit._replace(duals=fit.duals / max(fit.best_edge, 1.0))


def lp(fit):
    fit = with_edges_of_one(fit)
    primal, dual, outside = losses("hinge", fit.formulation.C * fit.c, fit.margins, fit.u)
    return Proof(fit.w.sum() + primal, dual, outside)


def cg(fit):
    primal, dual, outside = losses("hinge", fit.formulation.C * fit.c, fit.margins, fit.u)
    return Proof(squares(fit.w) + primal, dual - squares(np.maximum(fit.edges, 0.0)), outside)


def convex(fit):
    C, penalty, loss = fit.formulation.C, fit.formulation.penalty, fit.formulation.loss
    fit = with_edges_of_one(fit) if penalty == "l1" else fit
    primal, dual, outside = losses(loss, fit.c if penalty == "linf" else C * fit.c, fit.margins, fit.u)
    edges = np.maximum(fit.edges, 0.0)
    if penalty == "l1":
        return Proof(fit.w.sum() + primal, dual, outside)
    if penalty == "l2":
        return Proof(squares(fit.w) + primal, dual - squares(edges), outside)
    size = fit.c.sum() * float(LOSSES[loss][0](np.zeros(1))[0])
    noise = last_digits(fit) * len(fit.w)  # a margin, like the sum of the edges, has a term of size C for each weight
    return Proof(primal, dual - C * edges.sum(), outside, size, noise)


def logistic(fit):
    prices = fit.formulation.C * fit.c / fit.c.sum()
    primal, dual, outside = losses("logistic", prices, fit.margins + fit.signs * fit.intercept, fit.u)
    edges = np.maximum(fit.edges, 0.0)
    return Proof(squares(fit.w) + primal, dual - squares(edges), max(outside, fit.imbalance))


def nm(fit):
    C, c, margins, offset = fit.formulation.C, fit.c, fit.margins, 1.0 / len(fit.w)
    primal = c @ (np.minimum(margins - offset, 0.0) + C * margins)
    dual = fit.edges.max() - offset * (fit.u - C * c).sum()
    return Proof(-primal, -dual, outside_box(fit.u, C * c, (1.0 + C) * c), fit.u.sum())


def lp_nu(fit):
    margins, caps = fit.margins, fit.c / (fit.formulation.C * fit.c.sum())
    primal = max(rho - caps @ np.maximum(rho - margins, 0.0) for rho in np.unique(margins))
    outside = max(outside_box(fit.u, 0.0, caps), abs(fit.u.sum() - 1.0))
    return Proof(-primal, -fit.edges.max(), outside, 1.0)


def hard(fit):
    outside = max(outside_box(fit.u, 0.0, np.inf), abs(fit.u.sum() - 1.0))
    return Proof(-fit.margins[fit.c > 0].min(), -fit.edges.max(), outside, 1.0)


def _of_squares(fit):
    """The dual value of ``md``, whose terms are squares."""
    keep = fit.c > 0
    distances = ((fit.c - fit.u)[keep]) ** 2 / fit.c[keep]
    return fit.formulation.C * fit.edges.max() + 0.5 * distances.sum()


def last_digits(fit):
    """Margins as large as C lose their last digits in double precision, and the objective changes with margins by u."""
    return np.finfo(float).eps * fit.formulation.C * np.abs(fit.u).sum()


def md(fit):
    margins = fit.margins
    return Proof(-fit.c @ (margins - margins**2 / 2.0), -_of_squares(fit), 0.0, np.abs(fit.u).sum(), last_digits(fit))


def md_full(fit):
    margins, total = fit.margins, fit.c.sum()
    mean = fit.c @ margins / total
    primal = total * mean - 0.5 * fit.c @ (margins - mean) ** 2
    rounding = np.finfo(float).eps * np.abs(fit.u).sum()  # of published duals, which may be 1e11 times their sum
    outside = max(abs(fit.u.sum() - total) - rounding, 0.0) / total
    return Proof(-primal, -_of_squares(fit), outside, np.abs(fit.u).sum(), last_digits(fit))


def outside_of_weights(fit):
    """By what share of the sum that is asked of them the weights miss it, or are negative."""
    kind = fit.formulation
    asked = {"md": kind.C, "md-full": kind.C, "nm": 1.0, "lp-nu": 1.0, "hard": 1.0}.get(kind.name)
    missing = 0.0 if asked is None else abs(fit.w.sum() / asked - 1.0)
    bound = kind.C if getattr(kind, "penalty", "") == "linf" else np.inf
    return max(missing, outside_box(fit.w, 0.0, bound))


OF_TREES = {
    "lp": lp, "cg": cg, "convex": convex, "logistic": logistic, "nm": nm, "lp-nu": lp_nu, "hard": hard, "md": md,
    "md-full": md_full,
}  # fmt: skip


def of_leaves(fit, values, scores):
    """``A`` has an indicator for each leaf, times the sign of the row. Values have a ridge and any sign."""
    name, C, c = fit.formulation.name, fit.formulation.C, fit.c
    loss = {"logistic": "logistic", "lp": "hinge", "cg": "hinge"}.get(name) or fit.formulation.loss
    prices = C * c / c.sum() if name == "logistic" else C * c
    primal, dual, outside = losses(loss, prices, fit.signs * scores, fit.u)
    return Proof(squares(values) + primal, dual - squares(fit.edges), max(outside, fit.imbalance))


def proof_of_two_classes(model, case):
    """The proof, or None where none is written down here."""
    X = model._features(case.X())
    signs = np.where(case.target() == model.classes_[1], 1.0, -1.0)
    over_leaves = corrects_leaves(model)
    A = (signs[:, None] * (indicators(model, X) if over_leaves else model.fitted_.votes(X)))[:, None, :]
    published = (case.counts(), model.weights_, model.duals_[:, None], signs, model.formulation_, model.intercept_)
    parts = with_more_digits(Parts(A, *published))
    if over_leaves:
        values = np.concatenate(model.fitted_.stages.stages[-1].values)
        return of_leaves(parts, values, model.decision_function(case.X()))
    return of_trees(parts)


def proof_of_class_margins(model, case):
    """Several classes, each tree with a weight: the proof, or None where none is written down here."""
    votes, n_classes = model.fitted_.votes(model._features(case.X())), len(model.classes_)
    codes, rows = np.searchsorted(model.classes_, case.target()), np.arange(len(votes))
    others = np.array([[k for k in range(n_classes) if k != code] for code in codes])
    A = votes[rows, :, codes][:, None, :] - votes[rows[:, None], :, others]
    duals, counts = -np.take_along_axis(model.duals_, others, axis=1), case.counts()
    if model.formulation_.name in ("md", "md-full"):  # a loss for each pair: those of a row share its weight
        A, duals = A.reshape(-1, 1, A.shape[2]), duals.reshape(-1, 1)
        counts = np.repeat(counts / (n_classes - 1), n_classes - 1)
    return of_trees(with_more_digits(Parts(A, counts, model.weights_, duals, None, model.formulation_, 0.0)))


def of_trees(parts):
    prove = OF_TREES.get(parts.formulation.name)
    if prove is None:
        return None
    require(outside_of_weights(parts) <= ROUNDING, "the weights leave their set")
    proof = prove(parts)
    if parts.formulation.name in ("md", "md-full"):  # whose duals may be of either sign
        return proof
    return proof._replace(outside=max(proof.outside, outside_box(parts.duals, 0.0, np.inf)))


def require_proof(model, proof, sign):
    """The primal is the objective, the duals are feasible, and the distance between the values is the gap."""
    scale = max(abs(proof.primal), abs(proof.dual), 1e-3 * proof.size, np.finfo(float).tiny)
    off = abs(sign * model.objective_ - proof.primal) / scale
    require(
        off <= ROUNDING + proof.noise / scale,
        f"objective_ is {model.objective_!r}, but the weights give {float(sign * proof.primal)!r}",
    )
    require(proof.outside <= ROUNDING, f"the duals leave their set by {proof.outside:.3g}")
    gap = (proof.primal - proof.dual) / scale
    told = f"the gap is {model.gap_:.3g}, but weights and duals are {gap:.3g} apart: {proof.primal} and {proof.dual}"
    require(gap <= model.gap_ + ROUNDING + 2.0 * proof.noise / scale, told)
