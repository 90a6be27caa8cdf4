"""Plots what a regressor predicts against what is true."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._typing import Vector
from ..errors import UnsupportedModelError
from ..inspection.names import number
from ..tasks import Numbers
from ..tasks.errors_of_numbers import r_squared, root_mean_square
from .axes import BLUE, RED, axes_for, finish, require_fitted

SIZE = 22.0
"""The area of a point, in square points."""
OPAQUE = 200
"""With more rows than this, points are drawn more transparently."""
FAINTEST = 0.08
"""The opacity of the points of very many rows."""
MARGIN = 0.04
"""The space beside the outermost points, as a share of their distance."""


def plot_predictions(reg: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """What is predicted for each row against what is true; on the diagonal both are equal.

    The title has the root of the mean squared error, in the units of y, and R^2. For any fitted regressor.
    """
    true, predicted = _pairs(reg, X, y, "plot_predictions")
    ax = axes_for(ax, "plot_predictions", (5.0, 5.0))
    low, high = _ends(np.concatenate([true, predicted]))
    ax.plot([low, high], [low, high], color=RED, lw=1.2, zorder=1)
    _draw_points(ax, true, predicted)
    error = root_mean_square(true, predicted)
    explained = r_squared(true, predicted) if len(true) > 1 else np.nan
    ax.set_aspect("equal")
    return finish(
        ax,
        xlabel="true",
        ylabel="predicted",
        title=f"RMSE {number(_rounded(error))}, R² {explained:.3f}",
        xlim=(low, high),
        ylim=(low, high),
    )


def plot_residuals(reg: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """How far y is above the prediction of each row, against the prediction.

    The title has the mean absolute error and the mean of the residuals. For any fitted regressor.
    """
    true, predicted = _pairs(reg, X, y, "plot_residuals")
    ax = axes_for(ax, "plot_residuals")
    residuals = true - predicted
    ax.axhline(0.0, color=RED, lw=1.2, zorder=1)
    _draw_points(ax, predicted, residuals)
    mean, size = float(residuals.mean()), float(np.abs(residuals).mean())
    title = f"MAE {number(_rounded(size))}, mean {number(_rounded(mean))}"
    return finish(ax, xlabel="predicted", ylabel="true less predicted", title=title)


def _pairs(reg: Any, X: Any, y: Any, function: str) -> tuple[Vector, Vector]:
    """What is true and what is predicted, as numbers."""
    if not is_regressor(reg):
        raise UnsupportedModelError(f"{function} needs a fitted regressor, not a {type(reg).__name__}.")
    require_fitted(reg, "n_features_in_", function, "regressor")
    predicted = np.asarray(reg.predict(X), dtype=float)
    return Numbers(0.0, 1.0).encode(Numbers.plain(y), len(predicted)), predicted


def _draw_points(ax: Any, x: Vector, y: Vector) -> None:
    opacity = max(FAINTEST, min(0.7, 0.7 * (OPAQUE / len(x)) ** 0.5))
    ax.scatter(x, y, SIZE, color=BLUE, alpha=opacity, linewidths=0, zorder=2)


def _ends(values: Vector) -> tuple[float, float]:
    """The ends of an axis with all values inside."""
    low, high = float(values.min()), float(values.max())
    space = MARGIN * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - space, high + space


def _rounded(value: float) -> float:
    """A figure of a title, with three digits."""
    return float(f"{value:.3g}")
