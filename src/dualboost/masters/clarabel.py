"""Clarabel as a reference master for every formulation (extra ``dualboost[clarabel]``).

Hinge losses are solved in the paper's primal (w, xi); the formulations with a curved term in u in the paper's dual
(u, r), with exponential cones for entropies.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from .._typing import Vector
from ..algebra.columns import Columns
from ..deadlines import seconds_left
from ..errors import MissingDependencyError
from ..extras import how_to_install
from ..formulations.programme import Programme
from ..formulations.terms import EntropyTerm, LinearTerm, LogisticTerm, QuadraticTerm, RowTerm
from .base import Candidate, SolveFailure


class ClarabelMaster:
    """Builds and solves each programme from the start."""

    name: ClassVar[str] = "clarabel"
    returns_vertex: ClassVar[bool] = False
    interleaves: ClassVar[bool] = False
    strategies: ClassVar[tuple[str, ...]] = ("default", "regularised")

    def __init__(self) -> None:
        try:
            import clarabel
        except ImportError as error:
            raise MissingDependencyError(
                f"master='clarabel' needs the package clarabel: {how_to_install('clarabel')}, or use master='auto'."
            ) from error
        self._clarabel = clarabel

    @staticmethod
    def supports(programme: Programme) -> bool:
        if not programme.rows.is_whole:
            return False
        if programme.term.is_linear:
            return not programme.weight_set.is_bounded
        return isinstance(programme.term, (QuadraticTerm, EntropyTerm, LogisticTerm))

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
        settings.time_limit = max(seconds_left(), 0.0)
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
        """x = (w, xi, rho): the multiplier of row i, plus lower_i, is its dual."""
        assert isinstance(programme.term, LinearTerm)
        m, n, weight_set = columns.n_rows, columns.n_columns, programme.weight_set
        n_rho, equations = len(programme.equations), programme.equations.matrix
        clarabel = self._clarabel
        cost = np.concatenate(
            [
                weight_set.cost - columns.edges(programme.lower),
                programme.upper - programme.lower,
                programme.equations.sums(programme.lower) - programme.right_side,
            ]
        )
        hinge = sparse.hstack([-columns.dense().T, -sparse.eye(m), equations.T], format="csc")
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
        """x = (u, r, t, e): t bounds the entropies and e is the part of the edges that has a cost.

        The multipliers of the constraints on the edges are the weights.
        """
        m, n, weight_set, term = columns.n_rows, columns.n_columns, programme.weight_set, programme.term
        clarabel, entropies = self._clarabel, _entropies(term)
        is_costly = weight_set.ridge > 0 or weight_set.is_bounded
        place = _Placing((m, 1, m * len(entropies), n if is_costly else 0))
        over = place(0, columns.dense()) - place(3, sparse.eye(n, place.widths[3]))
        if weight_set.total is not None:
            over = over - place(1, np.ones((n, 1)))
        rows, cones = [(over, np.full(n, weight_set.cost))], [clarabel.NonnegativeConeT(n)]
        for bound, direction in ((programme.upper, 1.0), (programme.lower, -1.0)):
            if programme.rows.all(np.isfinite(bound)):
                rows.append((place(0, direction * sparse.eye(m)), direction * bound))
                cones.append(clarabel.NonnegativeConeT(m))
        if weight_set.is_bounded:
            rows.append((place(3, -sparse.eye(n)), np.zeros(n)))
            cones.append(clarabel.NonnegativeConeT(n))
        n_above, n_rho = sum(matrix.shape[0] for matrix, _ in rows), len(programme.equations)
        if n_rho:
            rows.append((place(0, programme.equations.matrix), programme.right_side))
            cones.append(clarabel.ZeroConeT(n_rho))
        for k, entropy in enumerate(entropies):
            rows.append(_entropy_cones(place, k, entropy))
            cones.extend([clarabel.ExponentialConeT()] * m)
        flat = np.zeros(m)
        slope, curvature = (flat, flat) if entropies else (term.slope(flat), term.curvature(flat))
        t_cost = [np.full(m, entropy.scale) for entropy in entropies]
        e_cost = np.full(place.widths[3], weight_set.bound if weight_set.is_bounded else 0.0)
        e_curvature = np.full(place.widths[3], 1.0 / weight_set.ridge if weight_set.ridge > 0 else 0.0)
        cost = np.concatenate([slope, [weight_set.total or 0.0], *t_cost, e_cost])
        quadratic = sparse.diags(np.concatenate([curvature, np.zeros(1 + place.widths[2]), e_curvature]))
        solution = self._run(quadratic, cost, rows, cones, tolerance, strategy)
        x, z = np.asarray(solution.x), np.asarray(solution.z)
        return Candidate(z[:n], x[:m], -z[n_above : n_above + n_rho])


class _Placing(NamedTuple):
    """Puts a matrix into one group of variables, with zeros for the others."""

    widths: tuple[int, ...]

    def __call__(self, group: int, matrix: Any) -> sparse.csc_matrix:
        n = matrix.shape[0]
        parts = [matrix if k == group else sparse.csc_matrix((n, width)) for k, width in enumerate(self.widths)]
        return sparse.hstack(parts, format="csc")


class _Entropy(NamedTuple):
    """scale * v log(v/reference), where v = offset + sign*u."""

    scale: float
    reference: Vector
    sign: float
    offset: Vector


def _entropies(term: RowTerm) -> list[_Entropy]:
    """The entropies that a term is the sum of; none if the term is quadratic."""
    if isinstance(term, EntropyTerm):
        return [_Entropy(1.0 / term.eta, term.reference, 1.0, np.zeros_like(term.reference))]
    if isinstance(term, LogisticTerm):
        zeros = np.zeros_like(term.scale)
        return [_Entropy(1.0, term.scale, 1.0, zeros), _Entropy(1.0, term.scale, -1.0, term.scale)]
    return []


def _entropy_cones(place: _Placing, k: int, entropy: _Entropy) -> tuple[sparse.csc_matrix, Vector]:
    """(-t_i, v_i, reference_i) in the exponential cone: v_i log(v_i/reference_i) <= t_i, for the k-th block of t."""
    m = place.widths[0]
    index, ones = np.arange(m), np.ones(m)
    t = sparse.csc_matrix((ones, (3 * index, k * m + index)), shape=(3 * m, place.widths[2]))
    v = sparse.csc_matrix((-entropy.sign * ones, (3 * index + 1, index)), shape=(3 * m, m))
    side = np.zeros(3 * m)
    side[1::3], side[2::3] = entropy.offset, entropy.reference
    return place(2, t) + place(0, v), side
