"""What leaves are refitted to, and the prices C of the mean loss that are tried, against a ridge of one."""

from __future__ import annotations

CS = (20.0, 100.0, 500.0, 2500.0)
"""The prices where leaves are fitted to y: to two classes, or to numbers with a deviation of one."""
IMITATING_CS = (500.0, 2500.0)
"""The same where the model's own probabilities or predictions are fitted, which have less noise than y."""
MANY_LEAVES = 1000
"""For models with more leaves than this, every second of these prices must do."""
REFIT, IMITATE = "refit", "imitate"
"""Leaves that are fitted to y, and leaves that are fitted to the model's own probabilities or predictions."""

Prices = list[tuple[str, float]]
"""What leaves are fitted to, and C."""


def prices_for(n_leaves: int, fits_y: bool, scale: float = 1.0) -> Prices:
    """The prices for a model with so many leaves, which are fitted to y as well or not, times the scale."""
    prices = [*((REFIT, scale * C) for C in CS if fits_y), *((IMITATE, scale * C) for C in IMITATING_CS)]
    return prices if n_leaves <= MANY_LEAVES else prices[1::2]


def scale_for(n_classes: int) -> float:
    """Ridges mean as much for one of K evenly likely classes as for two, as in ``LogisticBoost.size_of``."""
    return n_classes**2 / (4.0 * (n_classes - 1))
