"""The programmes for several classes in CVXPY, with one slack a row: nothing here is shared with the package.

``A`` has a row for each pair of a row of the data, ``row_of``, and a class that is not its own: h_y - h_k by column.
"""

import cvxpy as cp
import numpy as np

from .paper_programmes import _eta, _solve


def _parts(A, row_of):
    n_rows = int(row_of[-1]) + 1
    return cp.Variable(A.shape[1]), cp.Variable(n_rows), n_rows


def nm(A, row_of, C):
    w, rho, n_rows = _parts(A, row_of)
    negative = cp.Variable(n_rows)
    constraints = [A @ w >= rho[row_of], negative <= 0, negative <= rho - 1 / A.shape[1], cp.sum(w) == 1, w >= 0]
    return _solve(cp.Maximize(cp.sum(negative) + C * cp.sum(rho)), constraints, scales=(1 / min(C, 1.0),))


def lp(A, row_of, C):
    w, xi, _ = _parts(A, row_of)
    objective = cp.sum(w) + C * cp.sum(xi)
    return _solve(cp.Minimize(objective), [A @ w + xi[row_of] >= 1, w >= 0, xi >= 0], scales=(1 / min(C, 1.0),))


def cg(A, row_of, C):
    w, xi, _ = _parts(A, row_of)
    objective = 0.5 * cp.sum_squares(w) + C * cp.sum(xi)
    return _solve(cp.Minimize(objective), [A @ w + xi[row_of] >= 1, w >= 0, xi >= 0])


def lp_nu(A, row_of, C):
    w, xi, n_rows = _parts(A, row_of)
    rho = cp.Variable()
    constraints = [A @ w + xi[row_of] >= rho, cp.sum(w) == 1, w >= 0, xi >= 0]
    return _solve(cp.Maximize(rho - cp.sum(xi) / (C * n_rows)), constraints)


def hard(A, row_of, C):
    w, rho = cp.Variable(A.shape[1]), cp.Variable()
    return _solve(cp.Maximize(rho), [A @ w >= rho, cp.sum(w) == 1, w >= 0])


def convex(A, row_of, C):
    w, margins, _ = _parts(A, row_of)
    objective = cp.sum(w) + C * cp.sum(cp.exp(-margins))
    return _solve(cp.Minimize(objective), [A @ w >= margins[row_of], w >= 0], scales=(1.0, 10.0, 0.1))


def _capped(A, row_of, C, regulariser):
    n_rows = int(row_of[-1]) + 1
    u, xi = cp.Variable(len(A)), cp.Variable()
    sums = np.eye(n_rows)[:, row_of] @ u
    eta = _eta(n_rows, 0.01)
    constraints = [A.T @ u <= xi, cp.sum(u) == 1, u >= 0, sums <= 1 / C]
    return _solve(cp.Minimize(xi + regulariser(sums, 1 / n_rows) / eta), constraints, scales=(1.0, eta, 10.0))


def qrlp(A, row_of, C):
    return _capped(A, row_of, C, lambda s, u0: cp.sum(s) * np.log(u0) + cp.sum_squares(s) / (2 * u0))


def erlp(A, row_of, C):
    return _capped(A, row_of, C, lambda s, u0: cp.sum(cp.rel_entr(s, np.full(s.size, u0))))


def md(A, row_of, C):
    """A loss for each pair: those of a row share its weight."""
    w, rho = cp.Variable(A.shape[1]), cp.Variable(len(A))
    objective = (cp.sum(rho) - 0.5 * cp.sum_squares(rho)) * ((row_of[-1] + 1) / len(A))
    return _solve(cp.Maximize(objective), [rho == A @ w, cp.sum(w) == C, w >= 0])


def md_full(A, row_of, C):
    w, mean, deviation = cp.Variable(A.shape[1]), cp.Variable(), cp.Variable(len(A))
    n_rows = row_of[-1] + 1
    constraints = [A @ w == mean + deviation, cp.sum(deviation) == 0, cp.sum(w) == C, w >= 0]
    objective = n_rows * mean - 0.5 * (n_rows / len(A)) * cp.sum_squares(deviation)
    return _solve(cp.Maximize(objective), constraints, scales=(1.0, 1 / C, 1 / C**2))


OF_CLASSES = {
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
}
