"""A summary of a fit for notebooks: a line of text, two plots as inline SVG in the colours of the page, and effects."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from .._typing import Vector
from .html_effects import effects_html
from .names import number
from .scores import held_out_name, training_name

WIDTH = 220
"""The width of a plot in pixels."""
HEIGHT = 56
"""The height of a plot in pixels."""
EDGE = 4
"""The distance of the curves from the edge of a plot, in pixels."""
BLUE = "#3b8fd0"
"""The colour of the first curve; it can be seen on white and on near-black."""
ORANGE = "#d9822b"
"""The colour of the second curve, which the colour-blind can tell from the first."""


def fitted_html(clf: Any) -> str:
    """The summary below scikit-learn's diagram; empty before the fit, or if it cannot be made."""
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
    training, validation = {"training": history["train_accuracy"]}, {"validation": history["validation_score"]}
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
    """A small plot of curves over the iterations, with their last values in the caption; empty without numbers."""
    shown = {name: values for name, values in series.items() if np.isfinite(values).any()}
    if not shown:
        return ""
    known = np.concatenate([values[np.isfinite(values)] for values in shown.values()])
    low, high = float(known.min()), float(known.max())
    colours = dict(zip(shown, (BLUE, ORANGE), strict=False))
    lines = "".join(_polyline(values, low, high, colours[name]) for name, values in shown.items())
    keys = ", ".join(
        f'<span style="color:{colours[name]}">{escape(name)} {_last(values)}</span>' for name, values in shown.items()
    )
    n_iterations = len(next(iter(shown.values())))
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
