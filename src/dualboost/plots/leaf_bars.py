"""A leaf with a value for each class as a small chart: bars to the right speak for a class, to the left against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .._typing import Vector
from ..inspection.classes import strongest
from .axes import COLOURS, POINTS_PER_INCH

MOST_BARS = 4
"""The most classes of a leaf that are drawn."""
LINE = 1.25
"""The height of a line, as a share of the size of the font."""
LEAST_SIDE = 4.0
"""The least width of each side of a chart, as a multiple of the size of the font."""
GAP = 0.4
"""The distance of names from the middle, as a share of the size of the font."""
BETWEEN = 2.8
"""The width of the frame of a leaf and of the space beside it, as a multiple of the size of the font."""
FOR = "#6BAED6"
AGAINST = "#FDAE6B"
"""The colours of bars where there are more classes than colours."""


class LeafScale(NamedTuple):
    """What the charts of all leaves of a tree share."""

    labels: Sequence[str]
    """All that is written beside a bar in any leaf."""
    largest: float
    """The value of the longest bar."""
    is_ordered: bool
    """Whether bars stand in the order of what they are for, and not of their values."""


def leaf_inches(labels: Sequence[str], font: float) -> float:
    """The width that a leaf needs, with its frame and the space beside it."""
    return (2.0 * _side(labels, font) + BETWEEN * font) / POINTS_PER_INCH


def leaf_bars(values: Vector, labels: Sequence[str], rows: float | None, scale: LeafScale, font: float) -> Any:
    """The chart, for ``AnnotationBbox``; ``rows`` are written below.

    Of many classes, those with the largest absolute values are shown. A label stands opposite to its bar.
    """
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import DrawingArea
    from matplotlib.text import Text

    side, line = _side(scale.labels, font), LINE * font
    shown = strongest(values, MOST_BARS)
    shown = sorted(shown) if scale.is_ordered else shown
    below = 0.0 if rows is None else line
    top = below + line * len(shown)
    area = DrawingArea(2.0 * side, top)
    for place, k in enumerate(shown):
        length = side * float(values[k]) / (scale.largest or 1.0)
        for artist in _bar(length, labels, k, (side, top - line * (place + 0.5)), font):
            area.add_artist(artist)
    area.add_artist(Line2D([side, side], [below, top], color="0.3", lw=0.8))
    if rows is not None:
        area.add_artist(Text(side, 0.4 * line, f"{rows:,.6g} rows", ha="center", va="center", fontsize=font))
    return area


def _bar(length: float, labels: Sequence[str], k: int, middle: tuple[float, float], font: float) -> Iterator[Any]:
    """A bar from the middle to the right, or to the left if ``length`` is negative, and its label."""
    from matplotlib.patches import Rectangle
    from matplotlib.text import Text

    x, y = middle
    height = 0.8 * LINE * font
    colour = COLOURS[k] if len(labels) <= len(COLOURS) else FOR if length >= 0 else AGAINST
    yield Rectangle((min(x, x + length), y - height / 2.0), abs(length), height, color=colour, lw=0)
    end, towards = ("right", -1.0) if length >= 0 else ("left", 1.0)
    yield Text(x + towards * GAP * font, y, labels[k], ha=end, va="center_baseline", fontsize=font, color="black")


def _side(labels: Sequence[str], font: float) -> float:
    """The width of each side in points: enough for the longest label."""
    from matplotlib.textpath import TextPath

    # A blank label has no outline whose extent could be measured.
    widths = [TextPath((0, 0), label, size=font).get_extents().x1 for label in set(labels) if label.strip()]
    return float(max(max(widths, default=0.0) + 2.5 * GAP * font, LEAST_SIDE * font))
