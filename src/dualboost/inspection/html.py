"""The summary of a fit in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._typing import Vector
from ..models.fitted import FittedModel
from ..models.tree_sum import NumberMarginal
from .effects import Cells, Effect, Effects, effects_of, is_additive
from .rules import Names, held_out_name, names_of, number, score_name, training_name

WIDTH = 220
"""The width of all plots, in pixels as all lengths here."""
HEIGHT, EDGE = 56, 4
"""The height of a plot of the history, and the distance of its curves from the edge."""
EFFECT_HEIGHT, EFFECT_EDGE, GAP, STRIP = 60, 2, 4, 14
"""The height of an effect, the distance of its curves from the edge, and below a gap and the distribution of rows."""
MISSING_WIDTH = 14
"""The width of the bar of missing values."""
TIMES = " \N{MULTIPLICATION SIGN} "
MOST_SINGLES, MOST_PAIRS, MOST_BARS = 6, 2, 8
COLOURS = ("#3b8fd0", "#d9822b", "#2a9d6f", "#c56aa5", "#b8a02b", "#8a7fd0")
"""Colours that are visible on white and on near-black; the colour-blind can distinguish the first two."""


def effects_html(model: FittedModel) -> str:
    """The strongest effects; of deep trees, bars of the importances; empty if the distribution of rows is unknown."""
    if not is_additive(model):
        return _importances(model.feature_importances, names_of(model))
    if model.marginals is None:
        return ""
    found = effects_of(model, None).drawn()
    singles, pairs = found.singles[:MOST_SINGLES], found.pairs[:MOST_PAIRS]
    if not singles:
        return ""
    low, high = (float(end([end(effect.values) for effect in singles], initial=0.0)) for end in (np.min, np.max))
    scale = Scale(high, (EFFECT_HEIGHT - 2 * EFFECT_EDGE) / ((high - low) or 1.0))
    pictures = [_single(effect, found.names, scale) for effect in singles]
    pictures += [_pair(effect, found.names) for effect in pairs]
    return _framed(f"effects on {escape(score_name(model))}{_keys(found)}", pictures)


class Scale(NamedTuple):
    """The vertical scale, which all effects share."""

    high: float
    per_unit: float

    def y(self, values: Vector | float) -> Any:
        return EFFECT_EDGE + self.per_unit * (self.high - values)


def _framed(title: str, pictures: list[str]) -> str:
    return (
        f'<div style="margin-top:.5em">{title}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.4em 1.6em">{"".join(pictures)}</div>'
    )


def _keys(found: Effects) -> str:
    if len(found.intercept) == 1:
        return ""
    named = zip(found.names.classes, COLOURS, strict=False)
    return ": " + ", ".join(f'<span style="color:{colour}">{escape(name)}</span>' for name, colour in named)


def _picture(title: str, content: str, captions: Sequence[str], height: int) -> str:
    return (
        f'<div style="width:{WIDTH}px"><div>{escape(title)}</div>'
        f'<svg width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="effect of {escape(title)}">{content}</svg>'
        f'<div style="opacity:.65">{"<br/>".join(map(escape, captions))}</div></div>'
    )


def _single(effect: Effect, names: Names, scale: Scale) -> str:
    (cells,) = effect.cells
    ends, zero = _ends(cells), scale.y(0.0)
    content = f'<path d="M0 {zero:.1f}H{WIDTH}" stroke="currentColor" opacity=".3"/>'
    for own, colour in zip(effect.values.T, COLOURS, strict=False):
        heights = scale.y(own)
        if cells.cuts is not None:
            content += _steps(ends, heights[:-1], colour)
        else:
            content += "".join(_bar(ends[k], ends[k + 1], heights[k], zero, colour) for k in range(cells.n - 1))
        if cells.has_missing:
            content += _bar(WIDTH - MISSING_WIDTH, WIDTH, heights[-1], zero, colour)
    content += _rows(cells, ends)
    values = effect.values[cells.shares > 0]
    captions = [_span(cells, names), f"effect {values.min():+.3g} to {values.max():+.3g}"]
    return _picture(names.features[cells.feature], content, captions, EFFECT_HEIGHT + GAP + STRIP)


def _span(cells: Cells, names: Names) -> str:
    missing = ", missing" if cells.has_missing else ""
    if isinstance(cells.marginal, NumberMarginal):
        low, high = (number(float(f"{end:.3g}")) for end in (cells.marginal.grid[0], cells.marginal.grid[-1]))
        return f"{low} to {high}{missing}"
    texts = cells.texts(names)[:-1]
    few_texts = texts if len(texts) <= 3 else [texts[0], "…", texts[-1]]
    return ", ".join(text[:12] for text in few_texts) + missing


def _ends(cells: Cells) -> Vector:
    width = WIDTH - (MISSING_WIDTH + GAP if cells.has_missing else 0)
    if not isinstance(cells.marginal, NumberMarginal):
        return np.linspace(0.0, width, cells.n)
    assert cells.cuts is not None
    low, high = cells.marginal.grid[0], cells.marginal.grid[-1]
    return np.concatenate([[0.0], width * (cells.cuts - low) / (high - low), [width]])


def _steps(ends: Vector, heights: Vector, colour: str) -> str:
    path = f"M{ends[0]:.1f} {heights[0]:.1f}" + "".join(
        f"H{end:.1f}V{height:.1f}" for end, height in zip(ends[1:-1], heights[1:], strict=True)
    )
    return f'<path d="{path}H{ends[-1]:.1f}" fill="none" stroke="{colour}" stroke-width="1.6"/>'


def _bar(left: float, right: float, height: float, zero: float, colour: str) -> str:
    top, bottom = sorted((height, zero))
    return (
        f'<rect x="{left + 0.5:.1f}" y="{top:.1f}" width="{max(right - left - 1, 0.5):.1f}" '
        f'height="{max(bottom - top, 0.8):.1f}" fill="{colour}" opacity=".8"/>'
    )


def _rows(cells: Cells, ends: Vector) -> str:
    if isinstance(cells.marginal, NumberMarginal):
        counts = cells.marginal.density()
        sides = np.linspace(0.0, ends[-1], len(counts) + 1)
    else:
        counts, sides = cells.counts[:-1], ends
    heights = STRIP * counts / (counts.max() or 1.0)
    bottom = EFFECT_HEIGHT + GAP + STRIP
    drawn = "".join(
        f"M{left:.1f} {bottom}V{bottom - height:.1f}H{right:.1f}V{bottom}"
        for left, right, height in zip(sides, sides[1:], heights, strict=False)
        if height > 0
    )
    return f'<path d="{drawn}" fill="currentColor" opacity=".35"/>'


def _pair(effect: Effect, names: Names) -> str:
    """A map of the strongest score: blue where the effect is positive, orange where it is negative."""
    first, second = effect.cells
    strongest = int(effect.mean_squares.argmax())
    values = effect.values[:, :, strongest]
    largest = float(np.abs(values).max()) or 1.0
    x, y, height = _sides(first, WIDTH), _sides(second, EFFECT_HEIGHT + STRIP), EFFECT_HEIGHT + GAP + STRIP
    content = ""
    for i, j in np.ndindex(len(x), len(y)):
        (left, right), (low, high), value = x[i], y[j], values[i, j] / largest
        content += (
            f'<rect x="{left:.1f}" y="{height - high:.1f}" width="{right - left:.1f}" height="{high - low:.1f}" '
            f'fill="{COLOURS[0] if value > 0 else COLOURS[1]}" opacity="{abs(value):.2f}"/>'
        )
    of = f" ({names.classes[strongest]})" if effect.values.shape[-1] > 1 else ""
    title = TIMES.join(names.features[one.feature] for one in effect.cells)
    caption = f"together{of} {values.min():+.3g} (orange) to {values.max():+.3g} (blue)"
    return _picture(title, content, [caption], height)


def _sides(cells: Cells, length: float) -> list[tuple[float, float]]:
    """The sides of each cell; the cell of missing values, if there are any, comes last."""
    ends = _ends(cells) * (length / WIDTH)
    sides = list(pairwise(ends))
    return [*sides, (length * (1.0 - MISSING_WIDTH / WIDTH), length)] if cells.has_missing else sides


def _importances(importances: Vector, names: Names) -> str:
    strongest = [k for k in np.argsort(-importances, kind="stable")[:MOST_BARS].tolist() if importances[k] > 0]
    if not strongest:
        return ""
    per_share = WIDTH / (2.0 * importances[strongest[0]])
    bars = "".join(
        f'<div style="display:flex;gap:.6em"><div style="width:{per_share * importances[k]:.0f}px;'
        f'background:{COLOURS[0]}"></div><span>{escape(names.features[k])} {importances[k]:.0%}</span></div>'
        for k in strongest
    )
    return _framed("importance of features (share of all gain); effects: plot_effects(clf, X)", [f"<div>{bars}</div>"])


def fitted_html(clf: Any) -> str:
    """The summary below scikit-learn's diagram; empty before the fit, and after an error."""
    try:
        return _summary(clf) if hasattr(clf, "weights_") else ""
    except Exception:  # an error here must not keep a notebook from showing the estimator
        return ""


