"""The interface of guides: they choose the duals for the next pricing, and say when a guarantee is met."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from ..._typing import Vector
from ...algebra.columns import Columns
from ...formulations.base import Formulation
from ...masters.base import MasterSolution


class PricingDuals(NamedTuple):
    """The duals to price with, and what they mean for the columns found."""

    u: Vector
    threshold: float
    """What an edge under u must exceed for its column to enter."""
    is_settled: bool
    """Whether u is final for the columns held, so that a pricing without a new column ends the loop."""


class Guide(ABC):
    """Chooses the duals between two pricings. Stateful: it may remember earlier pricings."""

    needs_optimum: ClassVar[bool]
    """Whether the master must be solved to the optimum before every choice."""

    def __init__(self, formulation: Formulation, tol: float) -> None:
        self.formulation, self.tol = formulation, tol

    @abstractmethod
    def next(self, columns: Columns, solution: MasterSolution, priced: Vector) -> PricingDuals | None:
        """The next duals, after columns found with the duals ``priced`` entered; None once the guarantee is met."""


def largest_share_edge(columns: Columns, priced: Vector) -> float:
    """The largest edge held, the new column included, under the duals ``priced`` scaled to add up to one."""
    return float(columns.edges(priced).max() / columns.rows.total(priced))


def uniform_shares(columns: Columns) -> Vector:
    """Each row's share of all multiplicities: the uniform distribution, which some guides stay close to."""
    return columns.rows.counts / columns.rows.n_samples
