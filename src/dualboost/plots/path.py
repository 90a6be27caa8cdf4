"""Plots the ensembles that were compared to choose C."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection.scores import held_out_name
from .axes import RED, axes_for, finish, legend_above, require_fitted

LOGARITHMIC_FROM = 10.0
"""If the largest C is at least this many times the smallest, colours depend on the logarithm of C."""
ONE_TREE = 1.0
"""If numbers of trees differ by less than this, scores are drawn against C."""


def plot_path(cv: Any, *, ax: Any = None) -> Any:
    """Score on held-out rows against trees, both means over the folds: a point for each C, the chosen one ringed.

    Bars are one standard error of the score to either side. Where fewer trees were tried as well, there is a point for
    each C and number of trees, and a line for each C. Where every C uses as many trees, scores are drawn against C.
    ``cv`` is a fitted ``DualBoostClassifierCV`` or ``DualBoostRegressorCV``.
    """
    require_fitted(cv, "path_", "plot_path", "DualBoostClassifierCV or DualBoostRegressorCV")
    ax = axes_for(ax, "plot_path")
    from matplotlib.colors import LogNorm, Normalize

    path = cv.path_
    C, trees, scores = path["C"], path["n_trees"], path["score"]
    is_by_C = len(np.unique(C)) > 1 and np.ptp(trees) < ONE_TREE
    x = C if is_by_C else trees
    is_wide = C.min() > 0 and C.max() >= LOGARITHMIC_FROM * C.min()
    for one in [slice(None)] if len(np.unique(C)) == len(C) else [value == C for value in np.unique(C)]:
        ax.plot(x[one], scores[one], color="0.8", lw=1, zorder=1)
    bars = {"fmt": "none", "ecolor": "0.6", "elinewidth": 1, "capsize": 2, "zorder": 2}
    ax.errorbar(x, scores, path["standard_error"], **bars, label="± standard error")
    norm = (LogNorm if is_wide else Normalize)(C.min(), C.max()) if C.max() > C.min() else None
    points = ax.scatter(x, scores, 42, C, cmap="cividis", norm=norm, edgecolors="white", linewidths=0.6, zorder=3)
    chosen = _chosen(cv)
    label = f"chosen: C = {cv.C_:.3g}, {cv.n_trees_} trees on all rows"
    ax.plot(x[chosen], scores[chosen], "o", ms=14, mfc="none", mec=RED, mew=2, label=label, zorder=4)
    legend_above(ax)
    ylabel = f"{held_out_name(cv)} on held-out rows"
    if is_by_C:
        xlabel = f"C, with {trees.mean():.3g} trees each, mean over the folds"
        return finish(ax, xscale="log" if is_wide else "linear", xlabel=xlabel, ylabel=ylabel)
    ax.figure.colorbar(points, ax=ax, label="C")
    ax.xaxis.get_major_locator().set_params(integer=True)
    return finish(ax, xlabel="trees used, mean over the folds", ylabel=ylabel)


def _chosen(cv: Any) -> int:
    """The position of the value chosen; a C that was tried with several numbers of trees is there more than once."""
    found = np.flatnonzero(cv.path_["C"] == cv.C_)
    most = cv.fitted_.tuning.max_trees
    if most is None:
        return int(found[0])
    return int(min(found, key=lambda k: abs(cv.path_["n_trees"][k] - most)))
