"""Plots of effects and of SHAP values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Features, Integers, Matrix, Vector
from ..arguments import require_integer
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedModelError
from ..inspection.effects import MISSING, Cells, Effect, Effects, effects_of, is_additive
from ..inspection.mixin import explain_margins
from ..inspection.rules import Names, names_of, score_name
from ..models.fitted import FittedModel
from ..models.tree_sum import CategoryMarginal, Marginal, NumberMarginal, category_marginal, number_marginal
from ..trees.tree import column_values
from .axes import BLUE, COLOURS, POINTS_PER_INCH, as_label, finish, opacity, pyplot, require_fitted, shortened

MOST_CATEGORIES = 24
"""The most categories with a bar; categories with fewer rows are left out."""
NAME_LETTERS = 14
GAP, STRIP = 0.06, 0.08
"""The gap before the strip of missing values, and the width of the strip, as shares of the range."""
MAP = "RdBu_r"
JITTER = 0.3
"""The largest distance of a point from the middle of its category."""
JITTER_SEED = 709_281
"""An unusual seed: if the data come from the same random numbers, jitter looks like an effect."""
MOST_DOTS, DOT = 1000, 3.0
"""The most rows on a map, and the area of their dots."""
FONT_SIZE = 9
TICK_SIZE = 8
TICK_STEPS = (1, 2, 5, 10)
"""Without 2.5, so that ticks of counts are integers."""
N_COLUMNS = 3
PANEL_INCHES = (4.0, 3.1)
HEIGHTS = (4.0, 1.0)
"""The heights of a curve and of the distribution of rows below it."""


class Scale(NamedTuple):
    """The range of a feature on an axis; the strip of missing values is on its right."""

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
    """The codes with a bar, in increasing order."""
    most = np.argsort(-marginal.counts, kind="stable")[:MOST_CATEGORIES]
    return sorted(most.tolist())


def draw_single(ax: Any, below: Any, effect: Effect, names: Names, colours: Sequence[str]) -> None:
    """The effect of one feature, a curve or bars for each score, and below it the distribution of the rows."""
    (cells,) = effect.cells
    ax.axhline(0.0, color="0.6", lw=0.8)
    draw = _draw_steps if cells.cuts is not None else _draw_bars
    draw(ax, cells, effect.values, colours)
    if cells.has_missing:
        middle, width = scale_of(cells.marginal).middle, np.ptp(scale_of(cells.marginal).strip)
        _dodged_bars(ax, np.array([middle]), effect.values[-1:], colours, width)
    draw_frame(ax, below, cells.marginal, cells.feature, names)


def draw_frame(ax: Any, below: Any, marginal: Marginal, feature: int, names: Names) -> None:
    """The title of a panel, the distribution of the rows, and the names on the axes."""
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
    categories = shown_categories(cells.marginal)
    _dodged_bars(ax, np.arange(float(len(categories))), values[categories], colours, 0.8)


def _dodged_bars(ax: Any, middles: Vector, values: Matrix, colours: Sequence[str], width: float) -> None:
    each = width / len(colours)
    for k, colour in enumerate(colours):
        ax.bar(middles + (k + 0.5) * each - width / 2.0, values[:, k], each, color=colour)


def draw_rows(ax: Any, marginal: Marginal) -> None:
    """The distribution of the rows."""
    if isinstance(marginal, NumberMarginal):
        ax.stairs(marginal.density(), marginal.grid, fill=True, color="0.75")
    else:
        categories = shown_categories(marginal)
        ax.bar(np.arange(len(categories)), marginal.counts[categories], 0.8, color="0.75")
    if marginal.missing:
        scale = scale_of(marginal)
        ax.bar(scale.middle, marginal.missing, float(np.ptp(scale.strip)), color="0.75")
    ax.set_yticks([])
    ax.set_ylabel("rows", fontsize=TICK_SIZE)
    ax.tick_params(labelsize=TICK_SIZE)
    ax.spines[["top", "right", "left"]].set_visible(False)


def name_axis(axis: Any, marginal: Marginal, feature: int, names: Names) -> None:
    """The ticks of an axis: numbers or the names of categories, and a name for the strip of missing values."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    scale = scale_of(marginal)
    if isinstance(marginal, CategoryMarginal):
        categories = shown_categories(marginal)
        places = [float(place) for place in range(len(categories))]
        texts = [shortened(names.category(feature, k), NAME_LETTERS) for k in categories]
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
    """The effect of two features on one score as a map; ``largest`` is the end of the colour scale."""
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
    """The cells from left to right, with -1 for the gap before missing values, and their ends."""
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
    """Some rows as dots on a map: without rows nearby, its values are extrapolations."""
    first, second = (
        places_of(column_values(features, one.feature, slice(None))[:MOST_DOTS], one.marginal, seed)
        for seed, one in enumerate(effect.cells)
    )
    limits = ax.get_xlim(), ax.get_ylim()
    ax.scatter(first, second, DOT, color="black", alpha=0.35, linewidths=0)
    ax.set(xlim=limits[0], ylim=limits[1])


