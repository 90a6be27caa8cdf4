"""Runs the loop that fits a wiring: over trees, or over leaves."""

from __future__ import annotations

from typing import Any

from .column_generation import ColumnGeneration
from .history import Trace
from .leaf_generation import LeafGeneration
from .leaf_wiring import LeafWiring
from .wiring import Wiring


def generate(wiring: Wiring | LeafWiring, max_trees: int, **watched: Any) -> Trace:
    """What the loop finds with at most ``max_trees`` trees; ``watched`` are held-out rows, rules and observers."""
    if isinstance(wiring, LeafWiring):
        return LeafGeneration(wiring, max_trees, **watched).run()
    return ColumnGeneration(wiring, max_trees, most_entering=wiring.solver.most_entering, **watched).run()
