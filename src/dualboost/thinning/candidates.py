"""The ensembles of one trial: the first members, and members with refitted leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._typing import Scores
from ..tasks.scoring import Scoring
from .base import Adapter
from .leaf_path import LeafPath, Stage
from .outputs import Probability
from .point import Point
from .prices import REFIT
from .rows import AnyRows
from .trials import Trial

SHRINKING = 0.87
"""Each size is about this fraction of the one before."""


def sizes_below(n_members: int, max_trees: int | None) -> list[int]:
    """The sizes that are tried, the largest first: all below that of the model, and ``max_trees`` itself."""
    sizes, size = set(), n_members
    while size > 1:
        size = min(size - 1, int(SHRINKING * size))
        sizes.add(size)
    if max_trees is not None and max_trees < n_members:
        sizes.add(max_trees)
    return sorted(sizes, reverse=True)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The ensembles of a model, fitted to some rows and judged on others."""

    trial: Trial
    scoring: Scoring

    def path(self, way: str) -> LeafPath:
        return self._refitting if way == REFIT else self._imitating

    @cached_property
    def _refitting(self) -> LeafPath:
        return self._adapter.leaf_path(self.trial.training)

    @cached_property
    def _imitating(self) -> LeafPath:
        rows = self.trial.training
        return self._adapter.leaf_path(rows.imitating(self._adapter.expected(rows.full_scores)))

    def truncated(self, size: int) -> Point:
        """The first members of the model; only the scale and the shift of their sum are fitted, to the model's own
        probabilities."""
        adapter, fitted = self._adapter, self.trial.training
        members, weights, intercept = np.arange(size), adapter.weights[:size], adapter.intercept
        raw, goals = fitted.scores(members, weights, intercept), adapter.link.expected(fitted.full_scores)
        largest = float(np.abs(weights).sum() + np.max(np.abs(intercept)))
        factor, shift = adapter.link.recalibration(raw, goals, fitted.counts, largest)
        weights, intercept = factor * weights, factor * intercept + shift
        curve = adapter.recalibrated(factor * raw + shift, fitted.labels, fitted.counts)
        scores = self._judged(lambda rows: rows.scores(members, weights, intercept), curve)
        return Point(np.nan, members, weights, intercept, *scores, way="truncate")

    def refitted(self, way: str, C: float, sizes: Sequence[int]) -> Iterator[tuple[Point, float]]:
        """Members with refitted leaves, and their mean loss on the rows that they are judged on."""
        for stage in self.path(way).stages(C, sizes):
            yield self.point(way, C, stage), self.trial.judged.mean_loss(_scores(self.trial.judged, stage))

    def point(self, way: str, C: float, stage: Stage) -> Point:
        """A stage of the path, with its scores."""
        scores = self._judged(lambda rows: _scores(rows, stage), self._adapter.refitted_link.expected)
        weights = np.ones(len(stage.members))
        return Point(C, stage.members, weights, stage.intercept, *scores, stage.solution, stage.leaves, way)

    def full_score(self) -> float:
        rows, adapter = self.trial.judged, self._adapter
        return self.scoring.score(rows.scored(rows.full_scores, adapter.task, adapter.expected))

    def _judged(self, scores: Callable[[AnyRows], Scores], curve: Probability) -> tuple[float, float]:
        """The score on the rows fitted to, and that on the other rows, which is not a number if there are none."""
        fitted, judged, task = self.trial.training, self.trial.judged, self._adapter.task
        on_fitted = self.scoring.score(fitted.scored(scores(fitted), task, curve))
        if judged is fitted:
            return on_fitted, np.nan
        return on_fitted, self.scoring.score(judged.scored(scores(judged), task, curve))

    @property
    def _adapter(self) -> Adapter:
        return self.trial.adapter


def _scores(rows: AnyRows, stage: Stage) -> Scores:
    return rows.refitted_scores(stage.members, stage.leaves, stage.intercept)
