"""The result of thinning: the smaller model, its weights, its path, and a comparison."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .._typing import Integers, Matrix, Vector
from ..arguments import how_to_install
from ..errors import MissingDependencyError, ThinningWarning
from ..solvers import Solution
from ..targets.scoring import Scoring
from .base import Adapter
from .rows import ModelRows

ROUNDING = 1e-9
"""Two scores that differ by at most this count as equal."""


class Judged:
    """An ensemble with its scores."""

    train_score: float
    validation_score: float

    @property
    def score(self) -> float:
        """The score that ensembles are compared by: on the validation rows, or else on the training rows."""
        return self.train_score if np.isnan(self.validation_score) else self.validation_score


@dataclass(frozen=True, eq=False)
class Point(Judged):
    """Some members, with the weights, or the values of all leaves, of the programme at C."""

    members: Integers
    weights: Vector
    intercept: Any
    train_score: float
    validation_score: float
    C: float
    """Not a number where nothing was optimised: the first members, recalibrated."""
    solution: Solution | None = None
    leaves: tuple[Matrix, ...] | None = None
    """The new values of the leaves of each tree of the members, in place of weights."""
    way: str = "weights"

    @property
    def size(self) -> int:
        return len(self.members)

    @property
    def gap(self) -> float:
        """The relative duality gap; not a number where nothing was optimised."""
        return np.nan if self.solution is None else self.solution.gap


@dataclass(frozen=True)
class CandidateScore(Judged):
    """A row of the path."""

    way: str
    """How it was made: "refit", "imitate", "truncate" or "weights"."""
    C: float
    size: int
    """How many members it has."""
    trees: int
    nodes: int
    train_score: float
    validation_score: float

    @classmethod
    def of(cls, point: Point, adapter: Adapter) -> CandidateScore:
        trees, nodes = point.size * adapter.trees_per_member, int(adapter.n_nodes[point.members].sum())
        return cls(point.way, point.C, point.size, trees, nodes, point.train_score, point.validation_score)


AnyJudged = TypeVar("AnyJudged", Point, CandidateScore)


class Chosen(NamedTuple):
    """The ensembles that were compared, the ensemble taken, and the ensemble returned."""

    path: list[CandidateScore]
    taken: int | None
    """The row of the path that was taken; None if none of them is good enough."""
    final: Point | None
    """The ensemble returned: that taken, fitted to all rows."""
    full_score: float
    """The score of the whole model on the rows that ensembles were compared on."""
    judged_on: str
    """Which rows these were, in words."""


def take(points: Sequence[AnyJudged], enough: float) -> AnyJudged | None:
    """The smallest ensemble with a score of at least ``enough``; if that is infinite, the one with the best score."""
    if np.isinf(enough):
        return min(points, key=lambda point: (-point.score, point.size), default=None)
    good = [point for point in points if point.score >= enough - ROUNDING]
    return min(good, key=lambda point: (point.size, -point.score), default=None)


BY_HEART = 0.999
"""A model with at least this accuracy, or R^2, is assumed to have been trained on these rows."""
LIGHT = 0.1
"""If the mean of ``sample_weight`` is below this, it is probably not meant as multiplicities."""
USER = 5
"""The ``stacklevel`` that makes a warning point to the user's call of ``thin``."""


def warn_by_heart(rows: ModelRows) -> None:
    if rows.full_quality >= BY_HEART:
        _warn(
            f"The model {rows.link.quality_in_words(rows.full_quality)}, as on its training rows. They "
            "do not show how many trees it needs: pass rows that were not in training as validation_data."
        )


def warn_best_of_few(max_trees: int, score_name: str, enough: float) -> None:
    _warn(f"No ensemble of {max_trees} trees reaches the required {score_name}, {enough:.4f}: the best one is taken.")


