"""The optimum over the columns that a fit found, by CVXPY, and whether the reported gap covers the distance to it."""

import cvxpy as cp
import numpy as np

from dualboost.targets.standardising import rounded

from ..class_programmes import OF_CLASSES
from ..number_programmes import LOSSES as NUMBER_LOSSES
from ..number_programmes import optimum, ordered_quantiles
from ..paper_programmes import LOSSES_OF_LEAVES, _solve, convex, erlp, leaves, paper_optimum, qrlp
from .sane import require

TINY = np.finfo(float).tiny

REFERENCE = 5e-6
"""How far the reference itself may be from the optimum, relative to it."""

ORDINARY = 1e6
"""Beyond this C, or below its inverse, the terms differ by so much that the reference loses half of its digits."""

ACCURACY = 1e-8
"""How far the reference may be from the optimum in any case: it stops at such distances, which are not relative."""


class NoReference(Exception):
    """The other solver has no programme for the fit, or did not solve it."""


class InexactReference(Exception):
    """The other solver disagrees where it is not to be believed: a dual proof must decide."""

    def __init__(self, told, is_within_accuracy):
        super().__init__(told)
        self.is_within_accuracy = is_within_accuracy


def expected_optimum(model, case):
    """The optimum of the programme over the fit's own columns; each row is repeated by its weight."""
    X, kind = model._features(case.X()), model.formulation_
    if not len(model.estimators_):
        raise NoReference("no column")
    try:
        if hasattr(model, "classes_"):
            return _of_classes(model, case, X)
        return _of_numbers(model, case, X)
    except (AssertionError, cp.error.SolverError, KeyError, ArithmeticError) as failure:
        raise NoReference(f"{kind.name}: {failure!r}") from failure


def corrects_leaves(model):
    return hasattr(model.fitted_.stages, "trees")


def indicators(model, X):
    """One column for each leaf of the trees of the result, before leaves with equal values were merged."""
    stages = model.fitted_.stages
    trees = [stages.trees[j] for j in stages.stages[-1].trees]
    if not trees:
        raise NoReference("no tree")
    return np.concatenate([np.eye(tree.n_leaves)[tree.leaves(X)] for tree in trees], axis=1)


def _of_classes(model, case, X):
    copies, C, name = case.counts().astype(int), model.formulation_.C, model.formulation_.name
    codes = np.searchsorted(model.classes_, case.target())
    if len(model.classes_) > 2:
        return _of_many_classes(model, X, codes, copies)
    signs = np.repeat(2.0 * codes - 1.0, copies)
    if corrects_leaves(model):
        loss = model.formulation_.loss if name == "convex" else name
        loss = "convex logistic" if (name, loss) == ("convex", "logistic") else loss
        require(loss in LOSSES_OF_LEAVES, "no programme for", loss)
        return leaves(np.repeat(indicators(model, X), copies, axis=0), signs, C, loss)
    A = signs[:, None] * np.repeat(model.fitted_.votes(X), copies, axis=0)
    if name == "convex":
        return convex(A, C, None, model.formulation_.loss, model.formulation_.penalty)
    if name in ("qrlp", "erlp"):
        return {"qrlp": qrlp, "erlp": erlp}[name](A, C, epsilon=model.formulation_.epsilon)
    shares = np.transpose([learner.feature_gains(model.n_features_in_) for learner in model.estimators_])
    return paper_optimum(name, A, C, signs, signs if model.formulation_.has_intercept else None, shares)


def _of_many_classes(model, X, codes, copies):
    n_classes, C, name = len(model.classes_), model.formulation_.C, model.formulation_.name
    codes = np.repeat(codes, copies)
    if corrects_leaves(model):
        return _softmax(np.repeat(indicators(model, X), copies, axis=0), codes, n_classes, C)
    if name == "convex" and (model.formulation_.loss, model.formulation_.penalty) != ("exponential", "l1"):
        raise NoReference("convex")
    if getattr(model.formulation_, "epsilon", 0.01) != 0.01:
        raise NoReference("epsilon")
    votes, row_of = np.repeat(model.fitted_.votes(X), copies, axis=0), np.repeat(np.arange(len(codes)), n_classes - 1)
    others = np.array([[k for k in range(n_classes) if k != code] for code in codes]).ravel()
    return OF_CLASSES[name](votes[row_of, :, codes[row_of]] - votes[row_of, :, others], row_of, C)


