"""What all plots share: matplotlib when it is needed, axes, and colours that the colour-blind tell apart."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..errors import MissingDependencyError, UnfittedModelError, UnsupportedModelError

BLUE, ORANGE, GREEN, PINK, SKY, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
COLOURS = (BLUE, RED, GREEN, PINK, ORANGE, SKY)
"""Okabe and Ito's palette."""
DASHES = ("-", "--", "-.", ":")


def pyplot(function: str) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingDependencyError(f"{function} needs matplotlib: pip install 'dualboost[plot]'.") from error
    return plt


def axes_for(ax: Any, function: str, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The axes given, or new ones."""
    plt = pyplot(function)
    return ax if ax is not None else plt.subplots(figsize=size, layout="constrained")[1]


def require_fitted(model: Any, attribute: str, function: str, kind: str = "DualBoostClassifier") -> None:
    """A clear error unless the model is one of ours that has what is drawn."""
    if hasattr(model, attribute):
        return
    try:
        check_is_fitted(model)
    except Exception as error:
        raise UnfittedModelError(f"{function} needs a fitted {kind}: call fit of {model!r} first.") from error
    raise UnsupportedModelError(f"{function} needs a fitted {kind}, not a {type(model).__name__}.")


def finish(ax: Any, **settings: Any) -> Any:
    """Labels and a light grid, without the upper and right frame."""
    ax.set(**settings)
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
