"""New weights for a model's members."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .._typing import Integers, Vector
from ..boosting.context import make_fit_context
from ..boosting.observers import ProgressBar
from ..errors import DegenerateEnsembleWarning, InvalidDataError, InvalidParameterError, SolverWarning
from ..formulations import Formulation, Programme
from ..solvers import Solution, SolverFailed, SolverOptions
from ..targets.scoring import ScorerFailed, Scoring
from .base import Adapter
from .member_solver import EXACT, LOOSE, MemberSolver, Trust
from .refitting import Candidates, sizes_below
from .result import ROUNDING, USER, CandidateScore, Chosen, Point, take, warn_best_of_few, warn_by_heart, warn_unchanged
from .rows import ModelRows
from .trials import Trial, Trials


@dataclass(frozen=True)
class Method:
    """The targets of the programme, and the ensemble of the path that is taken.

    ``imitate`` fits the decisions of the model, which a few members reproduce better than noisy labels. The column of a
    member is its contribution to the model, so that the members that matter most need the smallest weights. The
    intercept is free. Beside the optimum for every C, it tries ensembles that grow member by member at the C that uses
    the most members. The smallest ensemble within the tolerance is taken.

    ``reweight`` is the experiment of the paper: every member is a column of votes of at most one in size, the labels
    are y, there is no intercept, and the ensemble with the best score is taken.
    """

    name: str
    imitates: bool

    def targets(self, adapter: Adapter, rows: ModelRows) -> Vector:
        """The targets of the programme: the model's decisions, or y if the model always decides for one class."""
        decisions = np.where(rows.full_scores > adapter.cut, 1.0, -1.0)
        return decisions if self.imitates and decisions.min() < decisions.max() else rows.labels

    def goals(self, adapter: Adapter, rows: ModelRows) -> Vector:
        """The probabilities that the ensemble is fitted to."""
        if self.imitates:
            return adapter.link.expected(rows.full_scores)
        return np.where(rows.labels > 0, 1.0, 0.0)

    def scales(self, adapter: Adapter, rows: ModelRows) -> Vector:
        """The factor of each member's outputs in its column; zero leaves the member out."""
        largest = np.array([np.abs(rows.outputs(j)).max() for j in range(len(rows.members))])
        if self.imitates:
            contributions = np.abs(adapter.weights) * largest
            return adapter.weights / max(float(contributions.max(initial=0.0)), np.finfo(float).tiny)
        return np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)


METHODS = {method.name: method for method in (Method("imitate", imitates=True), Method("reweight", imitates=False))}