def places_of(column: Vector, marginal: Marginal, seed: int = 0) -> Vector:
    """The positions of rows on an axis: categories and missing values near their middle, nan beyond the range."""
    apart = np.random.default_rng([JITTER_SEED, seed]).uniform(-JITTER, JITTER, len(column))
    scale = scale_of(marginal)
    places = np.where((column >= scale.low) & (column <= scale.high), column, np.nan)
    if isinstance(marginal, CategoryMarginal):
        place = np.full(len(marginal.counts) + 1, np.nan)
        categories = shown_categories(marginal)
        place[categories] = np.arange(len(categories))
        codes = np.where(np.isnan(column), -1, column)  # a column of truth values may hold other numbers
        places = place[np.clip(codes, -1, len(marginal.counts)).astype(np.intp)] + apart
    return np.where(np.isnan(column), scale.middle + float(np.ptp(scale.strip)) * apart, places)


def plot_effects(clf: Any, X: Any = None, *, most: int = 9, ax: Any = None) -> Any:
    """The effect of each feature on the score, the strongest first, with the distribution of the rows below it.

    The method ``effects`` defines them, centred over the rows of X, or if X is None over the training rows: an ensemble
    of stumps is the sum of the intercept and these curves. Numbers have steps; categories, booleans and missing values
    have bars. Trees of depth 2 also have effects of pairs, as maps, in which dots are rows of X. Curves share one
    scale, and so do maps; a curve is constant beyond its ends. Of several classes or quantiles each has a curve (of
    more than six the six with the strongest effects), and a map is of the class with the strongest effect.

    Where trees test three features or more on the way to a leaf, there is no such sum: then SHAP values of the rows of
    X are drawn against each feature, the features with the largest first.

    At most ``most`` panels are drawn. ``ax`` is a subplot that is replaced by the panels; their axes are returned.
    """
    require_fitted(clf, "weights_", "plot_effects", "DualBoostClassifier or DualBoostRegressor")
    most = require_integer("most", most, least=1)
    model, features = clf.fitted_, None if X is None else clf._features(X)
    if is_additive(model):
        return _plot_sum(model, features, most, ax)
    if features is None:
        raise InvalidDataError(
            "plot_effects needs X for trees that test three features or more on the way to a leaf: it draws the SHAP "
            "values of its rows. Pass X, or fit with max_depth=2 or 1."
        )
    return _plot_shap(model, features, most, ax)


def _plot_sum(model: FittedModel, features: Features | None, most: int, ax: Any) -> Any:
    found = effects_of(model, features).drawn()
    effects = _shown(found, most)
    if not effects:
        raise UnsupportedModelError("plot_effects: the model has no split, so that every row has the same score.")
    outputs = _outputs(effects, found.names)
    panels = _panels(ax, [not effect.is_pair for effect in effects])
    largest = max((float(np.abs(effect.values).max()) for effect in effects if effect.is_pair), default=0.0) or 1.0
    for effect, axes in zip(effects, panels, strict=True):
        if effect.is_pair:
            strongest = int(effect.mean_squares.argmax())
            draw_pair(axes[0], effect, strongest, found.names, largest)
            if features is not None:
                draw_rows_of_pair(axes[0], effect, features)
            of = f": {as_label(found.names.classes[strongest])}" if len(found.intercept) > 1 else ""
            axes[0].set_title(f"both together{of}", fontsize=FONT_SIZE + 1)
        else:
            own = Effect(effect.cells, effect.values[..., outputs])
            draw_single(axes[0], axes[1], own, found.names, _colours(outputs))
    _share_scale([axes[0] for effect, axes in zip(effects, panels, strict=True) if not effect.is_pair])
    return _finished(panels, f"effect on {score_name(model)}", found.names, outputs, ax)


