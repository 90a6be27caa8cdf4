"""Plots the distribution of the margins of one or several ensembles."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .axes import COLOURS, DASHES, axes_for, finish, require_fitted


def plot_margins(models: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """The share of rows whose margin is at most x; the height of a curve at zero is the error.

    Margins are in [-1, 1]; under "logistic" they are the log-odds of the row's own class, of several classes against
    the best other one.
    ``models`` is a fitted ``DualBoostClassifier``, a list of (name, classifier), or a dict of classifiers by name.
    """
    named = _named(models)
    for _, model in named:
        require_fitted(model, "weights_", "plot_margins")
        require_fitted(model, "margins", "plot_margins")
    ax = axes_for(ax, "plot_margins")
    ax.axvline(0.0, color="0.5", lw=1)
    found = [np.sort(model.margins(X, y)) for _, model in named]
    low, high = min(-1.0, *(margins[0] for margins in found)), max(1.0, *(margins[-1] for margins in found))
    for (name, _), margins, colour, dashes in zip(named, found, cycle(COLOURS), cycle(DASHES), strict=False):
        shares = np.arange(len(margins) + 1) / len(margins)
        ends = np.concatenate([[low], margins, [high]])
        ax.step(ends, np.append(shares, 1.0), dashes, where="post", color=colour, lw=1.8, label=name)
    if len(named) > 1:
        ax.legend(frameon=False, loc="upper left")
    in_odds = all(model.formulation_.has_final_scores for _, model in named)
    against = " against the best other" if any(model.fitted_.task.n_outputs > 1 for _, model in named) else ""
    label = f"margin: log-odds of the row's class{against}" if in_odds else "margin"
    return finish(ax, xlabel=label, ylabel="share of rows with at most this margin", xlim=(low, high), ylim=(0, 1.01))


def _named(models: Any) -> list[tuple[str, Any]]:
    if isinstance(models, Mapping):
        models = list(models.items())
    if not isinstance(models, (list, tuple)):
        return [(type(models).__name__, models)]
    if not models or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in models):
        raise InvalidParameterError(
            f"models={models!r} must be a classifier, a dict of classifiers by name, or a list of (name, classifier)."
        )
    return [(str(name), model) for name, model in models]