def _summary(clf: Any) -> str:
    figures = {
        "trees used": f"{clf.n_trees_} of {clf.n_generated_}",
        "leaves": f"{clf.n_leaves_}",
        "objective": f"{number(clf.objective_)} ({clf.formulation_.name}, C = {clf.formulation_.C:.4g})",
        "gap": f"{clf.gap_:.1e}",
        "stopped": str(clf.stop_reason_),
    }
    cells = "".join(
        f'<div><span style="opacity:.65">{escape(name)}</span> {escape(value)}</div>' for name, value in figures.items()
    )
    history, own, name = clf.history_, training_name(clf), held_out_name(clf)
    training, validation = {"training": history["train_score"]}, {"validation": history["validation_score"]}
    curves = _curves("objective", {"": history["objective"]})
    if name == own:
        curves += _curves(name, training | validation)
    else:
        curves += _curves(own, training) + _curves(name, validation)
    return (
        '<div class="dualboost-fit" style="font:13px sans-serif;color:inherit;margin:.5em 0">'
        f'<div style="display:flex;flex-wrap:wrap;gap:.2em 1.6em">{cells}</div>'
        f'<div style="display:flex;flex-wrap:wrap;gap:.2em 1.6em;margin-top:.5em">{curves}</div>'
        f"{effects_html(clf.fitted_)}</div>"
    )


