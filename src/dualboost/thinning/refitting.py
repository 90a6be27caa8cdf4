"""Chooses how small a model becomes if its leaves are refitted, by the ensembles of all trials together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..loop.progress import ProgressBar
from ..tasks.scoring import Scoring
from .base import Adapter
from .candidates import Candidates, sizes_below
from .messages import warn_best_of_few, warn_by_heart, warn_unchanged
from .point import Point
from .rows import AnyRows
from .trials import Trial, Trials
from .tried import ROUNDING, Chosen, Tried, take


class Key(NamedTuple):
    """What a candidate of one trial has in common with one of another trial."""

    way: str
    C: float | None
    """None where nothing is fitted."""
    size: int


class Seen(NamedTuple):
    """A candidate in one trial."""

    tried: Tried
    loss: float
    n_rows: float


@dataclass(frozen=True, eq=False)
class Refitting:
    """The model, the rows to fit the result to, the trials, and how much of which score may be lost."""

    adapter: Adapter
    rows: AnyRows
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
            warn_best_of_few(self.max_trees, self.scoring.name, enough)
            place, final = self._first_that_holds(compared, np.inf)
        if final is None:
            warn_unchanged(path, enough, self.tolerance, self.rows, self.scoring.name, by_heart_hint=False)
            return Chosen(path, None, None, full_score, self.trials.judged_on)
        if self._is_judged_as_returned:  # the path is to show the ensemble that is returned
            path[place] = replace(Tried.of(final, self.adapter), nodes=path[place].nodes)
        return Chosen(path, place, final, full_score, self.trials.judged_on)

    def _first_that_holds(self, compared: Sequence[tuple[Key, Tried]], enough: float) -> tuple[int, Point | None]:
        """The smallest candidate that is good enough, made anew of the model on all rows, and its place.

        The model's own trees may differ from those of the trials. What is not good enough even on the rows that it is
        fitted to was not meant by the trials, and the next candidate is tried. The model itself need not be as good on
        these rows as on those of the trials.
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

    def _compared(self, all_candidates: Sequence[Candidates]) -> list[tuple[Key, Tried]]:
        """For each size the first members, and the refitted ones of least loss; the smallest first."""
        n_members = min(trial.adapter.n_members for trial in self.trials.trials)
        sizes = sizes_below(self.adapter.n_members, self._most)
        seen: dict[Key, list[Seen]] = defaultdict(list)
        prices = self.adapter.prices(self.trials.is_honest)
        with ProgressBar(len(prices) * len(all_candidates), enabled=self.shows_progress, unit="path") as progress:
            for candidates in all_candidates:
                for size in (s for s in sizes if s <= n_members):
                    _note(seen, None, candidates, candidates.truncated(size), np.inf)
                for way, C in prices:
                    for point, loss in candidates.refitted(way, C, sizes):
                        _note(seen, C, candidates, point, loss)
                    progress.advance(C=C)
        return self._best_at_each_size(seen)

    def _best_at_each_size(self, seen: dict[Key, list[Seen]]) -> list[tuple[Key, Tried]]:
        best: dict[tuple[bool, int], tuple[float, Key, Tried]] = {}
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
        """The candidate of the given model, fitted to all rows."""
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
        """The largest number of members."""
        return None if self.max_trees is None else self.max_trees // self.adapter.trees_per_member

    @property
    def _is_judged_as_returned(self) -> bool:
        """Whether the only trial is that of the given model on all rows, so that its ensemble is the result."""
        return self.trials.trials[0].training is self.rows


def _note(seen: dict[Key, list[Seen]], C: float | None, candidates: Candidates, point: Point, loss: float) -> None:
    trial = candidates.trial
    tried = Tried.of(point, trial.adapter)
    seen[Key(point.way, C, point.size)].append(Seen(tried, loss, float(trial.judged.counts.sum())))


def _mean(found: Sequence[Seen]) -> Tried:
    """One candidate on average over the trials."""
    weights, first = [one.n_rows for one in found], found[0].tried

    def mean(values: Sequence[float]) -> float:
        return float(np.average(values, weights=weights))

    return replace(
        first,
        nodes=round(mean([one.tried.nodes for one in found])),
        train_score=mean([one.tried.train_score for one in found]),
        validation_score=mean([one.tried.validation_score for one in found]),
    )
