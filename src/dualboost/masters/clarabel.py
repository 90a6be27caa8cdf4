"""Clarabel as a reference master for most formulations (extra ``dualboost[clarabel]``).

Hinge losses are solved in the paper's primal (w, xi); the formulations with a curved term in u in the paper's dual
(u, r), with exponential cones for the entropy.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..columns import Columns
from ..errors import MissingDependencyError
from ..formulations.programme import Programme
from ..formulations.terms import EntropyTerm, LinearTerm, QuadraticTerm
from .base import Candidate, SolveFailure


class ClarabelMaster:
    """Builds and solves each programme anew."""

    name: ClassVar[str] = "clarabel"
    returns_vertex: ClassVar[bool] = False
    interleaves: ClassVar[bool] = False
    strategies: ClassVar[tuple[str, ...]] = ("default", "regularised")

    def __init__(self) -> None:
        try:
            import clarabel
        except ImportError as error:
            raise MissingDependencyError(
                "master='clarabel' needs the package clarabel: pip install 'dualboost[clarabel]', or use master='auto'."
            ) from error
        self._clarabel = clarabel

    @staticmethod
    def supports(programme: Programme) -> bool:
        weight_set, term = programme.weight_set, programme.term
        is_curved_twice = weight_set.ridge > 0 and not term.is_linear
        is_known = isinstance(term, (LinearTerm, QuadraticTerm, EntropyTerm))
        return is_known and not is_curved_twice and not weight_set.is_bounded

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        if programme.term.is_linear:
            return self._solve_primal(columns, programme, tolerance, strategy)
        return self._solve_dual(columns, programme, tolerance, strategy)

    def _run(
        self, quadratic: Any, cost: Any, rows: list[Any], cones: list[Any], tolerance: float, strategy: str
    ) -> Any:
        """min x'Px/2 + cost'x subject to the stacked (matrix, right side) pairs, one for each cone."""
        settings = self._clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = min(tolerance, 1e-10)
        if strategy == "regularised":
            settings.static_regularization_constant = 1e-7
            settings.iterative_refinement_max_iter = 50
        matrix = sparse.vstack([matrix for matrix, _ in rows], format="csc")
        right = np.concatenate([side for _, side in rows])
        solver = self._clarabel.DefaultSolver(
            sparse.triu(quadratic, format="csc"), cost, matrix, right, cones, settings
        )
        solution = solver.solve()
        if str(solution.status) not in ("Solved", "AlmostSolved"):
            raise SolveFailure(f"Clarabel: {solution.status}")
        return solution

    def _solve_primal(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        """x = (w, xi, rho): the rows' multipliers, plus lower, are the sample weights."""
        assert isinstance(programme.term, LinearTerm)
        m, n, weight_set = columns.n_rows, columns.n_columns, programme.weight_set
        n_rho = len(programme.right_side)
        clarabel = self._clarabel
        cost = np.concatenate(
            [
                weight_set.cost - columns.edges(programme.lower),
                programme.upper - programme.lower,
                programme.equations @ programme.lower - programme.right_side,
            ]
        )
        hinge = sparse.hstack([-columns.signed.T.astype(float), -sparse.eye(m), programme.equations.T], format="csc")
        sign = sparse.hstack([-sparse.eye(n + m), sparse.csc_matrix((n + m, n_rho))], format="csc")
        rows = [(hinge, np.full(m, -programme.term.kink)), (sign, np.zeros(n + m))]
        cones = [clarabel.NonnegativeConeT(m), clarabel.NonnegativeConeT(n + m)]
        if weight_set.total is not None:
            rows.append((sparse.csc_matrix(np.r_[np.ones(n), np.zeros(m + n_rho)]), np.array([weight_set.total])))
            cones.append(clarabel.ZeroConeT(1))
        ridge = sparse.diags(np.r_[np.full(n, weight_set.ridge), np.zeros(m + n_rho)])
        solution = self._run(ridge, cost, rows, cones, tolerance, strategy)
        x, z = np.asarray(solution.x), np.asarray(solution.z)
        return Candidate(x[:n], programme.lower + z[:m], x[n + m :])

    def _solve_dual(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        """x = (u, r, t): the edges' multipliers are the weights; t bounds the entropy from above."""
        m, n, weight_set, term = columns.n_rows, columns.n_columns, programme.weight_set, programme.term
        clarabel = self._clarabel
        entropy = isinstance(term, EntropyTerm)
        n_t = m if entropy else 0
        pad = sparse.csc_matrix((m, 1 + n_t))
        r_column = np.full((n, 1), -1.0 if weight_set.total is not None else 0.0)
        rows = [
            (
                sparse.hstack([columns.signed.astype(float), r_column, sparse.csc_matrix((n, n_t))]),
                np.full(n, weight_set.cost),
            )
        ]
        cones = [clarabel.NonnegativeConeT(n)]
        for bound, direction in ((programme.upper, 1.0), (programme.lower, -1.0)):
            if np.isfinite(bound).all():
                rows.append((sparse.hstack([direction * sparse.eye(m), pad]), direction * bound))
                cones.append(clarabel.NonnegativeConeT(m))
        n_above, n_rho = sum(matrix.shape[0] for matrix, _ in rows), len(programme.right_side)
        if n_rho:
            rows.append(
                (sparse.hstack([programme.equations, sparse.csc_matrix((n_rho, 1 + n_t))]), programme.right_side)
            )
            cones.append(clarabel.ZeroConeT(n_rho))
        if isinstance(term, EntropyTerm):
            matrix, side = _entropy_cones(term.reference)
            rows.append((matrix, side))
            cones.extend([clarabel.ExponentialConeT()] * m)
            slope, curvature = np.zeros(m), np.zeros(m)
            t_cost = np.full(m, 1.0 / term.eta)
        else:
            slope, curvature, t_cost = term.slope(np.zeros(m)), term.curvature(np.zeros(m)), np.zeros(0)
        cost = np.concatenate([slope, [weight_set.total or 0.0], t_cost])
        quadratic = sparse.diags(np.concatenate([curvature, np.zeros(1 + n_t)]))
        solution = self._run(quadratic, cost, rows, cones, tolerance, strategy)
        x, z = np.asarray(solution.x), np.asarray(solution.z)
        return Candidate(z[:n], x[:m], -z[n_above : n_above + n_rho])


def _entropy_cones(reference: np.ndarray) -> tuple[sparse.csc_matrix, np.ndarray]:
    """(-t_i, u_i, reference_i) in the exponential cone: u_i log(u_i/reference_i) <= t_i."""
    m = len(reference)
    index = np.arange(m)
    rows = np.concatenate([3 * index, 3 * index + 1])
    cols = np.concatenate([m + 1 + index, index])
    values = np.concatenate([np.ones(m), -np.ones(m)])
    side = np.zeros(3 * m)
    side[2::3] = reference
    return sparse.csc_matrix((values, (rows, cols)), shape=(3 * m, 2 * m + 1)), side
