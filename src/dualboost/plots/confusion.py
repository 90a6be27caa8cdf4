"""Plots which classes are taken for which."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Matrix
from ..escaping import printable
from ..tasks.labels import encoded
from .axes import POINTS_PER_INCH, axes_for, require_fitted, shortened

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