def _softmax(Z, codes, n_classes, C):
    values, intercepts = cp.Variable((Z.shape[1], n_classes)), cp.Variable((1, n_classes))
    scores = Z @ values + np.ones((len(Z), 1)) @ intercepts
    own = cp.sum(cp.multiply(np.eye(n_classes)[codes], scores), axis=1)
    losses = C / len(codes) * cp.sum(cp.log_sum_exp(scores, axis=1) - own)
    return _solve(cp.Minimize(0.5 * cp.sum_squares(values) + losses), [], scales=(1.0, 10.0, 0.1))


FURTHEST = 1e4
"""Under losses that grow linearly, a target further from the median, in units of its scale, counts as being so far."""
LINEAR_FAR_AWAY = ("huber", "absolute", "quantile", "epsilon_insensitive")


def targets_of(model, case):
    """y in the units of the fit, with as many digits as it sees; where it looks no further, it must have said so."""
    targets = rounded(model.fitted_.target.encode(case.target(), case.n_rows))
    furthest = FURTHEST if model.formulation_.name in LINEAR_FAR_AWAY else np.inf
    if (np.abs(targets)[case.counts() > 0] > furthest).any():
        require(any("count as being so far" in words for words in case.warnings()), "far targets without a warning")
    return np.clip(targets, -furthest, furthest)


def _of_numbers(model, case, X):
    loss, targets, counts = model.formulation_, targets_of(model, case), case.counts()
    prices = loss.C * counts / counts.sum()
    if loss.link == "quantiles":
        return ordered_quantiles(indicators(model, X), targets, prices, loss.quantiles)
    require(loss.name in NUMBER_LOSSES, "no programme for", loss.name)
    over_leaves = corrects_leaves(model)
    A = indicators(model, X) if over_leaves else model.fitted_.votes(X)
    return optimum(A, targets, prices, loss.name, over_leaves)


def size_of_terms(model, case):
    """The sum of the absolute terms of the objective, of which the gap is relative to a thousandth at least."""
    more = {"cq": lambda: case.n_rows, "lexi": lambda: sum(_losses_of_classes(model, case))}
    return np.abs(model.duals_).sum() + abs(model.objective_) + more.get(model.formulation_.name, lambda: 0.0)()


def _losses_of_classes(model, case):
    """The mean hinge loss of each class, of which ``lexi`` subtracts the least that the class can have."""
    target, counts = case.target(), case.counts()
    margins = np.where(target == model.classes_[1], 1.0, -1.0) * (
        model.fitted_.votes(model._features(case.X())) @ model.weights_
    )
    return [
        counts[own] @ np.maximum(1.0 - margins[own], 0.0) / counts[own].sum()
        for own in (target == name for name in model.classes_)
    ]


def require_true_gap(model, case):
    """The distance to the optimum is at most the gap that is reported, and no fit is better than the optimum."""
    expected = expected_optimum(model, case)
    scale = max(abs(expected), abs(model.objective_), 1e-3 * size_of_terms(model, case), TINY)
    behind = model.formulation_.objective_sign * (model.objective_ - expected) / scale
    told = f"the gap is {model.gap_:.3g}, but the distance to the optimum {behind:.3g}:"
    told = f"{told} {model.objective_!r} where {expected!r} is optimal"
    if not -REFERENCE <= behind <= model.gap_ + REFERENCE:
        is_extreme = not 1.0 / ORDINARY <= model.formulation_.C <= ORDINARY
        is_within_accuracy = abs(model.objective_ - expected) <= ACCURACY
        require(is_within_accuracy or is_extreme, told)
        raise InexactReference(told, is_within_accuracy)
