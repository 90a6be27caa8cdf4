"""The programmes as the papers print them, in CVXPY: nothing here is shared with the package.

Each function takes A = y_i h_j(x_i), one row for every sample (no multiplicities), and returns the optimal value. Given
the labels y as well, the scores have a free intercept, which the papers' programmes lack.
"""

import itertools
import warnings
from inspect import signature

import cvxpy as cp
import numpy as np

ACCURACIES = (1e-11, 1e-10, 1e-9)
"""Tried in turn: Clarabel cannot always reach the first, and what it calls inaccurate is no reference."""


def _solve(objective, constraints, scales=(1.0,)):
    """The optimal value; a programme that is hard in one scale may be easy in another.

    HiGHS takes reduced costs below 1e-7 for zero, so that no cost of a linear programme may be of that size.
    """
    for scale, accuracy in itertools.product(scales, ACCURACIES):
        problem = cp.Problem(scale * objective, constraints)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if problem.objective.expr.is_affine():
                problem.solve(solver=cp.HIGHS)
            else:
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=accuracy, tol_gap_rel=accuracy, tol_feas=accuracy)
        if problem.status == "optimal":
            # problem.value would be infinite for an entropy at u = -1e-20
            return float(problem.solution.opt_val) / scale
    raise AssertionError(problem.status)


def _margins(A, w, y):
    return A @ w if y is None else A @ w + y * cp.Variable()


def nm(A, C, y=None):
    M, T = A.shape
    w, rho, negative = cp.Variable(T), cp.Variable(M), cp.Variable(M)
    constraints = [_margins(A, w, y) >= rho, negative <= 0, negative <= rho - 1 / T, cp.sum(w) == 1, w >= 0]
    return _solve(cp.Maximize(cp.sum(negative) + C * cp.sum(rho)), constraints, scales=(1 / min(C, 1.0),))


def lp(A, C, y=None):
    M, T = A.shape
    w, xi = cp.Variable(T), cp.Variable(M)
    objective = cp.sum(w) + C * cp.sum(xi)
    return _solve(cp.Minimize(objective), [_margins(A, w, y) + xi >= 1, w >= 0, xi >= 0], scales=(1 / min(C, 1.0),))


def spatial(A, C, y=None, shares=None, smoothness=0.1, pairs=None):
    """Not the paper's, which was not at hand: the primal of the docstring, with each column's shares of features."""
    M, T = A.shape
    w, xi = cp.Variable(T), cp.Variable(M)
    v = shares @ w
    first, second = (np.arange(len(shares) - 1), np.arange(1, len(shares))) if pairs is None else np.transpose(pairs)
    constraints = [_margins(A, w, y) + xi >= 1, w >= 0, xi >= 0]
    if not len(first):
        return _solve(cp.Minimize(cp.sum(w) + C * cp.sum(xi)), constraints)
    apart = cp.Variable(len(first))
    constraints += [v[first] - v[second] <= apart, v[second] - v[first] <= apart]
    return _solve(cp.Minimize(cp.sum(w) + C * cp.sum(xi) + smoothness * cp.sum(apart)), constraints)


def cg(A, C, y=None):
    M, T = A.shape
    w, xi = cp.Variable(T), cp.Variable(M)
    objective = 0.5 * cp.sum_squares(w) + C * cp.sum(xi)
    return _solve(cp.Minimize(objective), [_margins(A, w, y) + xi >= 1, w >= 0, xi >= 0])


def md(A, C, y=None):
    M, T = A.shape
    w, rho = cp.Variable(T), cp.Variable(M)
    objective = cp.sum(rho) - 0.5 * cp.sum_squares(rho)
    return _solve(cp.Maximize(objective), [rho == _margins(A, w, y), cp.sum(w) == C, w >= 0])


def cq(A, C, y=None, penalty=1000):
    """The mean margin is a requirement in the paper; here falling short of it has a cost."""
    M, T = A.shape
    w, margins, short = cp.Variable(T), cp.Variable(M), cp.Variable()
    constraints = [margins == _margins(A, w, y), cp.sum(margins) / M + short >= C, short >= 0, cp.sum(w) == 1, w >= 0]
    objective = cp.sum_squares(margins) / M + penalty * short
    return _solve(cp.Minimize(objective), constraints, scales=(1.0, 10.0, 100.0))


def _eta(M, epsilon):
    return max(0.5, np.log(M) / (0.5 * epsilon))


def _balanced(u, y):
    return [] if y is None else [y @ u == 0]


def qrlp(A, C, y=None, epsilon=0.01):
    M = len(A)
    u, xi, u0 = cp.Variable(M), cp.Variable(), 1 / M
    regulariser = cp.sum(u) * np.log(u0) + cp.sum_squares(u) / (2 * u0)
    constraints = [A.T @ u <= xi, cp.sum(u) == 1, u >= 0, u <= 1 / C, *_balanced(u, y)]
    eta = _eta(M, epsilon)
    return _solve(cp.Minimize(xi + regulariser / eta), constraints, scales=(1.0, eta, 10.0))


def erlp(A, C, y=None, epsilon=0.01):
    M = len(A)
    u, xi = cp.Variable(M), cp.Variable()
    entropy = cp.sum(cp.rel_entr(u, np.full(M, 1 / M)))
    constraints = [A.T @ u <= xi, cp.sum(u) == 1, u >= 0, u <= 1 / C, *_balanced(u, y)]
    eta = _eta(M, epsilon)
    return _solve(cp.Minimize(xi + entropy / eta), constraints, scales=(1.0, eta, 10.0))


