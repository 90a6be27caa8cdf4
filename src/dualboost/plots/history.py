"""Plots the iterations of a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from .._typing import Vector
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedModelError
from ..inspection.scores import held_out_name, training_name
from .axes import BLUE, GREEN, RED, finish, legend_above, pyplot, require_fitted

N_PANELS = 3
LINE_LETTERS = 14
"""The most letters of a score that leave room for more in the line of an axis label."""
SMALLEST_GAP = 1e-16
"""Smaller gaps are drawn at this value, since a logarithmic axis cannot show zero."""


def plot_history(clf: Any, X: Any = None, y: Any = None, *, ax: Any = None) -> Any:
    """Objective, duality gap (on a logarithmic axis) and accuracy against iterations; returns the three axes.

    Of a regressor R^2 takes the place of the accuracy.

    The accuracies are those of ``history_``, on the training rows and on the held-out rows (a score other than the
    accuracy has an axis of its own); if X and y are passed, the accuracy of each stage on these rows is added. ``ax``
    are three axes to draw into, or one that is replaced by three. Unless the estimator has
    ``SolverOptions(reoptimize="every")``, masters are solved only as far as the next tree needs, so that only the final
    ensemble has the gap ``gap_``. Where leaves are corrected, the objective gets worse when trees are eliminated.
    """
    require_fitted(clf, "history_", "plot_history")
    axes = _three_axes(ax)
    history = clf.history_
    iterations = history["iteration"]
    _curve(axes[0], iterations, history["objective"], BLUE)
    if np.isfinite(history["bound"]).any():
        _curve(axes[0], iterations, history["bound"], RED, "bound over all trees", "--")
        legend_above(axes[0])
    _curve(axes[1], iterations, np.maximum(history["gap"], SMALLEST_GAP), BLUE)
    axes[1].axhline(clf.tol, color="0.5", lw=1, ls=":", label="tol")
    legend_above(axes[1])
    axes[1].set_yscale("log")
    _curve(axes[2], iterations, history["train_accuracy"], BLUE, "training")
    if np.isfinite(history["validation_score"]).any():
        _curve(_validation_axis(axes[2], clf), iterations, history["validation_score"], GREEN, "held out", "-.")
    if X is not None or y is not None:
        _curve(axes[2], iterations, _staged_score(clf, X, y, len(iterations)), RED, "X and y passed", "--")
    legend_above(axes[2])
    for panel, name in zip(axes, ("objective", "duality gap", training_name(clf)), strict=True):
        finish(panel, ylabel=name)
    axes[2].set_xlabel("iteration")
    axes[2].xaxis.get_major_locator().set_params(integer=True)
    return axes


def _three_axes(ax: Any) -> Any:
    plt = pyplot("plot_history")
    if ax is None:
        return plt.subplots(N_PANELS, 1, figsize=(6.4, 6.6), sharex=True, layout="constrained")[1]
    axes = np.ravel(ax)
    if len(axes) == 1 and axes[0].get_subplotspec() is not None:
        axes[0].set_axis_off()
        return axes[0].get_subplotspec().subgridspec(N_PANELS, 1).subplots(sharex=True)
    if len(axes) != N_PANELS:
        raise InvalidParameterError(
            f"ax={ax!r} must be one subplot, or three axes, for example plt.subplots(3, 1, sharex=True)[1]."
        )
    return axes


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
    judge = _accuracy if clf.fitted_.task.has_classes else r2_score
    scores = np.array([judge(y, predicted) for predicted in clf.staged_predict(X)])
    if len(scores) != n_iterations:
        raise UnsupportedModelError("clf was thinned, so that its stages are gone: draw it without X and y.")
    return scores


def _accuracy(y: Any, predicted: Any) -> float:
    return float(np.mean(predicted == np.asarray(y)))
