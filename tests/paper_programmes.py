"""The six programmes as the paper prints them, in CVXPY: nothing here is shared with the package.

Each function takes A = y_i h_j(x_i), one row for every sample (no multiplicities), and returns the optimal value.
"""

import cvxpy as cp
import numpy as np

ACCURATE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def _solve(problem):
    if problem.is_qp() and problem.objective.expr.is_affine():
        problem.solve(solver=cp.HIGHS)
    else:
        problem.solve(solver=cp.CLARABEL, **ACCURATE)
    assert problem.status in ("optimal", "optimal_inaccurate"), problem.status
    return float(problem.solution.opt_val)  # problem.value is infinite for an entropy at u = -1e-20


def nm(A, C):
    M, T = A.shape
    w, rho, negative = cp.Variable(T), cp.Variable(M), cp.Variable(M)
    constraints = [A @ w >= rho, negative <= 0, negative <= rho - 1 / T, cp.sum(w) == 1, w >= 0]
    return _solve(cp.Problem(cp.Maximize(cp.sum(negative) + C * cp.sum(rho)), constraints))


def lp(A, C):
    M, T = A.shape
    w, xi = cp.Variable(T), cp.Variable(M)
    return _solve(cp.Problem(cp.Minimize(cp.sum(w) + C * cp.sum(xi)), [A @ w + xi >= 1, w >= 0, xi >= 0]))


def cg(A, C):
    M, T = A.shape
    w, xi = cp.Variable(T), cp.Variable(M)
    objective = 0.5 * cp.sum_squares(w) + C * cp.sum(xi)
    return _solve(cp.Problem(cp.Minimize(objective), [A @ w + xi >= 1, w >= 0, xi >= 0]))


def md(A, C):
    M, T = A.shape
    w, rho = cp.Variable(T), cp.Variable(M)
    objective = cp.sum(rho) - 0.5 * cp.sum_squares(rho)
    return _solve(cp.Problem(cp.Maximize(objective), [rho == A @ w, cp.sum(w) == C, w >= 0]))


def _eta(M, epsilon):
    return max(0.5, np.log(M) / (0.5 * epsilon))


def qrlp(A, C, epsilon=0.01):
    M = len(A)
    u, xi, u0 = cp.Variable(M), cp.Variable(), 1 / M
    regulariser = cp.sum(u) * np.log(u0) + cp.sum_squares(u) / (2 * u0)
    constraints = [A.T @ u <= xi, cp.sum(u) == 1, u >= 0, u <= 1 / C]
    return _solve(cp.Problem(cp.Minimize(xi + regulariser / _eta(M, epsilon)), constraints))


def erlp(A, C, epsilon=0.01):
    M = len(A)
    u, xi = cp.Variable(M), cp.Variable()
    entropy = cp.sum(cp.rel_entr(u, np.full(M, 1 / M)))
    constraints = [A.T @ u <= xi, cp.sum(u) == 1, u >= 0, u <= 1 / C]
    return _solve(cp.Problem(cp.Minimize(xi + entropy / _eta(M, epsilon)), constraints))


PAPER = {"nm": nm, "lp": lp, "cg": cg, "md": md, "qrlp": qrlp, "erlp": erlp}