class Search:
    """Ensembles of a model's members, or of some of them, fitted and judged on the rows of a trial."""

    def __init__(
        self,
        method: Method,
        trial: Trial,
        formulation: Formulation,
        max_trees: int | None,
        members: Integers | None = None,
        scoring: Scoring | None = None,
    ) -> None:
        adapter, rows = trial.adapter, trial.training
        self._candidates = Candidates(trial, scoring or Scoring())
        self._max_columns = max_trees
        self._scales = method.scales(adapter, rows)
        if members is not None:
            self._scales[np.setdiff1d(np.arange(adapter.n_members), members)] = 0.0
        self._goals = method.goals(adapter, rows)
        target, targets = adapter.target, method.targets(adapter, rows)
        self.columns, self.members = rows.columns(target.operator(targets), self._scales, target.groups(targets))
        if not len(self.members):
            raise InvalidDataError(
                "Every member of the model has the same output for all rows of X: nothing can be thinned."
            )
        self._fit_context = make_fit_context(
            *(target, targets, formulation, self.columns, SolverOptions(), LOOSE.precision),
            has_intercept=method.imitates,
            n_columns=adapter.n_members,
        )

    def grown(self, C: float) -> Iterator[Point]:
        """Ensembles that grow: at every step the members with the largest edges enter, and all weights are updated."""
        solver = MemberSolver(self._fit_context, LOOSE)
        try:
            for solution in solver.grow(self._programme(C)):
                used = LOOSE.used(solution.w)
                if self._max_columns is not None and len(used) > self._max_columns:
                    return
                if len(used):
                    yield self._point(C, solver.active[used], solution.w[used], solution)
        except ScorerFailed:
            raise
        except (SolverFailed, InvalidParameterError):  # the ensembles found so far are enough to choose from
            return

    def along(self, Cs: Vector) -> Iterator[Point]:
        """The optimum over all members for each C, in the order given; an empty ensemble gives no point."""
        solver = MemberSolver(self._fit_context, LOOSE)
        for C in map(float, Cs):
            try:
                yield from self._of(solver.solve(self._programme(C)), C, LOOSE)
            except ScorerFailed:
                raise
            except (SolverFailed, InvalidParameterError):  # no solver can solve this value of C
                continue

    def at(self, C: float) -> Point:
        """The ensemble for one C; if it is empty, one member of weight zero and an intercept for the larger class."""
        solution = MemberSolver(self._fit_context, EXACT).solve(self._programme(C))
        points = self._of(solution, C, EXACT)
        return points[0] if points else self._point(C, np.zeros(1, dtype=np.intp), np.zeros(1), solution)

    def over(self, column_ids: Integers, C: float, trust: Trust) -> Point:
        """The chosen columns with the optimal weights over these columns only; may raise ``SolverFailed``."""
        programme = self._programme(C)
        solver = self._fit_context.solver_for(programme, trust.precision)
        solution = solver.polish(self.columns.subset(column_ids), programme)
        used = trust.used(solution.w)
        return self._point(C, column_ids[used], solution.w[used], solution)

    def smallest_useful_C(self) -> float | None:
        """The C up to which no member gets a weight, if the formulation can compute it."""
        formulation = self._fit_context.formulation
        return formulation.smallest_useful_C(
            float(self.columns.edges(formulation.multiplicities(self.columns.rows)).max())
        )

    def _programme(self, C: float) -> Programme:
        return self._fit_context.at(C).programme()

    def _of(self, solution: Solution, C: float, trust: Trust) -> list[Point]:
        """The solution's ensemble, reduced to its most important columns if it has too many; no point if empty."""
        used = trust.used(solution.w)
        if not len(used):
            return []
        if self._max_columns is None or len(used) <= self._max_columns:
            return [self._point(C, used, solution.w[used], solution)]
        sizes = np.array([float(np.abs(self.columns.entries(int(j))).mean()) for j in used])
        order = np.argsort(-solution.w[used] * sizes, kind="stable")
        return [self.over(np.sort(used[order[: self._max_columns]]), C, trust)]

    def _point(self, C: float, column_ids: Integers, w: Vector, solution: Solution) -> Point:
        members = self.members[column_ids]
        own = members, w * self._scales[members], self._intercept(solution, w)
        return self._candidates.weighted(*own, self._goals, C=C, solution=solution)

    def _intercept(self, solution: Solution, w: Vector) -> float:
        if not w.any():
            return 1.0 if self._fit_context.target.baseline(self._fit_context.targets, self.columns.rows) > 0 else -1.0
        return float(solution.rho[-1]) if self._fit_context.has_intercept else 0.0


N_VALUES = 10
"""The number of values of C on the path."""
DENSE = 0.5
"""The path ends at an optimum with more than this fraction of the members: growing ensembles are as good but cheap."""
BEYOND = 0.2
"""After an ensemble is good enough, it grows by this fraction more, to show how the accuracy goes on."""


@dataclass(frozen=True, eq=False)
class Thinning:
    """The inputs of thinning: the model, the method, the formulation, the rows, and the tolerated loss of the score."""

    adapter: Adapter
    method: Method
    formulation: Formulation
    rows: ModelRows
    validation: ModelRows | None
    tolerance: float
    max_trees: int | None
    shows_progress: bool
    scoring: Scoring = field(default_factory=Scoring)

    def at_given_C(self) -> Chosen:
        """The optimum at the formulation's own C, on all rows."""
        C = self.formulation.resolve(float(self.rows.counts.sum())).C_value
        solved = _solved_once(self._search(self.rows, self.validation), C)
        on = self.validation or self.rows
        words = "the rows of X" if self.validation is None else f"validation_data ({len(on.labels)} rows)"
        return Chosen([self._tried(solved)], 0, solved, self._full_score(on), words)

    def along_path(self, trials: Trials) -> Chosen:
        """The smallest ensemble of the path that is good enough, or the best one, depending on the method."""
        if not trials.is_honest:
            warn_by_heart(self.rows)
        judged = trials.trials[0].judged
        full_score, name = self._full_score(judged), self.scoring.label
        enough = full_score - self.tolerance if self.method.imitates else np.inf
        points = self._points(trials.trials[0], enough)
        taken = take(points, enough)
        if taken is None and self.max_trees is not None and points:
            warn_best_of_few(self.max_trees, name, enough)
            taken = take(points, np.inf)
        if taken is None:
            path = [self._tried(point) for point in points]
            warn_unchanged(path, enough, self.tolerance, self.rows, name, by_heart_hint=True)
            return Chosen(path, None, None, full_score, trials.judged_on)
        final = self._final(taken, enough, trials.trials[0])
        if self.validation is not None:  # the path is to show the ensemble that is returned
            points, taken = [final if point is taken else point for point in points], final
        place = next(k for k, point in enumerate(points) if point is taken)
        return Chosen([self._tried(point) for point in points], place, final, full_score, trials.judged_on)

    def _points(self, trial: Trial, enough: float) -> list[Point]:
        """The ensembles to choose from, in order of size."""
        training, others = trial.training, None if trial.judged is trial.training else trial.judged
        values = _sparsest_first(self.formulation, float(training.counts.sum()))
        points = _path(self._search(training, others), values, enough, self.method.imitates, self.shows_progress)
        if self.method.imitates:
            candidates = Candidates(trial, self.scoring)
            sizes = sizes_below(self.adapter.n_members, self.max_trees)
            few = [size for size in sizes if self.max_trees is None or size <= self.max_trees]
            points += [candidates.truncated(size) for size in few]
        return sorted(points, key=lambda point: point.size)

    def _final(self, taken: Point, enough: float, trial: Trial) -> Point:
        """The ensemble taken; new weights are fitted to all rows, at the C that means the same there."""
        if taken.solution is None:
            return taken
        ratio = float(self.rows.counts.sum() / trial.training.counts.sum())
        C = float(self.formulation.carried(np.array(taken.C), ratio))
        return _refitted(self._search(self.rows, self.validation, taken.members), taken, enough, C)

    def _tried(self, point: Point) -> CandidateScore:
        return CandidateScore.of(point, self.adapter)

    def _full_score(self, rows: ModelRows) -> float:
        return Candidates(Trial(self.adapter, rows, rows), self.scoring).full_score()

    def _search(self, on: ModelRows, others: ModelRows | None, members: Integers | None = None) -> Search:
        trial = Trial(self.adapter, on, others or on)
        return Search(self.method, trial, self.formulation, self.max_trees, members, self.scoring)


