"""The seam between the loop and the choice of duals: what the next pricing asks for, and when to stop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from ..._typing import Vector
from ...algebra.columns import Columns
from ...formulations.base import Formulation
from ...masters.base import MasterSolution


class PricingDuals(NamedTuple):
    """What to price with."""

    u: Vector
    threshold: float
    """What an edge under u must exceed for its column to enter."""
    is_settled: bool
    """Whether no better u is to come over the same columns: then a pricing that brings nothing new is the last."""


class Guide(ABC):
    """Chooses the duals between two pricings. Stateful: it may remember what earlier pricings gave."""

    needs_optimum: ClassVar[bool]
    """Whether the master is to be solved to the end before every choice."""

    def __init__(self, formulation: Formulation, tol: float) -> None:
        self.formulation, self.tol = formulation, tol

    @abstractmethod
    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> PricingDuals | None:
        """The next duals, after the columns found at ``priced`` entered; None where the guarantee sought is met."""


def largest_share_edge(columns: Columns, priced: Vector) -> float:
    """The largest edge held, the one just found included, under the duals that found it, as shares of one."""
    return float(columns.edges(priced).max() / columns.rows.total(priced))


def uniform_shares(columns: Columns) -> Vector:
    """Each row's share of all multiplicities: the uniform distribution that these guides stay close to."""
    return columns.rows.counts / columns.rows.n_samples