def warn_unchanged(
    path: Sequence[CandidateScore],
    enough: float,
    tolerance: float,
    rows: ModelRows,
    score_name: str,
    by_heart_hint: bool,
) -> None:
    """No smaller ensemble is good enough: name the closest one, and what may be wrong with the rows."""
    closest, hint = take(path, np.inf), ""
    if closest is not None and closest.size < len(rows.members):
        needed = np.ceil(1e4 * (tolerance + enough - closest.score)) / 1e4
        trees = "1 tree" if closest.trees == 1 else f"{closest.trees} trees"
        hint = f" The closest has {trees} and {score_name} {closest.score:.4f}; tolerance={needed:g} takes it."
    if by_heart_hint and rows.full_quality >= BY_HEART:
        hint += " The rows of X look like training rows of the model: pass other rows as X and y."
    if rows.counts.sum() < LIGHT * len(rows.counts):
        total = f"{rows.counts.sum():.3g}"
        hint += f" The sample weights add up to {total}: as repetitions, they should have a mean of one."
    _warn(
        f"No smaller ensemble reaches the required {score_name}, {enough:.4f}: the model is returned as it was.{hint}"
    )


def warn_not_refitted(reason: str) -> None:
    _warn(f"method='refit': {reason}. New weights are computed instead, as by method='imitate'.", USER - 1)


def warn_of_unread_weights(reason: str, has_classes: bool) -> None:
    remedy = "name what counts, as in scoring='balanced_accuracy', or pass" if has_classes else "pass"
    _warn(
        f"The weights of classes that the model was trained with cannot be read: {reason}. Without them, the smaller "
        f"model may lose its aim: {remedy} the weights of the rows as sample_weight."
    )


def _warn(message: str, stacklevel: int = USER) -> None:
    warnings.warn(message, ThinningWarning, stacklevel=stacklevel)


TIMED_RUNS = 5
"""How many predictions are timed; the shortest time is reported."""


MARKERS = ("o", "^", "D", "v")
WAYS = {
    "refit": "leaves fitted to y",
    "imitate": "leaves fitted to the model's predictions",
    "truncate": "the first trees",
    "weights": "new weights",
}
"""The ways of an ensemble, for the legend of a plot."""


