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
from .axes import BLUE, POINTS_PER_INCH, RED, SKY, axes_for, finish, opacity, require_fitted, shortened

NAME_LETTERS = 24
"""The most letters of a class beside the matrix."""
LEAST_INCHES, MOST_INCHES = 2.4, 9.0
"""The least and the largest width and height of the matrix in new axes."""
CELL_INCHES, NAME_INCHES = 0.62, 1.6
"""The width and height of a cell of few classes, and the space for names beside the matrix."""
LARGEST_FONT, LEAST_FONT = 9.0, 3.5
"""The sizes of numbers; numbers that need a smaller font are left out."""
LEAST_NAME = 6.0
"""The smallest size of names; if cells are smaller, some names are left out."""
LETTER = 0.64
"""The width of a letter or digit, as a share of the size of the font."""
DARKEST, DARK = 0.85, 0.6
"""The place in the palette of a share of one, and the root of a share above which numbers are white."""
SIZE = 22.0
"""The area of a point, in square points."""
MARGIN = 0.04
"""The space beside the outermost points, as a share of their distance."""
MOST_ROWS = 150
"""The most intervals: of more rows so many are drawn, evenly spaced in the order of their predictions."""


def plot_confusion_matrix(clf: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """The number of rows of each class (down) by predicted class (across); zeros are left blank.

    Colours are shares of the rows of the class: correct ones blue, errors orange. It takes any number of classes; with
    very many the numbers are left out.
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
    ax.figure.canvas.figure.draw_without_rendering()  # the size of cells depends on the space for the names
    _name_classes(ax, names)
    _write_numbers(ax, counts, shares)
    return ax


def _counts(clf: Any, X: Any, y: Any) -> Matrix:
    predicted = np.asarray(clf.predict(X))
    n_classes, n_rows = len(clf.classes_), len(predicted)
    cells = encoded(y, clf.classes_, n_rows) * n_classes + encoded(predicted, clf.classes_, n_rows)
    return np.bincount(cells, minlength=n_classes**2).reshape(n_classes, n_classes).astype(float)


def _colours(shares: Matrix) -> Matrix:
    """The colour of each cell: the root of a share, so that small shares, as of most errors, are visible."""
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
    """The names at both sides, upright below unless they fit; of too many names every second, third or so."""
    cell = _cell_points(ax)
    font = min(LARGEST_FONT, max(0.7 * cell, LEAST_NAME))
    labelled = range(0, len(names), int(np.ceil(LEAST_NAME / cell)))
    width = LETTER * font * max(map(len, names))
    ax.set_xticks(labelled, [names[k] for k in labelled], rotation=0 if width < cell else 90, fontsize=font)
    ax.set_yticks(labelled, [names[k] for k in labelled], fontsize=font)


def _write_numbers(ax: Any, counts: Matrix, shares: Matrix) -> None:
    cell, letters = _cell_points(ax), max(len(f"{counts.max():,.0f}"), 2)
    font = min(LARGEST_FONT, 0.9 * cell / (LETTER * letters), 0.7 * cell)
    if font < LEAST_FONT:
        return
    for i, k in zip(*np.nonzero(counts), strict=True):
        colour = "white" if np.sqrt(shares[i, k]) > DARK else "black"
        ax.text(k, i, f"{counts[i, k]:,.0f}", ha="center", va="center", fontsize=font, color=colour)


def plot_predictions(reg: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """The prediction of each row against its true value; on the diagonal both are equal.

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
    """The residual of each row, y less the prediction, against the prediction.

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
    if not is_regressor(reg):
        raise UnsupportedModelError(f"{function} needs a fitted regressor, not a {type(reg).__name__}.")
    require_fitted(reg, "n_features_in_", function, "regressor")
    predicted = np.asarray(reg.predict(X), dtype=float)
    return NumericTarget(0.0, 1.0).encode(NumericTarget.plain(y), len(predicted)), predicted


def _draw_points(ax: Any, x: Vector, y: Vector) -> None:
    ax.scatter(x, y, SIZE, color=BLUE, alpha=opacity(len(x)), linewidths=0, zorder=2)


def _ends(values: Vector) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    space = MARGIN * (high - low) or 0.5 * max(abs(low), 1.0)
    return low - space, high + space


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def plot_intervals(reg: Any, X: Any, y: Any, *, coverage: float | None = None, ax: Any = None) -> Any:
    """The interval of each row with its prediction and its true value, in the order of the predictions.

    Of many rows some are drawn. True values outside of their interval are red. The title has the share of rows that
    intervals cover and their mean width, over all rows. ``coverage`` selects one of several intervals of a regressor.
    """
    require_fitted(reg, "predict_interval", "plot_intervals", "DualBoostRegressor")
    require_fitted(reg, "n_features_in_", "plot_intervals", "DualBoostRegressor")
    low, high = reg.predict_interval(X, coverage).T
    if not len(low):
        raise UnsupportedModelError("plot_intervals needs a row to draw, and X has none.")
    true, predicted = NumericTarget(0.0, 1.0).encode(NumericTarget.plain(y), len(low)), reg.predict(X)
    is_inside = (low <= true) & (true <= high)
    ax = axes_for(ax, "plot_intervals")
    drawn = np.argsort(predicted, kind="stable")
    drawn = drawn[np.unique(np.linspace(0, len(drawn) - 1, MOST_ROWS).round().astype(int))]
    place = np.arange(len(drawn))
    ax.vlines(place, low[drawn], high[drawn], color=SKY, lw=min(3.0, 400.0 / len(drawn)), alpha=0.6, label="interval")
    ax.plot(place, predicted[drawn], color="0.25", lw=1.0, label="predicted")
    for inside, colour, label in ((True, BLUE, "true, inside"), (False, RED, "true, outside")):
        own = is_inside[drawn] == inside
        ax.scatter(place[own], true[drawn][own], 14, color=colour, linewidths=0, zorder=3, label=label)
    ax.legend(frameon=False, ncols=2, fontsize="small")
    width = number(_rounded(float(np.mean(high - low))))
    title = f"covers {is_inside.mean():.1%} of {len(true)} rows, mean width {width}"
    some = f"{len(drawn)} of these" if len(drawn) < len(true) else "rows"
    return finish(ax, xlabel=f"{some}, by prediction", ylabel="y", title=title, xticks=[])
