"""A point: values for all leaves, and the derivatives of the objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Matrix, Scores, Vector
from ..matrix.leaves import LeafColumns
from ..workers.base import cached_property
from .base import Candidate, Solution, certify, relative_gap

AnyPoint = TypeVar("AnyPoint", bound="Point")

# Values have a row for each leaf, and scores a row for each row of the data. Where rows have K scores, both have K
# columns, and there are K intercepts. A direction has a row for each leaf, and a last one for the intercepts.


@dataclass(frozen=True, eq=False)
class Point(ABC):
    """Values for the leaves held, the intercepts, and the scores of the rows without the intercepts."""

    programme: Any
    columns: Any
    values: Scores
    intercept: Any
    scores: Scores
    duals: Scores | None = None
    """Optimal duals where the loss has kinks, since scores do not determine the duals of rows in a kink."""

    most_iterations: ClassVar[int] = 60
    """The most iterations of conjugate gradients for Newton's equations."""
    slow: ClassVar[int] = 12
    """After more iterations than this, the preconditioner is computed anew at the next step."""

    @property
    def ridge(self) -> float:
        return float(self.programme.ridge)

    @property
    @abstractmethod
    def _of_rows(self) -> tuple[Any, ...]:
        """The total loss and its derivatives."""

    @cached_property
    def objective(self) -> float:
        return float(self._of_rows[0] + 0.5 * self.ridge * float((self.values**2).sum()))

    @property
    @abstractmethod
    def residual(self) -> Scores:
        """The negative gradient of the loss with respect to the scores."""

    @property
    @abstractmethod
    def curvature(self) -> Scores:
        """A second derivative for each score."""

    @cached_property
    def shared_curvature(self) -> Vector:
        """The mean of the curvature over the scores of a row, for one Hessian that serves all of them."""
        return self.curvature if self.curvature.ndim == 1 else self.curvature.mean(axis=1)

    @property
    def blocks(self) -> list[tuple[slice, LeafColumns, Vector]]:
        """Blocks that approximate the Hessian: the scores that each serves, its leaves, and the curvature of rows."""
        return [(slice(None), self.columns, self.shared_curvature)]

    @property
    def scales(self) -> Any:
        """The roots of the ratios of the true diagonal of the Hessian and the diagonals of ``blocks``."""
        return 1.0

    def curved(self, change: Scores) -> Scores:
        """The true second derivatives times a change of the scores."""
        return self.curvature * change

    def centred(self, step: Scores) -> Scores:
        """The step without a part that changes no loss; may change the step in place."""
        return step

    @cached_property
    def _sums(self) -> Scores:
        sums: Scores = self.columns.sums_and_total(self.residual)
        return sums

    @property
    def descent(self) -> Scores:
        """The negative gradient of the objective with respect to the values and the intercepts."""
        descent = self._sums.copy()
        descent[:-1] -= self.ridge * self.values
        return descent

    def moved(self: AnyPoint, direction: Scores, change: Scores, length: float) -> AnyPoint:
        """The point after a step; ``change`` is how the direction of the values changes the scores."""
        intercept = self.intercept + length * direction[-1]
        return self.at(self.values + length * direction[:-1], intercept, self.scores + length * change)

    def at(self: AnyPoint, values: Scores, intercept: Any, scores: Scores) -> AnyPoint:
        """Another point of the programme, over the leaves held now."""
        intercept = intercept if np.ndim(intercept) else float(intercept)
        return replace(self, values=values, intercept=intercept, scores=scores, duals=None)

    def adopting(self: AnyPoint, solution: Solution) -> AnyPoint:
        """The point of a solution over the trees held."""
        return self.at(solution.w, solution.rho, solution.margins)

    @abstractmethod
    def certified(self) -> Solution:
        """The point with its duality gap."""

    def solution(self, u: Scores, edges: Scores, dual: float, size: float = 0.0) -> Solution:
        """The point with the gap to a dual value, relative to the objective or to a larger size."""
        return Solution(
            w=self.values,
            u=u,
            rho=self.intercept,
            margins=self.scores,
            edges=edges,
            threshold=0.0,
            primal=self.objective,
            dual=dual,
            programme=self.programme,
            gap=relative_gap(self.objective, dual, max(self.objective, size)),
        )


