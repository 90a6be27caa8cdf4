"""One effect in one panel: a curve or bars with the distribution of the rows below, or a map of a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Features, Matrix, Vector
from ..inspection.cells import MISSING, Cells
from ..inspection.effects import Effect
from ..inspection.names import Names
from ..models.marginals import CategoryMarginal, Marginal, NumberMarginal
from ..trees.tree import column_values
from .axes import finish, shortened

MOST_CATEGORIES = 24
"""The most categories with a bar of their own: those with the most rows."""
NAME_LETTERS = 14
GAP, STRIP = 0.06, 0.08
"""The space between numbers and missing values, and the width of the strip of these, as shares of the range."""
MAP = "RdBu_r"
JITTER = 0.3
"""How far points of one category are from its middle at most."""
JITTER_SEED = 709_281
"""A seed that data are not made with: jitter from the numbers of the column itself would look like an effect."""
MOST_DOTS, DOT = 1000, 3.0
"""The most rows on a map, and the area of their dots."""
FONT_SIZE = 9
TICK_SIZE = 8
TICK_STEPS = (1, 2, 5, 10)
"""Without halves, which counts do not have."""


class Scale(NamedTuple):
    """Where the values of a feature are drawn: the strip of missing values stands on its right."""

    low: float
    high: float

    @property
    def strip(self) -> tuple[float, float]:
        width = self.high - self.low
        return self.high + GAP * width, self.high + (GAP + STRIP) * width

    @property
    def middle(self) -> float:
        return sum(self.strip) / 2.0


def scale_of(marginal: Marginal) -> Scale:
    """The range of numbers; categories have a width of one."""
    if isinstance(marginal, NumberMarginal):
        return Scale(float(marginal.grid[0]), float(marginal.grid[-1]))
    return Scale(-0.5, len(shown_categories(marginal)) - 0.5)


def shown_categories(marginal: CategoryMarginal) -> list[int]:
    """The codes that are drawn, in their own order."""
    most = np.argsort(-marginal.counts, kind="stable")[:MOST_CATEGORIES]
    return sorted(most.tolist())


def draw_single(ax: Any, below: Any, effect: Effect, names: Names, colours: Sequence[str]) -> None:
    """The effect of one feature, a curve or bars for each score; and below it how many rows have which values."""
    (cells,) = effect.cells
    ax.axhline(0.0, color="0.6", lw=0.8)
    draw = _draw_steps if cells.cuts is not None else _draw_bars
    draw(ax, cells, effect.values, colours)
    if cells.has_missing:
        middle, width = scale_of(cells.marginal).middle, np.ptp(scale_of(cells.marginal).strip)
        _dodged_bars(ax, np.array([middle]), effect.values[-1:], colours, width)
    draw_frame(ax, below, cells.marginal, cells.feature, names)


def draw_frame(ax: Any, below: Any, marginal: Marginal, feature: int, names: Names) -> None:
    """What all panels of one feature have: the title, the rows below, and names at the axis."""
    draw_rows(below, marginal)
    for one in (ax, below):
        name_axis(one.xaxis, marginal, feature, names)
    finish(ax)
    ax.grid(axis="x", visible=isinstance(marginal, NumberMarginal))
    ax.set_title(shortened(names.features[feature], 3 * NAME_LETTERS) + _left_out(marginal), fontsize=FONT_SIZE + 1)
    ax.tick_params(labelbottom=False, labelsize=TICK_SIZE, bottom=False)
    right = scale_of(marginal).strip[1] if marginal.missing else scale_of(marginal).high
    ax.set_xlim(scale_of(marginal).low, right)
    below.set_xlim(scale_of(marginal).low, right)


def _draw_steps(ax: Any, cells: Cells, values: Matrix, colours: Sequence[str]) -> None:
    scale = scale_of(cells.marginal)
    assert cells.cuts is not None
    edges = np.concatenate([[scale.low], cells.cuts, [scale.high]])
    for own, colour in zip(values[:-1].T, colours, strict=True):
        ax.stairs(own, edges, baseline=None, color=colour, lw=1.8)


def _draw_bars(ax: Any, cells: Cells, values: Matrix, colours: Sequence[str]) -> None:
    assert isinstance(cells.marginal, CategoryMarginal)
    shown = shown_categories(cells.marginal)
    _dodged_bars(ax, np.arange(float(len(shown))), values[shown], colours, 0.8)


def _dodged_bars(ax: Any, middles: Vector, values: Matrix, colours: Sequence[str], width: float) -> None:
    """At each place a bar for each score, beside each other."""
    each = width / len(colours)
    for k, colour in enumerate(colours):
        ax.bar(middles + (k + 0.5) * each - width / 2.0, values[:, k], each, color=colour)


def draw_rows(ax: Any, marginal: Marginal) -> None:
    """How many rows have which values."""
    if isinstance(marginal, NumberMarginal):
        ax.stairs(marginal.density(), marginal.grid, fill=True, color="0.75")
    else:
        shown = shown_categories(marginal)
        ax.bar(np.arange(len(shown)), marginal.counts[shown], 0.8, color="0.75")
    if marginal.missing:
        scale = scale_of(marginal)
        ax.bar(scale.middle, marginal.missing, float(np.ptp(scale.strip)), color="0.75")
    ax.set_yticks([])
    ax.set_ylabel("rows", fontsize=TICK_SIZE)
    ax.tick_params(labelsize=TICK_SIZE)
    ax.spines[["top", "right", "left"]].set_visible(False)


def name_axis(axis: Any, marginal: Marginal, feature: int, names: Names) -> None:
    """Numbers, or the names of categories, and a name for the strip of missing values."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    scale = scale_of(marginal)
    if isinstance(marginal, CategoryMarginal):
        shown = shown_categories(marginal)
        places = [float(place) for place in range(len(shown))]
        texts = [shortened(names.category(feature, k), NAME_LETTERS) for k in shown]
    else:
        places = [
            tick for tick in MaxNLocator(5, steps=TICK_STEPS).tick_values(*scale) if scale.low <= tick <= scale.high
        ]
        texts = [f"{tick:g}" for tick in places]
    if marginal.missing:
        places, texts = [*places, scale.middle], [*texts, MISSING]
    axis.set_major_locator(FixedLocator(places))
    axis.set_major_formatter(FixedFormatter(texts))
    is_crowded = sum(map(len, texts)) > 30 if isinstance(marginal, CategoryMarginal) else len(texts) > 5
    if axis.axis_name == "x" and is_crowded:
        axis.set_tick_params(labelrotation=90 if isinstance(marginal, CategoryMarginal) else 30)


