"""What happened during a fit: one record an iteration, and everything the loop found."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Vector
from ..trees.learner import Learner

AnyTrace = TypeVar("AnyTrace", bound="Trace")


@dataclass(frozen=True)
class Iteration:
    """One row of ``history_``."""

    iteration: int
    objective: float
    gap: float
    edge: float
    threshold: float
    train_accuracy: float
    validation_score: float
    n_trees: int
    pricing_seconds: float
    master_seconds: float
    n_generated: int = 0
    bound: float = float("nan")
    """A bound on the optimal objective over all learners of the class, from the next pricing; nan without a proof."""


@dataclass
class Trace:
    """The learners in order, and the ensemble as it was optimised after each of them."""

    learners: list[Learner] = field(default_factory=list)
    weights: list[Vector] = field(default_factory=list)
    intercepts: list[float] = field(default_factory=list)
    """The intercept of each iteration; zero where there is none."""
    iterations: list[Iteration] = field(default_factory=list)
    duals: Vector = field(default_factory=lambda: np.zeros(0))
    """The final duals of the iteration that is kept."""
    kept: int = -1
    """The iteration whose ensemble is the result."""
    stop_reason: str = "max_trees"
    certified: bool | None = None
    """Whether the result is proven optimal over all learners of the class; None where the pricers prove nothing."""

    def append(self, w: Vector, intercept: float, u: Vector, iteration: Iteration, keep: bool) -> None:
        """Add the ensemble of one iteration; with ``keep`` it becomes the result so far."""
        self.weights.append(w)
        self.intercepts.append(intercept)
        self.iterations.append(iteration)
        if keep:
            self.duals, self.kept = u, len(self.iterations) - 1

    def replace_result(self, w: Vector, intercept: float, u: Vector, iteration: Iteration) -> None:
        """Replace the ensemble that was kept by the polished one."""
        self.weights[self.kept], self.intercepts[self.kept], self.duals = w, intercept, u
        self.iterations[self.kept] = iteration

    @property
    def n_recorded(self) -> int:
        """How many learners the last recorded ensemble had to choose from."""
        return len(self.weights[-1]) if self.weights else 0

    def note_bound(self, bound: float, iteration: int = -1) -> None:
        """Record the bound that a proven pricing gave for an iteration, by default the last one."""
        if self.iterations:
            self.iterations[iteration] = replace(self.iterations[iteration], bound=bound)

    def stopped(self: AnyTrace, reason: str) -> AnyTrace:
        self.stop_reason = reason
        return self

    @property
    def intercept(self) -> float:
        """The intercept of the result."""
        return self.intercepts[self.kept]

    @property
    def n_generated(self) -> int:
        """How many learners were generated."""
        return len(self.learners)

    @property
    def result(self) -> Iteration:
        return self.iterations[self.kept]

    @property
    def best(self) -> int:
        """The first iteration with the best validation score."""
        return int(np.argmax(np.nan_to_num([row.validation_score for row in self.iterations], nan=-np.inf)))

    def final_weights(self) -> Vector:
        """The weights of the result, with zeros for the learners generated after it."""
        w = self.weights[self.kept]
        return np.concatenate([w, np.zeros(len(self.learners) - len(w))])

    def leaf_stages(self) -> Any:
        """The ensembles on the way where leaves are corrected; None where trees are, and ``weights`` tell all."""
        return None

    def history(self) -> dict[str, NDArray[Any]]:
        """``history_``: arrays of equal length, one for each attribute of ``Iteration``."""
        names = [attribute.name for attribute in fields(Iteration)]
        return {name: np.array([getattr(row, name) for row in self.iterations]) for name in names}