def _shown(found: Effects, most: int) -> list[Effect]:
    """The strongest effects; a third of the panels is for pairs, if there are so many."""
    pairs = found.pairs[: max(most // 3, most - len(found.singles))]
    return [*found.singles[: most - len(pairs)], *pairs]


def _outputs(effects: Sequence[Effect], names: Names) -> Integers:
    total = np.sum([effect.mean_squares for effect in effects], axis=0)
    return np.sort(np.argsort(-total, kind="stable")[: len(COLOURS)])


def _colours(outputs: Integers) -> Sequence[str]:
    return COLOURS[: len(outputs)] if len(outputs) > 1 else [BLUE]


def _panels(ax: Any, have_rows_below: Sequence[bool]) -> list[list[Any]]:
    """The axes of each panel: the effect, and of one feature the distribution of rows below it."""
    plt = pyplot("plot_effects")
    n = len(have_rows_below)
    n_columns = min(N_COLUMNS, n)
    n_lines = -(-n // n_columns)
    if ax is None:
        size = (PANEL_INCHES[0] * n_columns, PANEL_INCHES[1] * n_lines)
        figure = plt.figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(n_lines, n_columns)
    else:
        if not hasattr(ax, "get_subplotspec") or ax.get_subplotspec() is None:
            raise InvalidParameterError(f"ax={ax!r} must be one subplot, for example plt.subplots()[1].")
        ax.set_axis_off()
        figure, grid = ax.figure, ax.get_subplotspec().subgridspec(n_lines, n_columns)
    panels = []
    for place, has_rows in enumerate(have_rows_below):
        cell = grid[divmod(place, n_columns)]
        if has_rows:
            panels.append(list(cell.subgridspec(2, 1, height_ratios=HEIGHTS, hspace=0.05).subplots()))
        else:
            panels.append([figure.add_subplot(cell)])
    return panels


def _share_scale(axes: Sequence[Any]) -> None:
    if not axes:
        return
    limits = np.array([ax.get_ylim() for ax in axes])
    for ax in axes:
        ax.set_ylim(limits[:, 0].min(), limits[:, 1].max())


def _finished(panels: Sequence[Sequence[Any]], label: str, names: Names, outputs: Integers, ax: Any) -> Any:
    from matplotlib.lines import Line2D

    figure, first = panels[0][0].figure, panels[0][0]
    if ax is None:
        figure.supylabel(as_label(label), fontsize=FONT_SIZE + 1)
    else:
        first.set_ylabel(as_label(label), fontsize=FONT_SIZE)
    if len(outputs) > 1:
        lines = [Line2D([], [], color=colour, lw=2) for colour in _colours(outputs)]
        texts = [as_label(names.classes[k]) for k in outputs.tolist()]
        if len(outputs) < len(names.classes):
            texts[-1] += f" ({len(outputs)} of {len(names.classes)})"
        figure.legend(lines, texts, loc="outside upper center", ncols=len(lines), frameon=False)
    return np.array([axes[0] for axes in panels], dtype=object)


def _plot_shap(model: FittedModel, features: Features, most: int, ax: Any) -> Any:
    explained, names = explain_margins(model, features), names_of(model)
    importances = explained.importances()
    strongest = [k for k in np.argsort(-importances, kind="stable")[:most].tolist() if importances[k] > 0]
    values = np.asarray(explained.values).reshape(features.shape[0], len(names.features), -1)
    outputs = np.sort(np.argsort(-np.abs(values).mean(axis=(0, 1)), kind="stable")[: len(COLOURS)])
    panels = _panels(ax, [True] * len(strongest))
    for k, (upper, below) in zip(strongest, panels, strict=True):
        _draw_points(upper, below, model, features, k, values[:, k][:, outputs], names, _colours(outputs))
    _share_scale([axes[0] for axes in panels])
    return _finished(panels, f"SHAP value of {score_name(model)}", names, outputs, ax)


def _marginal(column: Vector, feature: int, names: Names) -> Marginal:
    """The distribution of the rows over a feature; truth values are two categories."""
    counts, known = np.ones(len(column)), names.categories.get(feature)
    are_truths = feature in names.truths and bool(np.isin(column[~np.isnan(column)], (0.0, 1.0)).all())
    if known is None and not are_truths:
        return number_marginal(column, counts, np.zeros(0))
    return category_marginal(column, counts, 2 if known is None else len(known))


def _draw_points(
    ax: Any,
    below: Any,
    model: FittedModel,
    features: Features,
    feature: int,
    values: Matrix,
    names: Names,
    colours: Sequence[str],
) -> None:
    column = np.asarray(column_values(features, feature, slice(None)), dtype=float)
    marginal = _marginal(column, feature, names)
    places = places_of(column, marginal)
    ax.axhline(0.0, color="0.6", lw=0.8)
    for own, colour in zip(values.T, colours, strict=True):
        ax.scatter(places, own, (0.05 * POINTS_PER_INCH) ** 2, color=colour, alpha=opacity(len(column)), linewidths=0)
    draw_frame(ax, below, marginal, feature, names)
