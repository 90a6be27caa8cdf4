"""Plots an ensemble as what it is where trees are small: a sum of functions of one feature, or of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import Features, Integers, Matrix, Vector
from ..arguments import require_integer
from ..errors import InvalidDataError, InvalidParameterError, UnsupportedModelError
from ..inspection.effects import Effect, Effects, effects_of, is_additive
from ..inspection.explain import explain_margins
from ..inspection.names import Names, names_of
from ..inspection.scores import score_name
from ..models.fitted import FittedModel
from ..models.marginals import Marginal, category_marginal, number_marginal
from ..trees.tree import column_values
from .axes import BLUE, COLOURS, POINTS_PER_INCH, as_label, pyplot, require_fitted
from .effect_panels import FONT_SIZE, draw_frame, draw_pair, draw_rows_of_pair, draw_single, places_of

N_COLUMNS = 3
PANEL_INCHES = (4.0, 3.1)
HEIGHTS = (4.0, 1.0)
"""How high a curve is, and the rows below it."""
OPAQUE = 200
"""With more points than this, they are drawn more transparently."""


def plot_effects(clf: Any, X: Any = None, *, most: int = 9, ax: Any = None) -> Any:
    """The effect of each feature on the score, the strongest first, with the distribution of the rows below it.

    Effects are those of ``effects``, centred over the rows of X, or if X is None over the training rows: an ensemble of
    stumps is the intercept and these curves, added up. Steps are drawn as steps; categories, booleans and missing
    values have bars of their own. Trees of depth 2 also have effects of pairs, as maps, in which dots are rows of X.
    Curves share one scale, and so do maps; a curve is constant beyond its ends. Of several classes or quantiles each
    has a curve (of more than six those with the strongest effects), and a map is that of the class with the strongest
    effect.

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
    shown = _shown(found, most)
    if not shown:
        raise UnsupportedModelError("plot_effects: the model has no split, so that every row has the same score.")
    outputs = _outputs(shown, found.names)
    panels = _panels(ax, [not effect.is_pair for effect in shown])
    largest = max((float(np.abs(effect.values).max()) for effect in shown if effect.is_pair), default=0.0) or 1.0
    for effect, axes in zip(shown, panels, strict=True):
        if effect.is_pair:
            strongest = int(np.argmax((effect.shares[..., None] * effect.values**2).sum(axis=(0, 1))))
            draw_pair(axes[0], effect, strongest, found.names, largest)
            if features is not None:
                draw_rows_of_pair(axes[0], effect, features)
            of = f": {as_label(found.names.classes[strongest])}" if len(found.intercept) > 1 else ""
            axes[0].set_title(f"both together{of}", fontsize=FONT_SIZE + 1)
        else:
            draw_single(axes[0], axes[1], _of_outputs(effect, outputs), found.names, _colours(outputs))
    _share_scale([axes[0] for effect, axes in zip(shown, panels, strict=True) if not effect.is_pair])
    return _finished(panels, f"effect on {score_name(model)}", found.names, outputs, ax)


def _shown(found: Effects, most: int) -> list[Effect]:
    """The strongest effects; a third of the panels is for pairs, if there are so many."""
    pairs = found.pairs[: max(most // 3, most - len(found.singles))]
    return [*found.singles[: most - len(pairs)], *pairs]


def _outputs(effects: Sequence[Effect], names: Names) -> Integers:
    """The scores that are drawn: all, or those with the strongest effects."""
    n_outputs = effects[0].values.shape[-1]
    total = sum((effect.shares[..., None] * effect.values**2).reshape(-1, n_outputs).sum(axis=0) for effect in effects)
    return np.sort(np.argsort(-np.asarray(total), kind="stable")[: len(COLOURS)])


def _of_outputs(effect: Effect, outputs: Integers) -> Effect:
    return Effect(effect.cells, effect.values[..., outputs])


def _colours(outputs: Integers) -> Sequence[str]:
    return COLOURS[: len(outputs)] if len(outputs) > 1 else [BLUE]


def _panels(ax: Any, have_rows_below: Sequence[bool]) -> list[list[Any]]:
    """The axes of each panel: the picture, and the rows below it if there are such."""
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
    """Say what is drawn, and which curve is which."""
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
    shown = [k for k in np.argsort(-importances, kind="stable")[:most].tolist() if importances[k] > 0]
    values = np.asarray(explained.values).reshape(features.shape[0], len(names.features), -1)
    outputs = np.sort(np.argsort(-np.abs(values).mean(axis=(0, 1)), kind="stable")[: len(COLOURS)])
    panels = _panels(ax, [True] * len(shown))
    for k, (upper, below) in zip(shown, panels, strict=True):
        _draw_points(upper, below, model, features, k, values[:, k][:, outputs], names, _colours(outputs))
    _share_scale([axes[0] for axes in panels])
    return _finished(panels, f"SHAP value of {score_name(model)}", names, outputs, ax)


def _marginal(column: Vector, feature: int, names: Names) -> Marginal:
    """How the rows are distributed over a feature; truth values are two categories."""
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
    """The SHAP values of one feature in each row."""
    column = np.asarray(column_values(features, feature, slice(None)), dtype=float)
    marginal = _marginal(column, feature, names)
    places = places_of(column, marginal)
    ax.axhline(0.0, color="0.6", lw=0.8)
    opacity = max(0.08, min(0.7, 0.7 * (OPAQUE / max(len(column), 1)) ** 0.5))
    for own, colour in zip(values.T, colours, strict=True):
        ax.scatter(places, own, (0.05 * POINTS_PER_INCH) ** 2, color=colour, alpha=opacity, linewidths=0)
    draw_frame(ax, below, marginal, feature, names)
