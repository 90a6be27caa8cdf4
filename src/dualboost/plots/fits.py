"""Plots of fits: history, weights, path and margins."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from .._typing import Vector
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedModelError
from ..inspection.rules import held_out_name, training_name
from ..targets.standardising import r_squared
from .axes import BLUE, COLOURS, DASHES, GREEN, RED, axes_for, finish, legend_above, pyplot, require_fitted

N_PANELS = 3
LINE_LETTERS = 14
"""A longer name of a score has a line of its own in the label of an axis."""
SMALLEST_GAP = 1e-16
"""Smaller gaps are drawn at this value: a logarithmic axis has no zero."""
LOGARITHMIC_FROM = 10.0
"""If the largest C is at least so many times the smallest, colours depend on the logarithm of C."""
ONE_TREE = 1.0
"""If numbers of trees differ by less than this, scores are drawn against C."""


def plot_history(clf: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
    """Objective, duality gap (on a logarithmic axis) and accuracy against iterations; returns the axes of these panels.

    Of a regressor R^2 takes the place of the accuracy.

    The accuracies of ``history_`` are of the training rows and of the held-out rows (a score other than the accuracy
    has an axis of its own); with X and y, the accuracy of each stage on these rows is added. ``ax`` are three axes, or
    one that is replaced by three. Unless the estimator has ``SolverOptions(reoptimize="every")``, programmes are solved
    only as far as the next tree needs, so that only the final ensemble has the gap ``gap_``. Where leaves are
    optimized, the objective increases when trees are eliminated, and there is one gap, at the end: the title has it,
    and there is no panel for it (of three axes given, the second stays empty).
    """
    require_fitted(clf, "history_", "plot_history")
    history = clf.history_
    iterations = history["iteration"]
    gaps = history["gap"][np.isfinite(history["gap"])]
    has_gaps = len(gaps) > max(1, 0.5 * len(iterations)) and bool((gaps > 0).any())
    axes = _panels(ax, N_PANELS if has_gaps else N_PANELS - 1)
    _curve(axes[0], iterations, history["objective"], BLUE)
    if has_gaps:
        _draw_gaps(axes[1], iterations, history["gap"], clf.tol)
    elif len(gaps):
        axes[0].set_title(f"duality gap at the end: {gaps[-1]:.2g}", loc="left", fontsize="small")
    if np.isfinite(history["bound"]).any():
        _curve(axes[0], iterations, history["bound"], RED, "bound over all trees", "--")
        legend_above(axes[0])
    _curve(axes[-1], iterations, history["train_score"], BLUE, "training")
    if np.isfinite(history["validation_score"]).any():
        _curve(_validation_axis(axes[-1], clf), iterations, history["validation_score"], GREEN, "held out", "-.")
    if X is not None or y is not None:
        _curve(axes[-1], iterations, _staged_score(clf, X, y, len(iterations)), RED, "X and y passed", "--")
    legend_above(axes[-1])
    for panel, name in zip((axes[0], axes[-1]), ("objective", training_name(clf)), strict=True):
        finish(panel, ylabel=name)
    axes[-1].set_xlabel("iteration")
    axes[-1].xaxis.get_major_locator().set_params(integer=True)
    return axes


def _draw_gaps(panel: Any, iterations: Vector, gaps: Vector, tol: float) -> None:
    _curve(panel, iterations, np.maximum(gaps, SMALLEST_GAP), BLUE)
    panel.axhline(tol, color="0.5", lw=1, ls=":", label="tol")
    legend_above(panel)
    finish(panel, yscale="log", ylabel="duality gap")


def _panels(ax: Any, n_panels: int) -> Any:
    """New axes, or the axes given: of three for two panels, the first and the last."""
    plt = pyplot("plot_history")
    if ax is None:
        return plt.subplots(n_panels, 1, figsize=(6.4, 2.2 * n_panels), sharex=True, layout="constrained")[1]
    axes = np.ravel(ax)
    if len(axes) == 1 and axes[0].get_subplotspec() is not None:
        axes[0].set_axis_off()
        return axes[0].get_subplotspec().subgridspec(n_panels, 1).subplots(sharex=True)
    if len(axes) != N_PANELS:
        raise InvalidParameterError(
            f"ax={ax!r} must be one subplot, or three axes, for example plt.subplots(3, 1, sharex=True)[1]."
        )
    if n_panels == N_PANELS:
        return axes
    axes[1].set_axis_off()
    return axes[[0, -1]]


def _curve(ax: Any, x: Vector, values: Vector, colour: str, label: str | None = None, dashes: str = "-") -> None:
    marker = "o" if np.isfinite(values).sum() == 1 else None
    ax.plot(x, values, dashes, color=colour, lw=1.8, marker=marker, label=label)


def _validation_axis(panel: Any, clf: Any) -> Any:
    """The axis of the held-out score: the axis of the accuracy, or for another score a new one on the right."""
    name = held_out_name(clf)
    if name == training_name(clf):
        return panel
    other = panel.twinx()
    other.set_ylabel(f"{name},{' ' if len(name) <= LINE_LETTERS else chr(10)}held out", color=GREEN)
    return other


def _staged_score(clf: Any, X: Any, y: Any, n_iterations: int) -> Vector:
    if X is None or y is None:
        missing = "X" if X is None else "y"
        raise InvalidDataError(f"plot_history needs X and y to draw an accuracy, and {missing} is None: pass both.")
    judge = _accuracy if clf.fitted_.target.has_classes else r_squared
    scores = np.array([judge(y, predicted) for predicted in clf.staged_predict(X)])
    if len(scores) != n_iterations:
        raise UnsupportedModelError("clf was thinned, so that its stages are gone: draw it without X and y.")
    return scores


def _accuracy(y: Any, predicted: Any) -> float:
    return float(np.mean(predicted == np.asarray(y)))


def plot_weights(clf: Any, *, ax: Any = None) -> Any:
    """Each learner's share of all weights, in the order of generation; zeros are grey.

    Where leaves are optimized, the largest absolute value of each tree's leaves; of a regressor, in the units of y, or
    under the Poisson loss of the logarithm of the mean.
    """
    require_fitted(clf, "weights_", "plot_weights")
    ax = axes_for(ax, "plot_weights", (6.4, 3.4))
    ensemble = clf.fitted_.in_units
    shares = ensemble.scales()
    used, unused = np.flatnonzero(shares), np.flatnonzero(shares == 0)
    ax.bar(used, shares[used], width=0.8, color=BLUE)
    ax.plot(unused, np.zeros(len(unused)), "o", color="0.6", ms=4, clip_on=False, zorder=3)
    ax.xaxis.get_major_locator().set_params(integer=True)
    counted = f"of {len(shares)} trees have a weight" if ensemble.is_normalised else f"of {clf.n_generated_} trees kept"
    return finish(
        ax,
        xlabel="tree, in the order of generation",
        ylabel="share of all weights" if ensemble.is_normalised else "largest value of a leaf",
        title=f"{len(used)} {counted}",
        xlim=(-0.8, max(len(shares), 2) - 0.2),
    )


def plot_path(cv: Any, *, ax: Any = None) -> Any:
    """Score on held-out rows against trees, both means over the folds: a point for each C, a ring around the best.

    Bars are one standard error of the score to either side. If fewer trees were tried as well, there is a point for
    each C and number of trees, and a line for each C. If all C use equally many trees, scores are drawn against C.
    ``cv`` is a fitted ``DualBoostClassifierCV`` or ``DualBoostRegressorCV``.
    """
    require_fitted(cv, "path_", "plot_path", "DualBoostClassifierCV or DualBoostRegressorCV")
    ax = axes_for(ax, "plot_path")
    from matplotlib.colors import LogNorm, Normalize

    path = cv.path_
    C, trees, scores = path["C"], path["n_trees"], path["score"]
    is_by_C = len(np.unique(C)) > 1 and np.ptp(trees) < ONE_TREE
    x = C if is_by_C else trees
    is_wide = C.min() > 0 and C.max() >= LOGARITHMIC_FROM * C.min()
    for one in [slice(None)] if len(np.unique(C)) == len(C) else [value == C for value in np.unique(C)]:
        ax.plot(x[one], scores[one], color="0.8", lw=1, zorder=1)
    bars = {"fmt": "none", "ecolor": "0.6", "elinewidth": 1, "capsize": 2, "zorder": 2}
    ax.errorbar(x, scores, path["standard_error"], **bars, label="± standard error")
    norm = (LogNorm if is_wide else Normalize)(C.min(), C.max()) if C.max() > C.min() else None
    points = ax.scatter(x, scores, 42, C, cmap="cividis", norm=norm, edgecolors="white", linewidths=0.6, zorder=3)
    best = _selected(cv)
    label = f"chosen: C = {cv.C_:.3g}, {cv.n_trees_} trees on all rows"
    ax.plot(x[best], scores[best], "o", ms=14, mfc="none", mec=RED, mew=2, label=label, zorder=4)
    legend_above(ax)
    ylabel = f"{held_out_name(cv)} on held-out rows"
    if is_by_C:
        xlabel = f"C, with {trees.mean():.3g} trees each, mean over the folds"
        return finish(ax, xscale="log" if is_wide else "linear", xlabel=xlabel, ylabel=ylabel)
    ax.figure.colorbar(points, ax=ax, label="C")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return finish(ax, xlabel="trees used, mean over the folds", ylabel=ylabel)


def _selected(cv: Any) -> int:
    """The position of ``C_`` in the path; a C with several numbers of trees has several positions."""
    found = np.flatnonzero(cv.path_["C"] == cv.C_)
    most = cv.fitted_.tuning.max_trees
    if most is None:
        return int(found[0])
    return int(min(found, key=lambda k: abs(cv.path_["n_trees"][k] - most)))


def plot_margins(models: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """The share of rows with a margin of at most x; the height of a curve at zero is the error.

    Margins are in [-1, 1]; under "logistic" they are the log-odds of the class of the row, of several classes against
    the best other class.
    ``models`` is a fitted ``DualBoostClassifier``, a list of (name, classifier), or a dict of classifiers by name.
    """
    named = _named(models)
    for _, model in named:
        require_fitted(model, "weights_", "plot_margins")
        require_fitted(model, "margins", "plot_margins")
    ax = axes_for(ax, "plot_margins")
    ax.axvline(0.0, color="0.5", lw=1)
    found = [np.sort(model.margins(X, y)) for _, model in named]
    low, high = min(-1.0, *(margins[0] for margins in found)), max(1.0, *(margins[-1] for margins in found))
    for (name, _), margins, colour, dashes in zip(named, found, cycle(COLOURS), cycle(DASHES), strict=False):
        shares = np.arange(len(margins) + 1) / len(margins)
        ends = np.concatenate([[low], margins, [high]])
        ax.step(ends, np.append(shares, 1.0), dashes, where="post", color=colour, lw=1.8, label=name)
    if len(named) > 1:
        ax.legend(frameon=False, loc="upper left")
    in_odds = all(model.formulation_.has_final_scores for _, model in named)
    against = " against the best other" if any(model.fitted_.target.n_outputs > 1 for _, model in named) else ""
    label = f"margin: log-odds of the row's class{against}" if in_odds else "margin"
    return finish(ax, xlabel=label, ylabel="share of rows with at most this margin", xlim=(low, high), ylim=(0, 1.01))


def _named(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        models = list(models.items())
    if not isinstance(models, (list, tuple)):
        return [(type(models).__name__, models)]
    if not models or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in models):
        raise InvalidParameterError(
            f"models={models!r} must be a classifier, a dict of classifiers by name, or a list of (name, classifier)."
        )
    return [(str(name), model) for name, model in models]
