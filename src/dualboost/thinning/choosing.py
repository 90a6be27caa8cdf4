"""Chooses new weights for a model's members: those of a given C, or of the smallest good ensemble along a path of C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .._typing import Integers, Vector
from ..errors import DegenerateEnsembleWarning, InvalidParameterError, SolverWarning
from ..formulations import Formulation
from ..loop.progress import ProgressBar
from ..masters import MasterFailed
from ..tasks.scoring import Scoring
from .base import Adapter
from .candidates import Candidates, sizes_below
from .member_master import EXACT
from .messages import USER, warn_best_of_few, warn_by_heart, warn_unchanged
from .methods import Method
from .point import Point
from .rows import MemberRows
from .search import Search
from .trials import Trial, Trials
from .tried import ROUNDING, Chosen, Tried, take

N_VALUES = 10
"""The number of values of C on the path."""
DENSE = 0.5
"""The path ends at an optimum with more than this fraction of the members: growing ensembles are as good but cheap."""
BEYOND = 0.2
"""After an ensemble is good enough, it grows by this fraction more, to show how the accuracy goes on."""


@dataclass(frozen=True, eq=False)
class Thinning:
    """A task of thinning: the model, the method, the formulation, the rows, and how much of which score may be lost."""

    adapter: Adapter
    method: Method
    formulation: Formulation
    rows: MemberRows
    validation: MemberRows | None
    tolerance: float
    max_trees: int | None
    shows_progress: bool
    scoring: Scoring = field(default_factory=Scoring)

    def at_given_C(self) -> Chosen:
        """The optimum at the formulation's own C, on all rows."""
        C = self.formulation.resolve(float(self.rows.counts.sum())).strength
        solved = _solved_once(self._search(self.rows, self.validation), C)
        on = self.validation or self.rows
        words = "the rows of X" if self.validation is None else f"validation_data ({len(on.labels)} rows)"
        return Chosen([self._tried(solved)], 0, solved, self._full_score(on), words)

    def along_path(self, trials: Trials) -> Chosen:
        """The smallest ensemble of the path that is good enough, or the best one, depending on the method."""
        if not trials.is_honest:
            warn_by_heart(self.rows)
        judged = trials.trials[0].judged
        full_score, name = self._full_score(judged), self.scoring.name
        enough = full_score - self.tolerance if self.method.takes_smallest else np.inf
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
        points = _path(self._search(training, others), values, enough, self.method.grows, self.shows_progress)
        if self.method.takes_smallest:
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

    def _tried(self, point: Point) -> Tried:
        return Tried.of(point, self.adapter)

    def _full_score(self, rows: MemberRows) -> float:
        return self.scoring.score(rows.scored(rows.full_scores, self.adapter.task, self.adapter.expected))

    def _search(self, on: MemberRows, compared_on: MemberRows | None, members: Integers | None = None) -> Search:
        return Search(
            self.adapter, self.method, on, compared_on, self.formulation, self.max_trees, members, self.scoring
        )


def _sparsest_first(formulation: Formulation, n_samples: float) -> Vector:
    values = np.unique(formulation.C_grid(n_samples, N_VALUES))
    return values[::-1] if formulation.sparser_with_larger_C else values


def _path(search: Search, values: Vector, enough: float, grows: bool, shows_progress: bool) -> list[Point]:
    """Growing ensembles, and the optimum for every C."""
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
    except MasterFailed as failure:
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


def _refitted(search: Search, chosen: Point, enough: float, C: float) -> Point:
    """The same trees with weights optimised on all rows, or with the weights of the path if those are better."""
    try:
        refitted = search.over(np.arange(search.columns.n_columns), C, EXACT)
        is_worse = refitted.validation_score < min(enough, chosen.validation_score) - ROUNDING
        return refitted if len(refitted.members) and not is_worse else chosen
    except MasterFailed as failure:
        warnings.warn(
            f"No solver reached a gap of {EXACT.precision.tolerance:g} on all rows; the weights have one of "
            f"{chosen.gap:.1e} on the rows of the path ({failure}).",
            SolverWarning,
            stacklevel=USER - 1,
        )
        return chosen
