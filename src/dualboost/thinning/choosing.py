"""Chooses the ensemble of a model's members: that of a given C, or the smallest good one along a path of C."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from .._typing import Integers, Vector
from ..data.splitting import hold_out
from ..errors import DegenerateEnsembleWarning, InvalidParameterError, SolverWarning, ThinningWarning
from ..formulations import Formulation
from ..loop.progress import ProgressBar
from ..masters import MasterFailed
from ..tasks.binary import TwoClasses
from ..tasks.scoring import Scoring
from .base import Adapter
from .member_master import EXACT
from .methods import Method
from .rows import MemberRows
from .search import ROUNDING, Point, Search, take

N_VALUES = 10
"""The number of values of C on the path."""
BY_HEART = 0.999
"""A model with at least this accuracy is assumed to know the rows by heart."""
LIGHT = 0.1
"""If the mean of ``sample_weight`` is below this, it is probably not meant as multiplicities."""
DENSE = 0.5
"""The path ends at an optimum with more than this fraction of the members: growing ensembles are as good but cheap."""
BEYOND = 0.2
"""After an ensemble is good enough, it grows by this fraction more, to show how the accuracy goes on."""
USER = 5
"""The ``stacklevel`` that makes a warning point to the user's call of ``thin``."""


class Chosen(NamedTuple):
    """The ensembles that were compared, the ensemble taken, and the ensemble returned."""

    points: list[Point]
    taken: Point | None
    """One of the points; None if none of them is good enough."""
    final: Point | None
    """The ensemble returned: that taken, with weights fitted to all rows."""
    full_score: float
    """The score of the whole model on the rows that ensembles were compared on."""


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
        return Chosen([solved], solved, solved, self._full_score(self.validation or self.rows))

    def along_path(self, validation_fraction: float | None, random_state: Any) -> Chosen:
        """The smallest ensemble of the path that is good enough, or the best one, depending on the method."""
        if self.validation is None:
            _warn_by_heart(self.rows)
        training, others = _split(self.rows, self.validation, validation_fraction, random_state)
        full_score = self._full_score(others or training)
        enough = full_score - self.tolerance if self.method.takes_smallest else np.inf
        values = _sparsest_first(self.formulation, float(training.counts.sum()))
        points = _path(self._search(training, others), values, enough, self.method.grows, self.shows_progress)
        taken = take(points, enough) or self._best_of_few(points, enough)
        if taken is None:
            self._warn_unchanged(points, enough)
            return Chosen(points, None, None, full_score)
        final = _refitted(self._search(self.rows, self.validation, taken.members), taken, enough)
        if self.validation is not None:  # the path is to show the ensemble that is returned
            points, taken = [final if point is taken else point for point in points], final
        return Chosen(points, taken, final, full_score)

    def _best_of_few(self, points: list[Point], enough: float) -> Point | None:
        """The best ensemble of at most ``max_trees`` trees, with a warning; None without ``max_trees``."""
        if self.max_trees is None or not points:
            return None
        asked = f"reaches the {self.scoring.name} asked for, {enough:.4f}"
        _warn(f"No ensemble of {self.max_trees} trees {asked}: the best one is taken.")
        return take(points, np.inf)

    def _full_score(self, rows: MemberRows) -> float:
        task = TwoClasses(self.adapter.classes)
        return self.scoring.score(rows.scored(rows.full_scores, task, self.adapter.probability))

    def _warn_unchanged(self, points: list[Point], enough: float) -> None:
        closest, rows, name = take(points, np.inf), self.rows, self.scoring.name
        hint = ""
        if closest is not None and len(closest.members) < self.adapter.n_members:
            needed = np.ceil(1e4 * (self.tolerance + enough - closest.score)) / 1e4
            trees = "1 tree" if len(closest.members) == 1 else f"{len(closest.members)} trees"
            hint = f" The closest has {trees} and {name} {closest.score:.4f}; tolerance={needed:g} takes it."
        if rows.full_accuracy >= BY_HEART:
            hint += " The model knows the rows of X by heart: rows that it has not seen, as X and y, may do better."
        if rows.counts.sum() < LIGHT * len(rows.counts):
            total = f"{rows.counts.sum():.3g}"
            hint += f" The sample weights add up to {total}: as repetitions, they should have a mean of one."
        _warn(f"No smaller ensemble reaches the {name} asked for, {enough:.4f}: the model is returned as it was.{hint}")

    def _search(self, on: MemberRows, compared_on: MemberRows | None, members: Integers | None = None) -> Search:
        return Search(
            self.adapter, self.method, on, compared_on, self.formulation, self.max_trees, members, self.scoring
        )


def _split(
    rows: MemberRows, validation: MemberRows | None, fraction: float | None, random_state: Any
) -> tuple[MemberRows, MemberRows | None]:
    """The rows to fit to, and the rows to compare ensembles on; None if these are the same."""
    if validation is not None or fraction is None:
        return rows, validation
    held = hold_out(rows.labels, rows.counts, fraction, check_random_state(random_state))
    is_held = np.zeros(len(rows.labels), dtype=bool)
    is_held[held] = True
    return rows.part(~is_held), rows.part(is_held)


def _sparsest_first(formulation: Formulation, n_samples: float) -> Vector:
    values = np.unique(formulation.C_grid(n_samples, N_VALUES))
    return values[::-1] if formulation.sparser_with_larger_C else values


def _path(search: Search, values: Vector, enough: float, grows: bool, shows_progress: bool) -> list[Point]:
    """The ensembles to choose from, in order of size."""
    points: list[Point] = []
    with ProgressBar(None, enabled=shows_progress, unit="ensemble") as progress:
        if grows:
            points += _grown(search, float(values[-1]), enough, progress)
        found = take(points, enough)
        most = np.inf
        if grows:
            most = min(DENSE * len(search.members), np.inf if found is None else len(found.members))
        points += _along(search, values, most, progress)
    return sorted(points, key=lambda point: len(point.members))


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


def _refitted(search: Search, chosen: Point, enough: float) -> Point:
    """The same trees with weights optimised on all rows, or with the weights of the path if those are better."""
    try:
        refitted = search.over(np.arange(search.columns.n_columns), chosen.C, EXACT)
        is_worse = refitted.validation_score < min(enough, chosen.validation_score) - ROUNDING
        return refitted if len(refitted.members) and not is_worse else chosen
    except MasterFailed as failure:
        warnings.warn(
            f"No solver reached a gap of {EXACT.precision.tolerance:g} on all rows; the weights have one of "
            f"{chosen.solution.gap:.1e} on the rows of the path ({failure}).",
            SolverWarning,
            stacklevel=USER - 1,
        )
        return chosen


def _warn_by_heart(rows: MemberRows) -> None:
    if rows.full_accuracy >= BY_HEART:
        _warn(
            f"The model is right on {rows.full_accuracy:.1%} of the rows of X, as on rows that it knows by heart. They "
            "do not show how many trees it needs: pass rows that it has not seen as validation_data."
        )


def _warn(message: str) -> None:
    warnings.warn(message, ThinningWarning, stacklevel=USER)