class Summary(dict[str, tuple[float, float]]):
    """For each figure its values before and after thinning; printed as a table."""

    def __str__(self) -> str:
        width = max(24, *(len(name) + 1 for name in self))
        lines = [f"{'':{width}}{'before':>14}{'after':>14}{'ratio':>9}"]
        for name, (before, after) in self.items():
            ratio = f"{after / before:.2f}" if before else ""
            lines.append(f"{name:{width}}{_figure(before):>14}{_figure(after):>14}{ratio:>9}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class ThinResult:
    """A thinned model.

    With refitted leaves its log-odds are ``intercept`` plus the values of the ``leaves``. Otherwise its raw score is
    ``intercept + weights @ outputs``, where the outputs belong to the trees ``kept`` in the original model: leaf
    values (XGBoost, LightGBM, CatBoost, gradient boosting: times the learning rate), P - Q for class probabilities P
    and Q (forests, bagging, lists), votes of -1 and +1 (AdaBoost), or the votes of a ``DualBoostClassifier``.

    With more than two classes there is a score for each class, of which the softmax are the probabilities. Boosted
    models that grow a tree for each class keep or drop whole rounds of these.

    Of a regressor, the raw score is the prediction in the units of y, or its logarithm where the model has that link.

    Where the model was trained with weights of classes, they weigh the rows of the scores: ``full_score``, the scores
    of ``path`` and the tolerance. ``judged_on`` and ``summary()`` name the weights then. The figures of the rows given
    are never weighted.
    """

    model: Any
    """The thinned model, of the same type as the original if its library allows trees to be removed."""
    kept: Integers
    """The positions of the trees kept, increasing; where each class has a tree of its own, of the rounds kept."""
    weights: Vector
    """One weight for each tree kept, on the scale of the original weights (1 for a boosted tree); 1 if its leaves are
    refitted."""
    intercept: Any
    """A number; with more than two classes one for each class."""
    leaves: tuple[Matrix, ...] | None
    """The new leaves of each tree kept: a row for each leaf or node as its library counts them, and a column for each
    score that the tree adds to. None if leaves are not refitted."""
    way: str
    """How it was made: "refit" (leaves, fitted to y), "imitate" (leaves, fitted to the model's own probabilities or
    predictions), "truncate" (the first trees, recalibrated), "weights" or "unchanged"."""
    judged_on: str
    """The rows that sizes were compared on, in words."""
    C: float | None
    """The C of the leaves or weights; None if nothing was optimised."""
    path: dict[str, Any]
    """Arrays of equal length, the smaller ensembles first: way, C, trees, members (trees, or rounds of one tree a
    class), nodes, train_score, validation_score (nan if there were no validation rows). With several folds, nodes and
    scores are means over these."""
    chosen: int | None
    """The row of ``path`` that was taken; None if the model is unchanged."""
    full_score: float
    """The score of the original model, on the rows that ensembles were compared on."""
    gap: float
    """The relative duality gap of the leaves or weights over the trees they were optimised over; nan if nothing was
    optimised."""
    _adapter: Adapter = field(repr=False)
    _original: Any = field(repr=False)
    _data: tuple[Any, Any] = field(repr=False)
    _scoring: Scoring = field(default_factory=Scoring, repr=False)

    def __repr__(self) -> str:
        before, after = self._trees
        return f"ThinResult({type(self.model).__name__}: {after} of {before} trees)"

    @property
    def _trees(self) -> tuple[int, int]:
        each = self._adapter.trees_per_member
        return each * self._adapter.n_members, each * len(self.kept)

    @property
    def n_leaves(self) -> int:
        """The leaves of the thinned model; where trees are ours, splits between equal leaves are gone."""
        return int(getattr(self.model, "n_leaves_", self._adapter.n_leaves[self.kept].sum()))

    def summary(self) -> Summary:
        """Trees, leaves, bytes of the saved model; and on all rows given: accuracies and log loss, or R² and errors,
        and seconds to predict."""
        adapter, (X, y) = self._adapter, self._data
        figures = Summary()
        figures["trees"] = self._trees
        figures["leaves"] = int(adapter.n_leaves.sum()), self.n_leaves
        figures["bytes, saved"] = adapter.saved_bytes(self._original), adapter.saved_bytes(self.model)
        if not np.isnan(self.path["validation_score"]).all():
            after = self.full_score if self.chosen is None else float(self.path["validation_score"][self.chosen])
            figures[f"{self._scoring.name}, validation{self._scoring.weighting}"] = self.full_score, after
        before, after_all = (self._measured(model, X, np.asarray(y)) for model in (self._original, self.model))
        figures |= {name: (before[name], after_all[name]) for name in before}
        return figures

    def _measured(self, model: Any, X: Any, y: Any) -> dict[str, float]:
        """How good the model is on the rows given, and the shortest time that a prediction took."""
        times = []
        for _ in range(TIMED_RUNS):
            started = time.perf_counter()
            scores = self._adapter.raw_scores(model, X)
            times.append(time.perf_counter() - started)
        adapter = self._adapter
        predicted, expected = adapter.target.decode(scores), adapter.probabilities(model, X, scores)
        figures = adapter.link.figures(y.ravel(), predicted, expected, adapter.classes)
        return {**figures, "seconds to predict": min(times)}

    def plot(self, ax: Any = None) -> Any:
        """Plot the score against trees: the ensembles of the path, the original model, and the ensemble taken."""
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise MissingDependencyError(f"plot needs matplotlib: {how_to_install('matplotlib')}.") from error
        ax = ax if ax is not None else plt.subplots(figsize=(6.4, 4.2), layout="constrained")[1]
        trees, n_trees = self.path["trees"], self._trees[0]
        has_validation = not np.isnan(self.path["validation_score"]).all()
        scores = self.path["validation_score" if has_validation else "train_score"]
        ways = list(dict.fromkeys(self.path["way"].tolist()))
        for way, marker in zip(ways, cycle(MARKERS), strict=False):
            of_way = self.path["way"] == way
            label = WAYS.get(way, way) if len(ways) > 1 else "ensembles of the path"
            ax.plot(trees[of_way], scores[of_way], marker, ms=6, alpha=0.8, mec="white", label=label)
        ax.axhline(self.full_score, color="0.5", lw=1, ls="--", zorder=0)
        ax.plot(n_trees, self.full_score, "s", color="0.3", label=f"the model as it was: {n_trees} trees")
        if self.chosen is not None:
            at = trees[self.chosen], scores[self.chosen]
            ax.plot(*at, "o", ms=15, mfc="none", mec="crimson", mew=2, label=f"taken: {at[0]} trees")
        which = "validation" if has_validation else "training"
        ax.set(xlabel="trees", ylabel=f"{which} {self._scoring.label}", xlim=(0, 1.04 * n_trees))
        ax.grid(alpha=0.3)
        ax.legend(loc="lower right", frameon=False)
        return ax


def make_result(
    adapter: Adapter,
    model: Any,
    data: tuple[Any, Any],
    selection: Chosen,
    rows: ModelRows,
    scoring: Scoring,
) -> ThinResult:
    """The result for the ensemble chosen; if none was, a copy of the model, or its form where it cannot be written."""
    everything = np.arange(adapter.n_members), adapter.weights.copy(), adapter.intercept
    final = selection.final or Point(*everything, np.nan, np.nan, np.nan, way="unchanged")
    is_copy = selection.final is None and adapter.keeps_type
    return ThinResult(
        model=copy.deepcopy(model) if is_copy else _rebuilt(adapter, final, rows),
        kept=final.members,
        weights=final.weights,
        intercept=final.intercept,
        leaves=final.leaves,
        way=final.way,
        judged_on=selection.judged_on,
        C=None if final.solution is None else final.C,
        path=_table(selection.path),
        chosen=selection.taken,
        full_score=selection.full_score,
        gap=final.gap,
        _adapter=adapter,
        _original=model,
        _data=data,
        _scoring=scoring,
    )


def warn_of_lost_classes(result: ThinResult) -> None:
    """Name a class that the model predicted for rows of X, and the thinned model predicts for none."""
    adapter, (X, _) = result._adapter, result._data
    if result.way == "unchanged" or not adapter.target.has_classes:
        return
    before, after = (adapter.target.decode(adapter.raw_scores(model, X)) for model in (result._original, result.model))
    lost = np.setdiff1d(before, after).tolist()
    if lost:
        rows = f"{np.isin(before, lost).sum()} of {len(before)}"
        classes = f"class {lost[0]!r}" if len(lost) == 1 else f"the classes {', '.join(map(repr, lost))}"
        ranking = "roc_auc" if len(adapter.classes) == 2 else "roc_auc_ovr"
        _warn(
            f"The thinned model predicts {classes} for no row of X; the original model did for {rows}. Pass "
            f"scoring='balanced_accuracy' or {ranking!r}, or a smaller tolerance, to keep more trees.",
            USER - 1,
        )


def _rebuilt(adapter: Adapter, point: Point, rows: ModelRows) -> Any:
    if point.leaves is not None:
        return adapter.rewrite(point.members, point.leaves, point.intercept)
    rebuilt = adapter.rebuild(point.members, point.weights, point.intercept)
    scores = rows.weighted_scores(point.members, point.weights, point.intercept)
    return adapter.with_probabilities(rebuilt, scores, rows.labels, rows.counts)


def _table(path: list[CandidateScore]) -> dict[str, Any]:
    columns = {
        "way": ("way", object),
        "C": ("C", float),
        "trees": ("trees", np.intp),
        "members": ("size", np.intp),
        "nodes": ("nodes", np.intp),
        "train_score": ("train_score", float),
        "validation_score": ("validation_score", float),
    }
    return {
        name: np.array([getattr(tried, own) for tried in path], dtype=dtype) for name, (own, dtype) in columns.items()
    }


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
