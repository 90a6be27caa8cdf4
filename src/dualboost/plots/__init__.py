"""Plots of fitted estimators, made with matplotlib (an extra)."""

from .effects import plot_effects
from .fits import plot_history, plot_margins, plot_path, plot_weights
from .predictions import plot_confusion_matrix, plot_intervals, plot_predictions, plot_residuals
from .tree import plot_tree

__all__ = [
    "plot_confusion_matrix",
    "plot_effects",
    "plot_history",
    "plot_intervals",
    "plot_margins",
    "plot_path",
    "plot_predictions",
    "plot_residuals",
    "plot_tree",
    "plot_weights",
]