class LeafPoint(Point):
    """A point of a programme over margins: one score for each row."""

    @classmethod
    def start(cls, programme: Any, columns: LeafColumns) -> LeafPoint:
        """No tree, and an intercept of zero."""
        return cls(programme, columns, np.zeros(0), 0.0, columns.rows.full(0.0))

    @property
    def ridge(self) -> float:
        return float(self.programme.weight_set.ridge)

    @property
    def rho(self) -> Vector:
        """The multiplier of the free intercept."""
        return np.array([self.intercept])

    @cached_property
    def margins(self) -> Vector:
        """A v, without the intercept."""
        margins: Vector = self.columns.operator.apply(self.scores)
        return margins

    @cached_property
    def _of_rows(self) -> tuple[float, Vector, Vector]:
        programme, rows, rho = self.programme, self.programme.rows, self.rho
        u, curvature = rows.empty(), rows.empty()

        def work(block: slice) -> float:
            part = programme.block(block)
            margins = part.shifted(self.margins[block], rho)
            losses, u[block], curvature[block] = part.term.expansion(margins, part.lower, part.upper)
            return float(losses.sum())

        return float(rows.add_up(work)), u, curvature

    @cached_property
    def objective(self) -> float:
        return float(self._of_rows[0] + self.programme.weight_set.value(self.values))

    @property
    def u(self) -> Vector:
        """The duals that are optimal for the rows at these scores."""
        return self._of_rows[1] if self.duals is None else self.duals

    @cached_property
    def curvature(self) -> Vector:
        curvature: Vector = self.columns.operator.curvature(self._of_rows[2])
        return curvature

    @cached_property
    def residual(self) -> Vector:
        residual: Vector = self.columns.operator.adjoint(self.u)
        return residual

    def adopting(self, solution: Solution) -> LeafPoint:
        scores = self.columns.operator.scores(solution.margins)
        return replace(self.at(solution.w, solution.rho[-1], scores), duals=solution.u)

    def certified(self) -> Solution:
        u, edges = self.balanced()
        return certify(self.columns, self.programme, Candidate(self.values, u, self.rho), (self.margins, edges))

    def balanced(self) -> tuple[Vector, Vector]:
        """Duals with equal sums on both sides, which a free intercept requires, and their edges.

        The duals of the larger side are scaled down. Any other equation, or a bound that scaling would cross, is left
        to ``certify``.
        """
        programme, u = self.programme, self.u
        if len(programme.equations) != 1 or programme.total is not None or programme.rows.any(programme.lower > 0):
            return u, self._sums[:-1]
        terms = u * programme.equations.matrix[0]
        signed, absolute = programme.rows.totals([terms, np.abs(terms)]).tolist()
        one_side = (absolute + abs(signed)) / 2
        if not 0 < abs(signed) < one_side:
            return u, self._sums[:-1]
        u = np.where(terms * signed > 0, u * ((one_side - abs(signed)) / one_side), u)
        return u, self.columns.edges(u)


RAREST = 1e-12
"""The probability that a class without rows begins with."""


class SoftmaxPoint(Point):
    """A point of the cross-entropy: a score for each row and class.

    The columns are ``VectorLeafColumns``, or ``RoundLeafColumns`` where every class has trees of its own.
    """

    most_iterations: ClassVar[int] = 200
    slow: ClassVar[int] = 40

    @classmethod
    def start(cls, programme: Any, columns: Any) -> SoftmaxPoint:
        """No tree, and the intercepts of the class balance."""
        totals = programme.totals
        balance = np.log(np.maximum(totals, RAREST * totals.sum()))
        shape = (programme.rows.n_data, programme.n_classes)
        return cls(programme, columns, np.zeros((0, shape[1])), balance - balance.mean(), np.zeros(shape))

    @cached_property
    def _of_rows(self) -> tuple[float, Matrix]:
        found: tuple[float, Matrix] = self.programme.expansion(self.scores + self.intercept)
        return found

    @property
    def probabilities(self) -> Matrix:
        return self._of_rows[1]

    @cached_property
    def residual(self) -> Matrix:
        residual: Matrix = self.programme.residual(self.programme.prices[:, None] * self.probabilities)
        return residual

    @cached_property
    def curvature(self) -> Matrix:
        """A second derivative for each row and class, as if classes were independent.

        The factor K/(K-1) makes up for that: it is exact for two classes, and for evenly likely ones in directions that
        sum to zero, which all steps do.
        """
        n_classes = self.programme.n_classes
        return (n_classes / (n_classes - 1)) * self.programme.prices[:, None] * self._variances

    @property
    def _variances(self) -> Matrix:
        return self.probabilities * (1.0 - self.probabilities)

    @property
    def blocks(self) -> list[tuple[slice, LeafColumns, Vector]]:
        """One block for all classes; where each class has its own trees, one for each class.

        The Hessian also has blocks between classes, which conjugate gradients take into account.
        """
        if not self.columns.has_own_trees:
            return super().blocks
        curvature = self.programme.prices[:, None] * self._variances
        return [(slice(k, k + 1), own, curvature[:, k]) for k, own in enumerate(self.columns.of_class)]

    @cached_property
    def scales(self) -> Any:
        if self.columns.has_own_trees:
            return 1.0
        diagonals = self.diagonals(np.column_stack([self.curvature, self.shared_curvature]))
        return np.sqrt(diagonals[:, :-1] / diagonals[:, -1:])

    def diagonals(self, curvatures: Matrix) -> Matrix:
        """The diagonal of the Hessian of each class, given the curvature of each row."""
        return with_ridge(self.columns.sums_and_total(curvatures), self.ridge)

    def curved(self, change: Matrix) -> Matrix:
        p = self.probabilities
        moved = p * change
        moved -= p * moved.sum(axis=1, keepdims=True)
        moved *= self.programme.prices[:, None]
        return moved

    def centred(self, step: Matrix) -> Matrix:
        """The step without its mean over the classes, which changes no probability.

        Where each class has its own trees, this holds for the intercepts alone.
        """
        if self.columns.has_own_trees:
            step[-1] -= step[-1].mean()
            return step
        return step - step.mean(axis=-1, keepdims=True)

    def summed(self, values: NDArray[np.floating]) -> Vector:
        """The sum of the rows of a matrix, wherever they are held."""
        total: Vector = self.programme.rows.workers.sum(values.sum(axis=0, dtype=float))
        return total

    def certified(self) -> Solution:
        """The duals are the probabilities, moved to the sums that rows and classes must have."""
        programme = self.programme
        shares = programme.feasible(programme.prices[:, None] * self.probabilities)
        residual = programme.residual(shares)
        edges = self.columns.sums(residual)
        return self.solution(residual, edges, programme.dual_value(shares, edges))


FLATTEST = 1e-10
"""The smallest diagonal entry of the intercept's equation, which has no ridge, relative to the ridge of a value."""


def with_ridge(diagonal: Scores, ridge: float) -> Scores:
    """Add the ridge to the diagonal of the Hessian of a loss, in place; the last entry belongs to the intercept."""
    diagonal[:-1] += ridge
    diagonal[-1] += FLATTEST * ridge
    return diagonal
