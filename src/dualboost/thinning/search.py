"""Computes many ensembles of a model's members with new weights, beginning with the sparsest."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import Integers, Vector
from ..errors import InvalidDataError, InvalidParameterError
from ..formulations import Formulation, Programme
from ..loop.wiring import wire
from ..masters import MasterFailed, MasterSolution, SolverOptions
from ..tasks.scoring import ScorerFailed, Scoring
from .base import Adapter
from .member_master import EXACT, LOOSE, MemberMaster, Trust
from .methods import Method
from .point import Point
from .rows import MemberRows


class Search:
    """Ensembles of a model's members, or of some of them, scored on the validation rows or else on ``rows``."""

    def __init__(
        self,
        adapter: Adapter,
        method: Method,
        rows: MemberRows,
        validation: MemberRows | None,
        formulation: Formulation,
        max_trees: int | None,
        members: Integers | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        self._adapter, self._scoring = adapter, scoring or Scoring()
        self._rows, self._validation = rows, validation
        self._max_columns = max_trees
        self._scales = method.scales(adapter, rows)
        if members is not None:
            self._scales[np.setdiff1d(np.arange(adapter.n_members), members)] = 0.0
        self._goals = method.goals(adapter, rows)
        task, targets = adapter.task, method.targets(rows)
        self.columns, self.members = rows.columns(task.operator(targets), self._scales, task.groups(targets))
        if not len(self.members):
            raise InvalidDataError("Every member of the model says the same of all rows of X: nothing can be thinned.")
        self._wiring = wire(
            *(task, targets, formulation, self.columns, SolverOptions(), LOOSE.precision),
            has_intercept=method.has_intercept,
            n_columns=adapter.n_members,
        )

    def grown(self, C: float) -> Iterator[Point]:
        """Ensembles that grow: at every step the members with the largest edges enter, and all weights are updated."""
        master = MemberMaster(self._wiring, LOOSE)
        try:
            for solution in master.grow(self._programme(C)):
                used = LOOSE.used(solution.w)
                if self._max_columns is not None and len(used) > self._max_columns:
                    return
                if len(used):
                    yield self._point(C, master.active[used], solution.w[used], solution)
        except ScorerFailed:
            raise
        except (MasterFailed, InvalidParameterError):  # the ensembles found so far are enough to choose from
            return

    def along(self, Cs: Vector) -> Iterator[Point]:
        """The optimum over all members for each C, in the order given; an empty ensemble gives no point."""
        master = MemberMaster(self._wiring, LOOSE)
        for C in map(float, Cs):
            try:
                yield from self._of(master.solve(self._programme(C)), C, LOOSE)
            except ScorerFailed:
                raise
            except (MasterFailed, InvalidParameterError):  # no solver can solve this value of C
                continue

    def at(self, C: float) -> Point:
        """The ensemble for one C; if it is empty, one member of weight zero and an intercept for the larger class."""
        solution = MemberMaster(self._wiring, EXACT).solve(self._programme(C))
        points = self._of(solution, C, EXACT)
        return points[0] if points else self._point(C, np.zeros(1, dtype=np.intp), np.zeros(1), solution)

    def over(self, chosen: Integers, C: float, trust: Trust) -> Point:
        """The chosen columns with the optimal weights over these columns only; may raise ``MasterFailed``."""
        programme = self._programme(C)
        master = self._wiring.master_for(programme, trust.precision)
        solution = master.polish(self.columns.subset(chosen), programme)
        used = trust.used(solution.w)
        return self._point(C, chosen[used], solution.w[used], solution)

    def smallest_useful_C(self) -> float | None:
        """The C up to which no member gets a weight, if the formulation knows it."""
        formulation = self._wiring.formulation
        return formulation.smallest_useful_C(
            float(self.columns.edges(formulation.multiplicities(self.columns.rows)).max())
        )

    def _programme(self, C: float) -> Programme:
        return self._wiring.at(C).programme()

    def _of(self, solution: MasterSolution, C: float, trust: Trust) -> list[Point]:
        """The solution's ensemble, reduced to its most important columns if it has too many; no point if empty."""
        used = trust.used(solution.w)
        if not len(used):
            return []
        if self._max_columns is None or len(used) <= self._max_columns:
            return [self._point(C, used, solution.w[used], solution)]
        sizes = np.array([float(np.abs(self.columns.entries(int(j))).mean()) for j in used])
        order = np.argsort(-solution.w[used] * sizes, kind="stable")
        return [self.over(np.sort(used[order[: self._max_columns]]), C, trust)]

    def _point(self, C: float, chosen: Integers, w: Vector, solution: MasterSolution) -> Point:
        """The ensemble in the units of the model, recalibrated, with its scores."""
        members = self.members[chosen]
        weights = w * self._scales[members]
        intercept = self._intercept(solution, w)
        scores = self._rows.scores(members, weights, intercept)
        size = float(np.abs(weights).sum()) + abs(intercept)
        factor, shift = self._adapter.link.recalibration(scores, self._goals, self._rows.counts, size)
        weights, intercept = factor * weights, factor * intercept + shift
        scores = factor * scores + shift
        task, curve = self._wiring.task, self._adapter.recalibrated(scores, self._rows.labels, self._rows.counts)
        train_score = self._scoring.score(self._rows.scored(scores, task, curve))
        validation_score = np.nan
        if self._validation is not None:
            validated = self._validation.scores(members, weights, intercept)
            validation_score = self._scoring.score(self._validation.scored(validated, task, curve))
        return Point(C, members, weights, intercept, train_score, validation_score, solution)

    def _intercept(self, solution: MasterSolution, w: Vector) -> float:
        if not w.any():
            return 1.0 if self._wiring.task.baseline(self._wiring.targets, self.columns.rows) > 0 else -1.0
        return float(solution.rho[-1]) if self._wiring.has_intercept else 0.0
