"""Plots the weights of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np

from .axes import BLUE, axes_for, finish, require_fitted


def plot_weights(clf: Any, *, ax: Any = None) -> Any:
    """Each learner's share of all weights, in the order in which they were generated; zeros are grey.

    Where leaves are corrected, the largest absolute value of each tree's leaves; of a regressor, in the units of y, or
    under the Poisson loss in those of the logarithm of the mean.
    """
    require_fitted(clf, "weights_", "plot_weights")
    ax = axes_for(ax, "plot_weights", (6.4, 3.4))
    ensemble = clf.fitted_.in_units
    shares = ensemble.scales()
    used, unused = np.flatnonzero(shares), np.flatnonzero(shares == 0)
    ax.bar(used, shares[used], width=0.8, color=BLUE)
    ax.plot(unused, np.zeros(len(unused)), "o", color="0.6", ms=4, clip_on=False, zorder=3)
    ax.xaxis.get_major_locator().set_params(integer=True)
    counted = f"of {len(shares)} trees have a weight" if ensemble.is_normalised else f"of {clf.n_generated_} trees kept"
    return finish(
        ax,
        xlabel="tree, in the order of generation",
        ylabel="share of all weights" if ensemble.is_normalised else "largest value of a leaf",
        title=f"{len(used)} {counted}",
        xlim=(-0.8, max(len(shares), 2) - 0.2),
    )