def _sparsest_first(formulation: Formulation, n_samples: float) -> Vector:
    values = np.unique(formulation.C_grid(n_samples, N_VALUES))
    return values[::-1] if formulation.sparser_with_larger_C else values


def _path(search: Search, values: Vector, enough: float, grows: bool, shows_progress: bool) -> list[Point]:
    points: list[Point] = []
    with ProgressBar(None, enabled=shows_progress, unit="ensemble") as progress:
        if grows:
            points += _grown(search, float(values[-1]), enough, progress)
        found = take(points, enough)
        most = np.inf
        if grows:
            most = min(DENSE * len(search.members), np.inf if found is None else len(found.members))
        points += _along(search, values, most, progress)
    return points


def _grown(search: Search, C: float, enough: float, progress: ProgressBar) -> Iterator[Point]:
    """Growing ensembles, until a little after the first one with a score of at least ``enough``."""
    last = np.inf
    for point in search.grown(C):
        yield point
        progress.advance(trees=len(point.members), score=point.score)
        last = min(last, (1.0 + BEYOND) * len(point.members) + 1 if point.score >= enough else np.inf)
        if len(point.members) > last:
            return


def _along(search: Search, values: Vector, most: float, progress: ProgressBar) -> Iterator[Point]:
    """The optimum for every C, the sparsest first, until one has more than ``most`` members."""
    for point in search.along(values):
        yield point
        progress.advance(C=point.C, trees=len(point.members), score=point.score)
        if len(point.members) > most:
            return


def _solved_once(search: Search, C: float) -> Point:
    try:
        point = search.at(C)
    except SolverFailed as failure:
        raise InvalidParameterError(
            f"No solver can solve C={C!r} on these rows ({failure}). Choose another value."
        ) from None
    if not point.weights.any():
        smallest = search.smallest_useful_C()
        hint = "" if smallest is None else f" The smallest C that uses a tree is about {smallest:.3g}."
        warnings.warn(
            f"With C={C:.3g} no tree gets a weight, so the model returned predicts one class only.{hint}",
            DegenerateEnsembleWarning,
            stacklevel=USER - 1,
        )
    return point


def _refitted(search: Search, on_path: Point, enough: float, C: float) -> Point:
    """The same trees with weights optimised on all rows, or with the weights of the path if these are better."""
    try:
        refitted = search.over(np.arange(search.columns.n_columns), C, EXACT)
        is_worse = refitted.validation_score < min(enough, on_path.validation_score) - ROUNDING
        return refitted if len(refitted.members) and not is_worse else on_path
    except SolverFailed as failure:
        warnings.warn(
            f"No solver reached a gap of {EXACT.precision.tolerance:g} on all rows; the weights have one of "
            f"{on_path.gap:.1e} on the rows of the path ({failure}).",
            SolverWarning,
            stacklevel=USER - 1,
        )
        return on_path