def _curves(title: str, series: dict[str, Vector]) -> str:
    """A plot of curves over the iterations, with their last values in the caption; empty without finite values."""
    curves = {name: values for name, values in series.items() if np.isfinite(values).any()}
    if not curves:
        return ""
    known = np.concatenate([values[np.isfinite(values)] for values in curves.values()])
    low, high = float(known.min()), float(known.max())
    colours = dict(zip(curves, COLOURS, strict=False))
    lines = "".join(_polyline(values, low, high, colours[name]) for name, values in curves.items())
    keys = ", ".join(
        f'<span style="color:{colours[name]}">{escape(name)} {_last(values)}</span>' for name, values in curves.items()
    )
    n_iterations = len(next(iter(curves.values())))
    return (
        f"<div><div>{escape(title)}: {keys}</div>"
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)} over {n_iterations} iterations">'
        f'<path d="M.5 0V{HEIGHT - 0.5}H{WIDTH}" fill="none" stroke="currentColor" opacity=".4"/>{lines}</svg>'
        f'<div style="opacity:.65">{low:.4g} to {high:.4g}, iterations 1 to {n_iterations}</div></div>'
    )


def _polyline(values: Vector, low: float, high: float, colour: str) -> str:
    at = np.flatnonzero(np.isfinite(values))
    x = EDGE + (WIDTH - 2 * EDGE) * at / max(len(values) - 1, 1)
    y = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (values[at] - low) / (high - low if high > low else 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    drawn = f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6" stroke-linejoin="round"/>'
    return drawn + f'<circle cx="{x[-1]:.1f}" cy="{y[-1]:.1f}" r="2.4" fill="{colour}"/>'


def _last(values: Vector) -> str:
    return f"{values[np.isfinite(values)][-1]:.4g}"