def lp_nu(A, C, y=None):
    M, T = A.shape
    w, xi, rho = cp.Variable(T), cp.Variable(M), cp.Variable()
    constraints = [_margins(A, w, y) + xi >= rho, cp.sum(w) == 1, w >= 0, xi >= 0]
    return _solve(cp.Maximize(rho - cp.sum(xi) / (C * M)), constraints)


def hard(A, C, y=None):
    w, rho = cp.Variable(A.shape[1]), cp.Variable()
    return _solve(cp.Maximize(rho), [_margins(A, w, y) >= rho, cp.sum(w) == 1, w >= 0])


def md_full(A, C, y=None):
    """The mean and the variance of the margins, but for the paper's factor M/(M - 1)."""
    M, T = A.shape
    w, mean, deviation = cp.Variable(T), cp.Variable(), cp.Variable(M)
    constraints = [_margins(A, w, y) == mean + deviation, cp.sum(deviation) == 0, cp.sum(w) == C, w >= 0]
    objective = M * mean - 0.5 * cp.sum_squares(deviation)
    return _solve(cp.Maximize(objective), constraints, scales=(1.0, 1 / C, 1 / C**2))


def lexi(A, C, y=None, classes=None):
    """Both stages, one after the other; the least loss itself where rows are of one class."""
    M, T = A.shape
    groups = [np.ones(M, dtype=bool)] if classes is None else [classes > 0, classes <= 0]

    def stage(rows, least):
        w, xi, excess = cp.Variable(T), cp.Variable(M), cp.Variable()
        margins = _margins(A, w, y)
        constraints = [margins[mask] + xi[mask] >= 1 for mask in rows]
        constraints += [cp.sum(xi[mask]) / mask.sum() - one <= excess for mask, one in zip(rows, least, strict=True)]
        return _solve(cp.Minimize(excess), [*constraints, cp.sum(w) == C, w >= 0, xi >= 0])

    alone = [stage([mask], [0.0]) for mask in groups]
    return alone[0] if classes is None else stage(groups, alone)


LOSSES = {
    "exponential": lambda m: cp.exp(-m),
    "logistic": lambda m: cp.logistic(-m),
    "squared_hinge": lambda m: cp.square(cp.pos(1 - m)),
    "huber": lambda m: cp.huber(cp.pos(1 - m), 2),
}


def convex(A, C, y=None, loss="exponential", penalty="l1"):
    w = cp.Variable(A.shape[1])
    losses = cp.sum(LOSSES[loss](_margins(A, w, y)))
    if penalty == "linf":
        return _solve(cp.Minimize(losses), [w >= 0, w <= C], scales=(1.0, 10.0, 0.1, 0.01))
    norm = cp.sum(w) if penalty == "l1" else 0.5 * cp.sum_squares(w)
    return _solve(cp.Minimize(norm + C * losses), [w >= 0], scales=(1.0, 10.0, 0.1))


def logistic(A, C, y=None):
    M, T = A.shape
    w = cp.Variable(T)
    objective = 0.5 * cp.sum_squares(w) + C / M * cp.sum(cp.logistic(-_margins(A, w, y)))
    return _solve(cp.Minimize(objective), [w >= 0], scales=(1.0, 10.0, 0.1))


LOSSES_OF_LEAVES = {
    "logistic": lambda m, C: C / m.size * cp.sum(cp.logistic(-m)),
    "lp": lambda m, C: C * cp.sum(cp.pos(1 - m)),
    "cg": lambda m, C: C * cp.sum(cp.pos(1 - m)),
    **{name: lambda m, C, loss=loss: C * cp.sum(loss(m)) for name, loss in LOSSES.items() if name != "logistic"},
    "convex logistic": lambda m, C: C * cp.sum(cp.logistic(-m)),
}


def leaves(indicators, y, C, loss):
    """The values of all leaves, with a ridge, and a free intercept; one column of indicators for each leaf."""
    values, intercept = cp.Variable(indicators.shape[1]), cp.Variable()
    margins = cp.multiply(y, indicators @ values + intercept)
    objective = 0.5 * cp.sum_squares(values) + LOSSES_OF_LEAVES[loss](margins, C)
    return _solve(cp.Minimize(objective), [], scales=(1.0, 10.0, 0.1))


PAPER = {
    "logistic": logistic,
    "nm": nm,
    "lp": lp,
    "cg": cg,
    "md": md,
    "qrlp": qrlp,
    "erlp": erlp,
    "lp-nu": lp_nu,
    "hard": hard,
    "md-full": md_full,
    "convex": convex,
    "lexi": lexi,
    "soft": lp_nu,
    "mlp": lp_nu,
    "total": hard,
    "cq": cq,
    "spatial": spatial,
}


def paper_optimum(name, A, C, classes, y=None, shares=None):
    """The optimal value for rows of these classes, -1 and 1, and columns with these shares of features.

    Only the programmes that look at them are told.
    """
    programme = PAPER[name]
    asked = signature(programme).parameters
    told = {key: value for key, value in {"classes": classes, "shares": shares}.items() if key in asked}
    return programme(A, C, y, **told)
