"""Plots predictions against true values."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._typing import Matrix, Vector
from ..errors import UnsupportedModelError
from ..escaping import printable
from ..inspection.rules import number
from ..targets import NumericTarget
from ..targets.base import encoded
from ..targets.standardising import r_squared, root_mean_square
from .axes import BLUE, POINTS_PER_INCH, RED, SKY, axes_for, finish, require_fitted, shortened

NAME_LETTERS = 24
"""The most letters of a class beside the matrix."""
LEAST_INCHES, MOST_INCHES = 2.4, 9.0
"""The least and the largest width and height of the matrix in new axes, in inches."""
CELL_INCHES = 0.62
"""The width and height of a cell, where the classes are few."""
NAME_INCHES = 1.6
"""The space for names beside the matrix, in inches."""
LARGEST_FONT = 9.0
LEAST_FONT = 3.5
"""Numbers that would be smaller are left out."""
LEAST_NAME = 6.0
"""The smallest size of names; if cells are smaller, some names are left out."""
LETTER = 0.64
"""The width of a letter or digit, as a share of the size of the font."""
DARKEST = 0.85
"""The place in the palette of a share of one."""
DARK = 0.6
"""Numbers are white where the root of the share exceeds this."""


def plot_confusion_matrix(clf: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """How many rows of each class (down) were predicted to be of each class (across); zeros are left blank.

    Colours are shares of the rows of the class: correct ones blue, errors orange. For any number of classes, two
    included; with very many the numbers are left out.
    """
    require_fitted(clf, "classes_", "plot_confusion_matrix")
    counts = _counts(clf, X, y)
    side = min(max(CELL_INCHES * len(counts), LEAST_INCHES), MOST_INCHES) + NAME_INCHES
    ax = axes_for(ax, "plot_confusion_matrix", (side, side))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    ax.imshow(_colours(shares), aspect="equal")
    names = [shortened(printable(str(label)), NAME_LETTERS) for label in clf.classes_]
    _name_classes(ax, names)
    ax.set(xlabel="predicted class", ylabel="class", title=_title(counts))
    ax.tick_params(length=0)
    ax.spines[:].set_color("0.8")
    ax.figure.canvas.figure.draw_without_rendering()  # the size of cells is known once names have taken their space
    _name_classes(ax, names)
    _write_numbers(ax, counts, shares)
    return ax


def _counts(clf: Any, X: Any, y: Any) -> Matrix:
    """The number of rows by class and predicted class."""
    predicted = np.asarray(clf.predict(X))
    n_classes, n_rows = len(clf.classes_), len(predicted)
    cells = encoded(y, clf.classes_, n_rows) * n_classes + encoded(predicted, clf.classes_, n_rows)
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes).astype(float)


def _colours(shares: Matrix) -> Matrix:
    """The colour of each cell; the root of a share shows small ones, as errors mostly are."""
    from matplotlib import colormaps

    tints = DARKEST * np.sqrt(shares)
    on_diagonal = np.eye(len(shares), dtype=bool)[:, :, None]
    colours = np.where(on_diagonal, colormaps["Blues"](tints), colormaps["Oranges"](tints))
    return np.where(shares[:, :, None] > 0, colours, 1.0)


def _title(counts: Matrix) -> str:
    return f"{np.trace(counts) / counts.sum():.1%} of {counts.sum():,.0f} rows correct"


def _cell_points(ax: Any) -> float:
    """The width of a cell, in points."""
    (left, _), (right, _) = ax.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    return float(POINTS_PER_INCH * (right - left) / ax.figure.dpi)


def _name_classes(ax: Any, names: list[str]) -> None:
    """The names at both sides, those across upright unless they fit; of too many names every second, third or so."""
    cell = _cell_points(ax)
    font = min(LARGEST_FONT, max(0.7 * cell, LEAST_NAME))
    shown = range(0, len(names), int(np.ceil(LEAST_NAME / cell)))
    width = LETTER * font * max(map(len, names))
    ax.set_xticks(shown, [names[k] for k in shown], rotation=0 if width < cell else 90, fontsize=font)
    ax.set_yticks(shown, [names[k] for k in shown], fontsize=font)


def _write_numbers(ax: Any, counts: Matrix, shares: Matrix) -> None:
    """The numbers, as large as the longest one fits into a cell."""
    cell, letters = _cell_points(ax), max(len(f"{counts.max():,.0f}"), 2)
    font = min(LARGEST_FONT, 0.9 * cell / (LETTER * letters), 0.7 * cell)
    if font < LEAST_FONT:
        return
    for i, k in zip(*np.nonzero(counts), strict=True):
        colour = "white" if np.sqrt(shares[i, k]) > DARK else "black"
        ax.text(k, i, f"{counts[i, k]:,.0f}", ha="center", va="center", fontsize=font, color=colour)


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
    return NumericTarget(0.0, 1.0).encode(NumericTarget.plain(y), len(predicted)), predicted


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


MOST_ROWS = 150
"""With more rows than this, so many of them are drawn, evenly spaced in the order of their predictions."""


def plot_intervals(reg: Any, X: Any, y: Any, *, coverage: float | None = None, ax: Any = None) -> Any:
    """The interval of each row with its prediction, in the order of the predictions, and what is true.

    Of many rows some are drawn. True numbers outside of their interval are red. The title has the share of rows that
    intervals cover and their mean width, over all rows. ``coverage`` chooses among the intervals of a regressor with
    several.
    """
    require_fitted(reg, "predict_interval", "plot_intervals", "DualBoostRegressor")
    require_fitted(reg, "n_features_in_", "plot_intervals", "DualBoostRegressor")
    low, high = reg.predict_interval(X, coverage).T
    if not len(low):
        raise UnsupportedModelError("plot_intervals needs a row to draw, and X has none.")
    true, predicted = NumericTarget(0.0, 1.0).encode(NumericTarget.plain(y), len(low)), reg.predict(X)
    is_inside = (low <= true) & (true <= high)
    ax = axes_for(ax, "plot_intervals")
    shown = np.argsort(predicted, kind="stable")
    shown = shown[np.unique(np.linspace(0, len(shown) - 1, MOST_ROWS).round().astype(int))]
    place = np.arange(len(shown))
    ax.vlines(place, low[shown], high[shown], color=SKY, lw=min(3.0, 400.0 / len(shown)), alpha=0.6, label="interval")
    ax.plot(place, predicted[shown], color="0.25", lw=1.0, label="predicted")
    for inside, colour, label in ((True, BLUE, "true, inside"), (False, RED, "true, outside")):
        chosen = is_inside[shown] == inside
        ax.scatter(place[chosen], true[shown][chosen], 14, color=colour, linewidths=0, zorder=3, label=label)
    ax.legend(frameon=False, ncols=2, fontsize="small")
    title = (
        f"covers {is_inside.mean():.1%} of {len(true)} rows, mean width {number(float(f'{np.mean(high - low):.3g}'))}"
    )
    some = f"{len(shown)} of these" if len(shown) < len(true) else "rows"
    return finish(ax, xlabel=f"{some}, by what is predicted", ylabel="y", title=title, xticks=[])
