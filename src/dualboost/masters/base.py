"""The interface between the loop and the solvers: what a master is given, and what it returns.

Signs
-----
* ``w >= 0``: one weight for each column, in the order of the columns.
* ``u``: the duals, one for each row, in the units of the formulation's box. For the formulations solved in w it is the
  multiplier of ``margin_i >= ...``, positive where a larger margin would improve the objective; only a formulation
  without a lower bound (``md``) has negative duals.
* ``rho``: the multipliers of ``E u = t``. The multiplier of the total is the soft margin of the capped formulations,
  the multiplier of a column of constant output is the intercept; without such equations ``rho`` is empty.
* stationarity: ``g'(u_i) + (margins - E'rho)_i`` is 0 inside the box, >= 0 where u_i is at its lower and <= 0 at its
  upper bound; ``edges = A'u``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .._typing import Integers, Vector
from ..algebra.columns import Columns
from ..algebra.rows import Rows
from ..formulations.programme import Programme


class Candidate(NamedTuple):
    """What a solver claims to be optimal; ``certify`` measures how far from the optimum it is."""

    w: Vector
    u: Vector
    rho: Vector = np.zeros(0)

    def is_finite(self, rows: Rows) -> bool:
        return bool(np.isfinite(self.w).all() and np.isfinite(self.rho).all()) and rows.all(np.isfinite(self.u))


@dataclass(frozen=True, eq=False)
class MasterSolution:
    """Weights and duals that are feasible, with a certificate computed from them alone."""

    w: Vector
    u: Vector
    rho: Vector
    margins: Vector
    edges: Vector
    threshold: float
    primal: float
    dual: float
    programme: Any
    """The programme that was solved, with what the master found of it, such as class weights."""
    gap: float
    """(primal - dual), relative to the larger of both in absolute value (see ``certificate.relative_gap``)."""


class SolveFailure(Exception):
    """A solver stopped without an optimum; the ladder then tries the next strategy or the next master."""


SOLVER_ERRORS = (SolveFailure, RuntimeError, ValueError, ArithmeticError)
"""What a solver may raise: its own failure, or what escapes from libraries where numbers are extreme."""


class MasterFailed(Exception):
    """No master reached the tolerance; ``best`` is the best certified solution found, if any."""

    def __init__(self, best: MasterSolution | None, attempts: list[str]) -> None:
        super().__init__("; ".join(attempts))
        self.best = best
        self.attempts = attempts


class Master(Protocol):
    """Solves the programme over the columns held. Stateful: it may keep a basis or an iterate between calls."""

    name: ClassVar[str]
    returns_vertex: ClassVar[bool]
    """Whether a linear programme's solution is basic."""
    interleaves: ClassVar[bool]
    """Whether its steps may be interleaved with pricing; a reference master solves every programme to the end."""
    strategies: ClassVar[tuple[str, ...]]
    """Ways to solve the same programme; a later one is tried when those before it have failed."""

    @staticmethod
    def supports(programme: Programme) -> bool:
        """Whether this master can solve programmes of that shape."""

    def solve(self, columns: Columns, programme: Programme, tolerance: float, strategy: str) -> Candidate:
        """A candidate with a relative gap of about ``tolerance``, or ``SolveFailure``."""


class Reoptimiser(Protocol):
    """What the loop asks of masters: weights and duals for the columns held, as good as the next pricing needs."""

    @property
    def tolerance(self) -> float:
        """The largest relative gap of what ``polish`` returns."""

    @property
    def is_exact(self) -> bool:
        """Whether ``solve`` already returns the optimum, so that nothing is left to polish."""

    def solve(self, columns: Columns, programme: Any) -> MasterSolution:
        """A certified solution; a further call without a new column returns a better one."""

    def polish(self, columns: Columns, programme: Any) -> MasterSolution:
        """The optimum, to the tolerance."""

    def move_to(self, columns: Columns, programme: Any) -> None:
        """Go on with a programme of the same formulation at another C."""

    def divide_rows(self, parents: Integers, shares: Vector) -> None:
        """Go on over new rows: row i has the entries of the old row ``parents[i]`` and ``shares[i]`` of its weight."""

    def forget(self) -> None:
        """Forget every iterate and basis: the next programme is over other rows, or over fewer columns."""