def _left_out(marginal: Marginal) -> str:
    if isinstance(marginal, NumberMarginal) or len(marginal.counts) <= MOST_CATEGORIES:
        return ""
    return f" ({MOST_CATEGORIES} of {len(marginal.counts)})"


def draw_pair(ax: Any, effect: Effect, output: int, names: Names, largest: float) -> None:
    """The effect of two features on one score as a map; ``largest`` is the end of the colours."""
    first, second = effect.cells
    values = effect.values[:, :, output]
    rows, x = _laid_out(first)
    columns, y = _laid_out(second)
    drawn = np.full((len(rows), len(columns)), np.nan)
    known = np.ix_(rows >= 0, columns >= 0)
    drawn[known] = values[np.ix_(rows[rows >= 0], columns[columns >= 0])]
    mesh = ax.pcolormesh(x, y, drawn.T, cmap=MAP, vmin=-largest, vmax=largest)
    bar = ax.figure.colorbar(mesh, ax=ax, fraction=0.05, pad=0.02)
    bar.ax.tick_params(labelsize=TICK_SIZE)
    bar.outline.set_visible(False)
    for axis, cells in ((ax.xaxis, first), (ax.yaxis, second)):
        name_axis(axis, cells.marginal, cells.feature, names)
    ax.set_xlabel(shortened(names.features[first.feature], 3 * NAME_LETTERS), fontsize=FONT_SIZE)
    ax.set_ylabel(shortened(names.features[second.feature], 2 * NAME_LETTERS), fontsize=FONT_SIZE)
    ax.tick_params(labelsize=TICK_SIZE, length=2)
    ax.spines[:].set_visible(False)


def _laid_out(cells: Cells) -> tuple[Any, Vector]:
    """The cells in the order of drawing, -1 for the space before missing values, and the ends of each."""
    scale = scale_of(cells.marginal)
    if cells.cuts is not None:
        order, ends = np.arange(cells.n - 1), np.concatenate([[scale.low], cells.cuts, [scale.high]])
    else:
        assert isinstance(cells.marginal, CategoryMarginal)
        order = np.array(shown_categories(cells.marginal), dtype=np.intp)
        ends = np.arange(len(order) + 1) - 0.5
    if cells.has_missing:
        order, ends = np.concatenate([order, [-1, cells.n - 1]]), np.concatenate([ends, scale.strip])
    return order, ends


def draw_rows_of_pair(ax: Any, effect: Effect, features: Features) -> None:
    """Some rows as dots on a map, which is a guess where there are none."""
    first, second = (
        places_of(column_values(features, one.feature, slice(None))[:MOST_DOTS], one.marginal, seed)
        for seed, one in enumerate(effect.cells)
    )
    limits = ax.get_xlim(), ax.get_ylim()
    ax.scatter(first, second, DOT, color="black", alpha=0.35, linewidths=0)
    ax.set(xlim=limits[0], ylim=limits[1])


def places_of(column: Vector, marginal: Marginal, seed: int = 0) -> Vector:
    """Where rows are drawn: numbers where they are, categories and missing values near their middle; nan for tails."""
    apart = np.random.default_rng([JITTER_SEED, seed]).uniform(-JITTER, JITTER, len(column))
    scale = scale_of(marginal)
    places = np.where((column >= scale.low) & (column <= scale.high), column, np.nan)
    if isinstance(marginal, CategoryMarginal):
        place = np.full(len(marginal.counts) + 1, np.nan)
        shown = shown_categories(marginal)
        place[shown] = np.arange(len(shown))
        codes = np.where(np.isnan(column), -1, column)  # of truth values, also numbers that are none
        places = place[np.clip(codes, -1, len(marginal.counts)).astype(np.intp)] + apart
    return np.where(np.isnan(column), scale.middle + float(np.ptp(scale.strip)) * apart, places)
