"""Plots the iterations of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Vector
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedModelError
from ..inspection.scores import held_out_name, training_name
from ..tasks.errors_of_numbers import r_squared
from .axes import BLUE, GREEN, RED, finish, legend_above, pyplot, require_fitted

N_PANELS = 3
LINE_LETTERS = 14
"""The most letters of a score that leave room for more in the line of an axis label."""
SMALLEST_GAP = 1e-16
"""Smaller gaps are drawn at this value, since a logarithmic axis cannot show zero."""


def plot_history(clf: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
    """Objective, duality gap (on a logarithmic axis) and accuracy against iterations; returns the axes of these panels.

    Of a regressor R^2 takes the place of the accuracy.

    The accuracies are those of ``history_``, on the training rows and on the held-out rows (a score other than the
    accuracy has an axis of its own); if X and y are passed, the accuracy of each stage on these rows is added. ``ax``
    are three axes to draw into, or one that is replaced by three. Unless the estimator has
    ``SolverOptions(reoptimize="every")``, masters are solved only as far as the next tree needs, so that only the final
    ensemble has the gap ``gap_``. Where leaves are corrected, the objective gets worse when trees are eliminated, and
    there is one gap, at the end: it is then in the title, and there is no panel for it (of three axes given, the second
    stays empty).
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
    _curve(axes[-1], iterations, history["train_accuracy"], BLUE, "training")
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
    """New axes, or those given; of three axes for two panels, the first and the last."""
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
    """The panel of the accuracy; for another score an axis on its right."""
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
    judge = _accuracy if clf.fitted_.task.has_classes else r_squared
    scores = np.array([judge(y, predicted) for predicted in clf.staged_predict(X)])
    if len(scores) != n_iterations:
        raise UnsupportedModelError("clf was thinned, so that its stages are gone: draw it without X and y.")
    return scores


def _accuracy(y: Any, predicted: Any) -> float:
    return float(np.mean(predicted == np.asarray(y)))
