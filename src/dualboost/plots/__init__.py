"""Plots of fitted estimators, made with matplotlib (an extra)."""

from .confusion import plot_confusion_matrix
from .effects import plot_effects
from .history import plot_history
from .intervals import plot_intervals
from .margins import plot_margins
from .numbers import plot_predictions, plot_residuals
from .path import plot_path
from .tree import plot_tree
from .weights import plot_weights

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
