"""Plots prediction intervals against what is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedModelError
from ..inspection.names import number
from ..tasks import Numbers
from .axes import BLUE, RED, SKY, axes_for, finish, require_fitted

MOST_ROWS = 150
"""With more rows than this, so many of them are drawn, evenly spaced in the order of their predictions."""


def plot_intervals(reg: Any, X: Any, y: Any, *, coverage: float | None = None, ax: Any = None) -> Any:
    """The interval of each row with its prediction, in the order of the predictions, and what is true.

    Of many rows some are drawn. True numbers outside of their interval are red. The title has the share of rows that
    intervals cover and their mean width, over all rows. ``coverage`` chooses among the intervals of a regressor with
    several.
    """
    require_fitted(reg, "predict_interval", "plot_intervals", "DualBoostRegressor")
    require_fitted(reg, "n_features_in_", "plot_intervals", "DualBoostRegressor")
    low, high = reg.predict_interval(X, coverage).T
    if not len(low):
        raise UnsupportedModelError("plot_intervals needs a row to draw, and X has none.")
    true, predicted = Numbers(0.0, 1.0).encode(Numbers.plain(y), len(low)), reg.predict(X)
    is_inside = (low <= true) & (true <= high)
    ax = axes_for(ax, "plot_intervals")
    shown = np.argsort(predicted, kind="stable")
    shown = shown[np.unique(np.linspace(0, len(shown) - 1, MOST_ROWS).round().astype(int))]
    place = np.arange(len(shown))
    ax.vlines(place, low[shown], high[shown], color=SKY, lw=min(3.0, 400.0 / len(shown)), alpha=0.6, label="interval")
    ax.plot(place, predicted[shown], color="0.25", lw=1.0, label="predicted")
    for inside, colour, label in ((True, BLUE, "true, inside"), (False, RED, "true, outside")):
        chosen = is_inside[shown] == inside
        ax.scatter(place[chosen], true[shown][chosen], 14, color=colour, linewidths=0, zorder=3, label=label)
    ax.legend(frameon=False, ncols=2, fontsize="small")
    title = (
        f"covers {is_inside.mean():.1%} of {len(true)} rows, mean width {number(float(f'{np.mean(high - low):.3g}'))}"
    )
    some = f"{len(shown)} of these" if len(shown) < len(true) else "rows"
    return finish(ax, xlabel=f"{some}, by what is predicted", ylabel="y", title=title, xticks=[])
