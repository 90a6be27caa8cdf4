"""What thinning returns: the smaller model, its weights, the path it was chosen from, and a comparison."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from .._typing import Integers, Vector
from ..errors import MissingDependencyError
from ..extras import how_to_install
from .base import Adapter
from .point import Point
from .rows import AnyRows
from .tried import Chosen, Tried

TIMED_RUNS = 5
"""How many predictions are timed; the shortest time is reported."""


MARKERS = ("o", "^", "D", "v")
WAYS = {
    "refit": "leaves fitted to y",
    "imitate": "leaves fitted to the model's answers",
    "truncate": "the first trees",
    "weights": "new weights",
}
"""The ways of an ensemble, as the legend of a plot says them."""


class Summary(dict[str, tuple[float, float]]):
    """For each figure its values before and after thinning; printed as a table."""

    def __str__(self) -> str:
        lines = [f"{'':24}{'before':>14}{'after':>14}{'ratio':>9}"]
        for name, (before, after) in self.items():
            ratio = f"{after / before:.2f}" if before else ""
            lines.append(f"{name:24}{_figure(before):>14}{_figure(after):>14}{ratio:>9}")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class ThinResult:
    """A thinned model.

    With refitted leaves its log-odds are ``intercept`` plus the values of the ``leaves``. Otherwise its raw score is
    ``intercept + weights @ outputs``, where the outputs are those of the trees ``kept`` in the original model: leaf
    values (XGBoost, LightGBM, CatBoost, gradient boosting: times the learning rate), P - Q for class probabilities P
    and Q (forests, bagging, lists), votes of -1 and +1 (AdaBoost), or the votes of a ``DualBoostClassifier``.

    With more than two classes there is a score for each class, of which the softmax are the probabilities. Boosted
    models that grow a tree for each class keep or drop whole rounds of these.

    Of a regressor, the raw score is the prediction in the units of y, or its logarithm where the model has that link.
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
    leaves: tuple[Any, ...] | None
    """The new leaves of each tree kept: called with outputs of the original tree, they give the values in their place.
    With more than two classes, ``leaves[j].values`` holds a matrix for each tree of a member kept: a row for each leaf
    or node as its library counts them, a column for each class that the tree speaks for. Of a regressor, it holds a
    number for each leaf or node. None if leaves are not refitted."""
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
    _score_name: str = field(default="accuracy", repr=False)

    def __repr__(self) -> str:
        before, after = self._trees
        return f"ThinResult({type(self.model).__name__}: {after} of {before} trees)"

    @property
    def _trees(self) -> tuple[int, int]:
        """The trees before and after."""
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
            figures[f"{self._score_name}, validation"] = self.full_score, after
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
        return {**self._adapter.figures(model, X, y.ravel(), scores), "seconds to predict": min(times)}

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
        ax.set(xlabel="trees", ylabel=f"{which} {self._score_name}", xlim=(0, 1.04 * n_trees))
        ax.grid(alpha=0.3)
        ax.legend(loc="lower right", frameon=False)
        return ax


def make_result(
    adapter: Adapter,
    model: Any,
    data: tuple[Any, Any],
    chosen: Chosen,
    rows: AnyRows,
    score_name: str = "accuracy",
) -> ThinResult:
    """The result for the ensemble chosen; if none was, the original model."""
    final = chosen.final
    kept = np.arange(adapter.n_members) if final is None else final.members
    is_optimised = final is not None and final.solution is not None
    return ThinResult(
        model=_unchanged(adapter, model, rows) if final is None else _rebuilt(adapter, final, rows),
        kept=kept,
        weights=adapter.weights.copy() if final is None else final.weights,
        intercept=adapter.intercept if final is None else final.intercept,
        leaves=None if final is None else final.leaves,
        way="unchanged" if final is None else final.way,
        judged_on=chosen.judged_on,
        C=final.C if final is not None and is_optimised else None,
        path=_table(chosen.path),
        chosen=chosen.taken,
        full_score=chosen.full_score,
        gap=np.nan if final is None else final.gap,
        _adapter=adapter,
        _original=model,
        _data=data,
        _score_name=score_name,
    )


def _unchanged(adapter: Adapter, model: Any, rows: AnyRows) -> Any:
    """A copy of the model, or what it becomes where its library cannot be written to."""
    everything = Point(np.nan, np.arange(adapter.n_members), adapter.weights, adapter.intercept, np.nan, np.nan)
    return copy.deepcopy(model) if adapter.keeps_type else _rebuilt(adapter, everything, rows)


def _rebuilt(adapter: Adapter, point: Point, rows: AnyRows) -> Any:
    if point.leaves is not None:
        return adapter.rewrite(point.members, point.leaves, point.intercept)
    rebuilt = adapter.rebuild(point.members, point.weights, point.intercept)
    scores = rows.scores(point.members, point.weights, point.intercept)
    return adapter.with_probabilities(rebuilt, scores, rows.labels, rows.counts)


def _table(path: list[Tried]) -> dict[str, Any]:
    return {
        "way": np.array([tried.way for tried in path], dtype=object),
        "C": np.array([tried.C for tried in path]),
        "trees": np.array([tried.trees for tried in path], dtype=np.intp),
        "members": np.array([tried.size for tried in path], dtype=np.intp),
        "nodes": np.array([tried.nodes for tried in path], dtype=np.intp),
        "train_score": np.array([tried.train_score for tried in path]),
        "validation_score": np.array([tried.validation_score for tried in path]),
    }


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
