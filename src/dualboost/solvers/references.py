"""Independent solvers: HiGHS and Clarabel."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Vector
from ..arguments import how_to_install
from ..deadlines import seconds_left
from ..errors import MissingDependencyError
from ..formulations.programme import Programme
from ..formulations.terms import EntropyTerm, LinearTerm, LogisticTerm, QuadraticTerm, RowTerm
from ..matrix.columns import Columns
from .base import Candidate, SolveFailure

# ::
#
#     min  sum_j (cost - (A'lower)_j) w_j - (t - E lower)'rho + sum_i (upper_i - lower_i) xi_i
#     s.t. sum_j A_ij w_j - (E'rho)_i + xi_i >= kink,   sum_j w_j = weight total,   w, xi >= 0
#
# rho exists only where the programme has a total or an intercept, and the constraint on sum_j w_j only where it has a
# weight total. The multiplier of row i, added to lower_i, is the dual of row i.

INFINITY = highspy.kHighsInf
NO_INDEX: NDArray[np.int32] = np.array([], dtype=np.int32)
NO_VALUES: Vector = np.array([])
LIMITS = (1_000, 50)
"""The simplex method may take so many steps, and so many more for each row and column: it needs a few for each, but
goes round in circles on some programmes whose numbers differ by 1e10."""


class HighsSolver:
    """Solves the linear programmes by the simplex method; its solutions are vertices."""

    name: ClassVar[str] = "highs"
    returns_vertex: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = False
    limits: ClassVar[tuple[int, int]] = LIMITS
    strategies: ClassVar[tuple[str, ...]] = ("warm simplex", "cold simplex", "interior point and crossover")

    def __init__(self) -> None:
        self.solver = quiet_solver()
        self._n_held = 0

    @staticmethod
    def supports(programme: Programme) -> bool:
        return programme.is_linear_programme and programme.rows.is_whole

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        assert isinstance(programme.term, LinearTerm)
        n_rows, n_columns = columns.n_rows, columns.n_columns
        if self._n_held > n_columns:
            self.solver, self._n_held = quiet_solver(), 0
        if self._n_held == 0:
            self._add_rows(programme)
        self._add_columns(columns, programme)
        rows, kinks = np.arange(n_rows, dtype=np.int32), np.full(n_rows, programme.term.kink)
        self.solver.changeRowsBounds(n_rows, rows, kinks, np.full(n_rows, INFINITY))
        self.solver.changeColsCost(n_rows, rows, programme.upper - programme.lower)
        if strategy != "warm simplex":
            self.solver.clearSolver()
        self.solver.setOptionValue("solver", "ipm" if strategy.startswith("interior") else "simplex")
        solution = run(within(seconds_left(), self.solver), self.limits)
        values = np.asarray(solution.col_value)
        u = programme.lower + np.asarray(solution.row_dual)[:n_rows]
        return Candidate(values[-n_columns:], u, values[n_rows : n_rows + len(programme.equations)])

    def _add_rows(self, programme: Programme) -> None:
        """Add the rows, the slacks, rho and the total of the weights: everything but the columns."""
        n = len(programme.lower)
        rows = np.arange(n, dtype=np.int32)
        self.solver.addRows(n, np.zeros(n), np.full(n, INFINITY), 0, NO_INDEX, NO_INDEX, NO_VALUES)
        slack_costs = programme.upper - programme.lower
        self.solver.addCols(n, slack_costs, np.zeros(n), np.full(n, INFINITY), n, rows, rows, np.ones(n))
        left = programme.right_side - programme.equations.sums(programme.lower)
        for equation, side in zip(programme.equations.matrix, left, strict=True):
            self.solver.addCol(-side, -INFINITY, INFINITY, n, rows, -equation)
        weight_total = programme.weight_set.total
        if weight_total is not None:
            self.solver.addRow(weight_total, weight_total, 0, NO_INDEX, NO_VALUES)

    def _add_columns(self, columns: Columns, programme: Programme) -> None:
        lower = programme.rows.gathered(programme.lower)
        for column in columns.dense(self._n_held):
            cost = programme.weight_set.cost - float(column @ lower)
            values = column if programme.weight_set.total is None else np.append(column, 1.0)
            index = np.arange(len(values), dtype=np.int32)
            self.solver.addCol(cost, 0.0, INFINITY, len(values), index, values)
        self._n_held = columns.n_columns


def quiet_solver() -> highspy.Highs:
    """HiGHS, silent, on one thread, with tight tolerances."""
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
    return solver


def within(seconds: float, solver: highspy.Highs) -> highspy.Highs:
    """The solver with a time limit of so many seconds from now; HiGHS counts the time of all its runs."""
    if seconds < INFINITY:
        solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.0))
    return solver


def run(solver: highspy.Highs, limits: tuple[int, int] = LIMITS) -> highspy.HighsSolution:
    """Solve, or raise ``SolveFailure`` with the status that HiGHS reports."""
    n_steps, n_each = limits
    so_far = max(int(solver.getInfo().simplex_iteration_count), 0)
    most = so_far + n_steps + n_each * (solver.getNumRow() + solver.getNumCol())
    solver.setOptionValue("simplex_iteration_limit", most)
    solver.setOptionValue("ipm_iteration_limit", n_steps)
    solver.run()
    status = solver.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolveFailure(f"HiGHS: {solver.modelStatusToString(status)}")
    return solver.getSolution()


# Hinge losses are solved in the paper's primal (w, xi); the formulations with a curved term in u in the paper's dual
# (u, r), with exponential cones for entropies.


class ClarabelSolver:
    """Builds and solves each programme from the start."""

    name: ClassVar[str] = "clarabel"
    returns_vertex: ClassVar[bool] = False
    warm_starts: ClassVar[bool] = False
    strategies: ClassVar[tuple[str, ...]] = ("default", "regularised")

    def __init__(self) -> None:
        try:
            import clarabel
        except ImportError as error:
            raise MissingDependencyError(
                f"method='clarabel' needs the package clarabel: {how_to_install('clarabel')}, or use method='auto'."
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
