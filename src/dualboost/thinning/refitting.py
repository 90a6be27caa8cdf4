"""The size of a model whose leaves are refitted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._typing import Integers, Scores, Vector
from ..boosting.observers import ProgressBar
from ..targets.scoring import Scoring
from .base import Adapter
from .paths import LeafPath, Stage
from .result import ROUNDING, CandidateScore, Chosen, Point, take, warn_best_of_few, warn_by_heart, warn_unchanged
from .rows import ModelRows, Probability
from .trials import Trial, Trials

REFIT, IMITATE = "refit", "imitate"
"""Leaves that are fitted to y, and leaves that are fitted to the model's own probabilities or predictions."""
CS = (20.0, 100.0, 500.0, 2500.0)
"""The values of C where leaves are fitted to y: to two classes, or to numbers with a deviation of one."""
IMITATING_CS = (500.0, 2500.0)
"""The same for the model's own probabilities or predictions, which have less noise than y."""
MANY_LEAVES = 1000
"""For models with more leaves than this, every second value of C is tried."""


def C_grid_for(adapter: Adapter, is_honest: bool) -> list[tuple[str, float]]:
    """The targets of leaves, and C.

    Fits to y look better than they are on rows that the trees were grown on. The ridge means as much for one of K
    evenly likely classes as for two, as in ``LogisticBoost.size_of``.
    """
    n = max(len(adapter.classes), 2)
    scale, fits_y = n**2 / (4.0 * (n - 1)), is_honest and adapter.link.fits_y
    C_grid = [*((REFIT, scale * C) for C in CS if fits_y), *((IMITATE, scale * C) for C in IMITATING_CS)]
    return C_grid if adapter.n_leaves.sum() <= MANY_LEAVES else C_grid[1::2]


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
        return LeafPath(self.trial.training)

    @cached_property
    def _imitating(self) -> LeafPath:
        rows = self.trial.training
        return LeafPath(rows.imitating(self._adapter.expected(rows.full_scores)))

    def weighted(self, members: Integers, weights: Vector, intercept: Any, goals: Scores, **others: Any) -> Point:
        """Members with weights, whose scale and shift are fitted to the goals: the expected values of the rows."""
        adapter, fitted, judged = self._adapter, self.trial.training, self.trial.judged
        raw, largest = fitted.weighted_scores(members, weights, intercept), float(np.max(np.abs(intercept)))
        largest += float(np.abs(weights).sum())
        factor, shift = adapter.link.recalibration(raw, goals, fitted.counts, largest)
        weights, intercept, raw = factor * weights, factor * intercept + shift, factor * raw + shift
        curve = adapter.recalibrated(raw, fitted.labels, fitted.counts)
        scores = self._judged(raw, lambda: judged.weighted_scores(members, weights, intercept), curve)
        return Point(members, weights, intercept, *scores, **others)

    def truncated(self, size: int) -> Point:
        """The first members of the model, fitted to its own probabilities or predictions."""
        adapter, goals = self._adapter, self._adapter.link.expected(self.trial.training.full_scores)
        first = np.arange(size), adapter.weights[:size], adapter.intercept
        return self.weighted(*first, goals, C=np.nan, way="truncate")

    def refitted(self, way: str, C: float, sizes: Sequence[int]) -> Iterator[tuple[Point, float]]:
        """Members with refitted leaves, and their mean loss on the rows that they are judged on."""
        for stage in self.path(way).stages(C, sizes):
            yield self.point(way, C, stage), self.trial.judged.mean_loss(_scores(self.trial.judged, stage))

    def point(self, way: str, C: float, stage: Stage) -> Point:
        """A stage of the path, with its scores."""
        training, judged, curve = self.trial.training, self.trial.judged, self._adapter.link.refitted.expected
        scores = self._judged(_scores(training, stage), lambda: _scores(judged, stage), curve)
        weights = np.ones(len(stage.members))
        return Point(stage.members, weights, stage.intercept, *scores, C, stage.solution, stage.leaves, way)

    def full_score(self) -> float:
        rows, adapter = self.trial.judged, self._adapter
        return self.scoring.score(rows.scored(rows.full_scores, adapter.expected))

    def _judged(self, fitted: Scores, judged: Callable[[], Scores], curve: Probability) -> tuple[float, float]:
        """The score on the rows fitted to, and that on the other rows, which is not a number if there are none."""
        training, others = self.trial.training, self.trial.judged
        train_score, validation_score = self.scoring.score(training.scored(fitted, curve)), np.nan
        if others is not training:
            validation_score = self.scoring.score(others.scored(judged(), curve))
        return train_score, validation_score

    @property
    def _adapter(self) -> Adapter:
        return self.trial.adapter


def _scores(rows: ModelRows, stage: Stage) -> Scores:
    return rows.scores(stage.members, stage.leaves, stage.intercept)


class Key(NamedTuple):
    """What a candidate of one trial has in common with one of another trial."""

    way: str
    C: float | None
    """None where nothing is fitted."""
    size: int


class Seen(NamedTuple):
    """A candidate in one trial."""

    tried: CandidateScore
    loss: float
    n_rows: float


