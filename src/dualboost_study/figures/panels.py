"""What the figures share: a panel for each depth, the colours of the methods, one legend."""

from __future__ import annotations

from typing import Any

from ..protocol import METHODS

COLOURS = (
    *(f"C{k}" for k in range(10)),
    *("#aec7e8", "#ffbb78", "#98df8a", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2", "#333333", "#dbdb8d", "#9edae5"),
)
"""One colour for each method; the first ten are matplotlib's own."""

LEGEND_WIDTH = 1.5
"""The width of the legend in inches, enough for the longest name."""

Data = dict[str, Any]
Panels = dict[int, Any]


def panels_by_depth(data: Data, plt: Any) -> tuple[Any, Panels]:
    depths = data["depths"]
    figure, axes = plt.subplots(1, len(depths), figsize=(3.6 * len(depths), 3.4), layout="constrained", squeeze=False)
    panels = dict(zip(depths, axes[0], strict=True))
    for depth, ax in panels.items():
        ax.set_title(f"depth {depth}")
        ax.grid(alpha=0.3)
    return figure, panels


def panels_by_method(data: Data, methods: list[str], plt: Any) -> tuple[Any, dict[tuple[str, int], Any]]:
    """A figure with a row for each method and a column for each depth, and its panels."""
    depths = data["depths"]
    size = (3.2 * len(depths), 1.5 * len(methods))
    figure, axes = plt.subplots(len(methods), len(depths), figsize=size, layout="constrained", squeeze=False)
    panels = {(method, depth): axes[i][k] for i, method in enumerate(methods) for k, depth in enumerate(depths)}
    for (method, depth), ax in panels.items():
        ax.set_title(f"{METHODS[method].title}, depth {depth}", fontsize=8)
        ax.tick_params(labelsize=7)
    return figure, panels


def two_in_a_row(n: int, plt: Any, height: float = 2.7) -> tuple[Any, list[Any]]:
    """A figure with n panels, for a page of text."""
    rows = -(-n // 2)
    figure, axes = plt.subplots(rows, 2, figsize=(8, height * rows + 0.5), layout="constrained", squeeze=False)
    for ax in list(axes.flat)[n:]:
        ax.axis("off")
    return figure, list(axes.flat)[:n]


def style(method: str) -> dict[str, Any]:
    colour = COLOURS[list(METHODS).index(method) % len(COLOURS)]
    return {"color": colour, "label": METHODS[method].title}


def whole_numbers(axis: Any) -> None:
    """Ticks at whole numbers only: there is no half of a tree."""
    axis.get_major_locator().set_params(integer=True)


def with_legend(figure: Any, panels: Panels, x: str | None, y: str) -> Any:
    """One legend for all panels; ``x`` is the label of each, None if they have their own."""
    for ax in panels.values() if x is not None else ():
        ax.set_xlabel(x)
    next(iter(panels.values())).set_ylabel(y)
    handles: dict[str, Any] = {}
    for ax in panels.values():
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    columns = max(2, int(figure.get_figwidth() / LEGEND_WIDTH))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns, frameon=False, fontsize=8
    )
    return figure


def with_margins(data: Data) -> list[str]:
    """The methods that have weights and margins, which the trees of other libraries do not have."""
    return [*data["ours"], "adaboost"]
