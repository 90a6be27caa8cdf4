"""What all plots share: the import of matplotlib, axes, and colours that the colour-blind can tell apart."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..arguments import how_to_install
from ..errors import MissingDependencyError, UnfittedModelError, UnsupportedModelError
from ..escaping import printable

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
PINK = "#CC79A7"
SKY = "#56B4E9"
RED = "#D55E00"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
"""Okabe and Ito's palette, which the colour-blind can tell apart, in the order in which curves use it."""
DASHES = ("-", "--", "-.", ":")
POINTS_PER_INCH = 72.0


def pyplot(function: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(f"{function} needs matplotlib: {how_to_install('matplotlib')}.") from error
    return plt


def axes_for(ax: Any, function: str, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes given, or new ones."""
    plt = pyplot(function)
    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def require_fitted(model: Any, attribute: str, function: str, kind: str = "DualBoostClassifier") -> None:
    """Raise an error unless the model has the attribute that is drawn."""
    if hasattr(model, attribute):
        return
    try:
        check_is_fitted(model)
    except Exception as error:
        raise UnfittedModelError(f"{function} needs a fitted {kind}: call fit of {model!r} first.") from error
    raise UnsupportedModelError(f"{function} needs a fitted {kind}, not a {type(model).__name__}.")


def finish(ax: Any, **settings: Any) -> Any:
    """Apply the settings, such as labels, and a light grid, and remove the upper and right frame."""
    ax.set(**settings)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def legend_above(ax: Any) -> Any:
    """A legend in one line above the axes, where it covers nothing."""
    handles, labels = ax.get_legend_handles_labels()
    return ax.legend(
        handles, labels, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=max(len(labels), 1), frameon=False,
        borderaxespad=0.0, borderpad=0.1, fontsize="small", markerscale=0.6,
    )  # fmt: skip


def shortened(text: str, letters: int) -> str:
    """The text as a label, of which no more than so many letters are shown."""
    return as_label(text if len(text) <= letters else text[: letters - 1].rstrip() + "…")


def as_label(text: str) -> str:
    """The text as matplotlib draws it letter by letter: between dollar signs would be mathematics."""
    return printable(text, kept="\n").replace("$", r"\$")