@dataclass(frozen=True, eq=False)
class Refitting:
    """The model, the rows to fit the result to, the trials, and how much of which score may be lost."""

    adapter: Adapter
    rows: ModelRows
    trials: Trials
    tolerance: float
    max_trees: int | None
    shows_progress: bool
    scoring: Scoring

    def choose(self) -> Chosen:
        """The smallest candidate that is good enough on average over the trials, made anew of the model on all rows."""
        if not self.trials.is_honest:
            warn_by_heart(self.rows)
        all_candidates = [Candidates(trial, self.scoring) for trial in self.trials.trials]
        shares = np.array([trial.judged.counts.sum() for trial in self.trials.trials])
        full_score = float(np.average([one.full_score() for one in all_candidates], weights=shares))
        enough = full_score - self.tolerance
        compared = self._compared(all_candidates)
        place, final = self._first_that_holds(compared, enough)
        path = [tried for _, tried in compared]
        if final is None and self.max_trees is not None and path:
            warn_best_of_few(self.max_trees, self.scoring.label, enough)
            place, final = self._first_that_holds(compared, np.inf)
        if final is None:
            warn_unchanged(path, enough, self.tolerance, self.rows, self.scoring.label, by_heart_hint=False)
            return Chosen(path, None, None, full_score, self.trials.judged_on)
        if self._is_judged_as_returned:  # the path is to show the ensemble that is returned
            path[place] = replace(CandidateScore.of(final, self.adapter), nodes=path[place].nodes)
        return Chosen(path, place, final, full_score, self.trials.judged_on)

    def _first_that_holds(
        self, compared: Sequence[tuple[Key, CandidateScore]], enough: float
    ) -> tuple[int, Point | None]:
        """The smallest candidate that is good enough, made anew of the model on all rows, and its place.

        The trees of the model may differ from the trees of the trials: a candidate that is not good enough even on the
        rows that it is fitted to is passed over. The model itself need not be as good on these rows as on the rows of
        the trials.
        """
        left, on_all = list(compared), Candidates(Trial(self.adapter, self.rows, self.rows), self.scoring)
        least = min(enough, on_all.full_score() - self.tolerance)
        while (taken := take([tried for _, tried in left], enough)) is not None:
            place = next(k for k, (_, tried) in enumerate(compared) if tried is taken)
            final = self._final(compared[place][0], enough)
            if self._is_judged_as_returned or np.isinf(enough) or final.train_score >= least - ROUNDING:
                return place, final
            left = [one for one in left if one[1] is not taken]
        return 0, None

    def _compared(self, all_candidates: Sequence[Candidates]) -> list[tuple[Key, CandidateScore]]:
        """For each size the first members, and the refitted ones of least loss; the smallest first."""
        n_members = min(trial.adapter.n_members for trial in self.trials.trials)
        sizes = sizes_below(self.adapter.n_members, self._most)
        seen: dict[Key, list[Seen]] = defaultdict(list)
        C_grid = C_grid_for(self.adapter, self.trials.is_honest)
        with ProgressBar(len(C_grid) * len(all_candidates), enabled=self.shows_progress, unit="path") as progress:
            for candidates in all_candidates:
                for size in (s for s in sizes if s <= n_members):
                    _note(seen, None, candidates, candidates.truncated(size), np.inf)
                for way, C in C_grid:
                    for point, loss in candidates.refitted(way, C, sizes):
                        _note(seen, C, candidates, point, loss)
                    progress.advance(C=C)
        return self._best_at_each_size(seen)

    def _best_at_each_size(self, seen: dict[Key, list[Seen]]) -> list[tuple[Key, CandidateScore]]:
        best: dict[tuple[bool, int], tuple[float, Key, CandidateScore]] = {}
        for key, found in seen.items():
            is_allowed = self._most is None or key.size <= self._most
            if len(found) < len(self.trials.trials) or not is_allowed:
                continue
            loss = float(np.average([one.loss for one in found], weights=[one.n_rows for one in found]))
            place = key.C is None, key.size
            if place not in best or loss < best[place][0]:
                best[place] = loss, key, _mean(found)
        return [(key, tried) for _, key, tried in sorted(best.values(), key=lambda one: (one[1].size, one[1].way))]

    def _final(self, key: Key, enough: float) -> Point:
        last = self.trials.trials[0].judged if self._is_judged_as_returned else self.rows
        candidates = Candidates(Trial(self.adapter, self.rows, last), self.scoring)
        if key.C is None:
            return self._with_honest_score(candidates.truncated(key.size))
        sizes = sizes_below(self.adapter.n_members, self._most)
        rough, exact = (
            candidates.point(key.way, key.C, stage)
            for stage in candidates.path(key.way).down_to(key.C, key.size, sizes)
        )
        is_worse = exact.score < min(enough, rough.score) - ROUNDING  # the rows to judge on are few
        return self._with_honest_score(rough if is_worse and self._is_judged_as_returned else exact)

    def _with_honest_score(self, point: Point) -> Point:
        return point if self._is_judged_as_returned else replace(point, validation_score=np.nan)

    @property
    def _most(self) -> int | None:
        return None if self.max_trees is None else self.max_trees // self.adapter.trees_per_member

    @property
    def _is_judged_as_returned(self) -> bool:
        """Whether the only trial is that of the given model on all rows, so that its ensemble is the result."""
        return self.trials.trials[0].training is self.rows


def _note(seen: dict[Key, list[Seen]], C: float | None, candidates: Candidates, point: Point, loss: float) -> None:
    trial = candidates.trial
    tried = CandidateScore.of(point, trial.adapter)
    seen[Key(point.way, C, point.size)].append(Seen(tried, loss, float(trial.judged.counts.sum())))


def _mean(found: Sequence[Seen]) -> CandidateScore:
    weights, first = [one.n_rows for one in found], found[0].tried

    def mean(values: Sequence[float]) -> float:
        return float(np.average(values, weights=weights))

    return replace(
        first,
        nodes=round(mean([one.tried.nodes for one in found])),
        train_score=mean([one.tried.train_score for one in found]),
        validation_score=mean([one.tried.validation_score for one in found]),
    )
