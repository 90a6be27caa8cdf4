"""The plot of one tree."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Vector
from ..arguments import require_integer
from ..errors import InvalidParameterError, UnsupportedModelError
from ..inspection.rules import Names, leaf_values, names_of, split_text, strongest, used_trees
from ..trees.tree import Tree
from .axes import COLOURS, POINTS_PER_INCH, as_label, axes_for, require_fitted, shortened

SPLIT_LETTERS, LEAF_LETTERS, MOST_LINES = 20, 14, 4
"""The most letters in a line of a split and of a leaf, and the most lines of wrapped text."""
NAME_LETTERS = 14
"""The most letters of a class beside a bar."""
LEAF_INCHES, LEVEL_INCHES = 1.15, 1.2
"""The width of new axes for each leaf, and their height for each level."""
BRANCH_AT = 0.58
"""The height of "yes" and "no" on an edge: far enough down that both fit side by side."""
FONT_SIZE = 8
FULL_FROM, FULL_TO = 1e3, 1e6
"""Values of leaves in this range are written without an exponent."""
FIRST_CLASS, SECOND_CLASS, SPLIT = "#F7C99B", "#A6CEE3", "#F2F2F2"
"""The colours of leaves that vote for the first and for the second class, and of splits."""
FRAME = {"boxstyle": "round,pad=0.35", "edgecolor": "0.4", "linewidth": 0.8}
"""The frame of splits and leaves."""

# Charts of leaves with several classes or quantiles.

MOST_BARS = 4
"""The most bars in a leaf."""
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
    """The scale and the layout that the charts of all leaves share."""

    labels: Sequence[str]
    """The labels of the bars in all leaves."""
    largest: float
    """The value of the longest bar."""
    is_ordered: bool
    """Whether bars are in the order of the outputs, instead of their values."""


def leaf_bars(values: Vector, labels: Sequence[str], rows: float | None, scale: LeafScale, font: float) -> Any:
    """The chart of the strongest classes, for ``AnnotationBbox``; ``rows`` stand below, and labels opposite to bars."""
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import DrawingArea
    from matplotlib.text import Text

    side, line = _side(scale.labels, font), LINE * font
    indices = strongest(values, MOST_BARS)
    indices = sorted(indices) if scale.is_ordered else indices
    below = 0.0 if rows is None else line
    top = below + line * len(indices)
    area = DrawingArea(2.0 * side, top)
    for place, k in enumerate(indices):
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


class Place(NamedTuple):
    """The position of a node, or of a leaf if ``node`` is negative: x in leaves, ``depth`` in levels from the top."""

    node: int
    x: float
    depth: int


def plot_tree(clf: Any, tree: int | None = None, *, ax: Any = None) -> Any:
    """Draw a tree: splits show their test, with yes to the left; leaves show vote, class and training rows.

    Where leaves are optimized, they show their values instead of votes; of a regressor, in the units of y, or under the
    Poisson loss of the logarithm of the mean. Of several classes, a leaf has a bar for each, to the right if its value
    is positive and to the left if it is negative; of more than four classes, for the four with the largest values. Of
    several quantiles, bars are in the order of the levels, with their values. Bars of all leaves have one scale, whose
    end is in the title.

    ``tree`` is a position in ``estimators_``; None selects the tree with the largest weight. If a feature had missing
    values in training, "or missing" marks their side. New axes are as wide as the leaves need; in given axes the font
    shrinks to fit.
    """
    require_fitted(clf, "weights_", "plot_tree")
    number = _position(clf, tree)
    drawn, names, ensemble = clf.estimators_[number], names_of(clf.fitted_), clf.fitted_.in_units
    scale = float(ensemble.scales()[number])
    drawn = drawn.with_votes((1.0 if ensemble.is_normalised else scale) * leaf_values(drawn))
    places = dict(_layout(drawn))
    depth = max(place.depth for place in places.values())
    scale_of_bars, width = None, LEAF_INCHES
    if ensemble.n_outputs > 1:
        labels = [label for values in drawn.votes for label in _labels(values, names)]
        scale_of_bars = LeafScale(labels, float(np.abs(drawn.votes).max()), is_ordered=not names.has_classes)
        width = (2.0 * _side(labels, FONT_SIZE) + BETWEEN * FONT_SIZE) / POINTS_PER_INCH
    size = (max(width * drawn.n_leaves, 3.6), LEVEL_INCHES * (depth + 1) + 0.3)
    given = ax is not None
    ax = axes_for(ax, "plot_tree", size)
    font = FONT_SIZE * _shrink(ax, size) if given else FONT_SIZE
    ax.set(xlim=(-0.6, drawn.n_leaves - 0.4), ylim=(-depth - 0.4, 0.4))
    for place in places.values():
        if place.node >= 0:
            _draw_edges(ax, drawn, place, places, names, font)
        if place.node < 0 and scale_of_bars is not None:
            _draw_bars(ax, drawn, place, names, scale_of_bars, font)
        else:
            _draw_text(ax, *_box(drawn, place.node, names), place, font)
    worth = f"{scale:.1%} of all weights" if ensemble.is_normalised else f"values up to {_value(scale)[1:]}"
    if len(names.classes) > MOST_BARS:
        worth += (
            f", the {MOST_BARS} strongest of {len(names.classes)} {'classes' if names.has_classes else 'quantiles'}"
        )
    ax.set_title(f"tree {number}, {worth}", fontsize=font + 2)
    ax.set_axis_off()
    return ax


def _position(clf: Any, tree: int | None) -> int:
    if tree is None:
        used = used_trees(clf.fitted_, "plot_tree")
        if not used:
            raise UnsupportedModelError("plot_tree needs a tree, and the model has no tree: every row gets the same.")
        tree = max(used, key=lambda j: clf.weights_[j])
    tree = require_integer("tree", tree, least=0)
    if tree >= len(clf.estimators_) or not isinstance(clf.estimators_[tree], Tree):
        raise InvalidParameterError(
            f"tree={tree!r} must be the position of a tree in estimators_, which has {len(clf.estimators_)} entries."
        )
    return tree


def _layout(tree: Tree) -> list[tuple[int, Place]]:
    """The positions of leaves, side by side, and of nodes, halfway between their children."""
    places: dict[int, Place] = {}

    def place(node: int, depth: int) -> float:
        if node < 0:
            x = float(sum(other < 0 for other in places))
        else:
            x = (place(int(tree.left[node]), depth + 1) + place(int(tree.right[node]), depth + 1)) / 2.0
        places[node] = Place(node, x, depth)
        return x

    place(0 if len(tree.feature) else ~0, 0)
    return list(places.items())


def _draw_edges(ax: Any, tree: Tree, parent: Place, places: dict[int, Place], names: Names, font: float) -> None:
    node = parent.node
    missing_side = tree.left[node] if tree.missing_left[node] else tree.right[node]
    for text, child in (("yes", int(tree.left[node])), ("no", int(tree.right[node]))):
        below = places[child]
        ax.plot([parent.x, below.x], [-parent.depth, -below.depth], color="0.5", lw=1, zorder=0)
        x, y = parent.x + BRANCH_AT * (below.x - parent.x), -parent.depth - BRANCH_AT
        missing = " or missing" if child == missing_side and names.has_missing[tree.feature[node]] else ""
        ground = {"boxstyle": "square,pad=0.1", "facecolor": ax.get_facecolor(), "edgecolor": "none"}
        ax.text(x, y, text + missing, ha="center", va="center", fontsize=0.85 * font, color="0.3", bbox=ground)


def _draw_text(ax: Any, text: str, colour: str, place: Place, font: float) -> None:
    frame = FRAME | {"facecolor": colour}
    ax.text(place.x, -place.depth, text, ha="center", va="center", fontsize=font, color="black", bbox=frame)


def _draw_bars(ax: Any, tree: Tree, place: Place, names: Names, scale: LeafScale, font: float) -> None:
    from matplotlib.offsetbox import AnnotationBbox

    leaf = ~place.node
    rows = None if tree.covers is None else float(tree.covers[leaf])
    bars = leaf_bars(tree.votes[leaf], _labels(tree.votes[leaf], names), rows, scale, font)
    frame = FRAME | {"facecolor": "white"}
    ax.add_artist(AnnotationBbox(bars, (place.x, -place.depth), pad=0.35, fontsize=font, bboxprops=frame))


def _labels(values: Vector, names: Names) -> list[str]:
    if names.has_classes:
        return [shortened(name, NAME_LETTERS) for name in names.classes]
    return [f"{name} {_value(float(value))}" for name, value in zip(names.classes, values, strict=True)]


def _box(tree: Tree, node: int, names: Names) -> tuple[str, str]:
    if node >= 0:
        return _wrapped(split_text(tree, node, names), SPLIT_LETTERS), SPLIT
    (vote,) = tree.votes[~node].tolist()
    lines = [_value(vote)]
    if names.classes:
        lines.append(_wrapped(names.classes[int(vote > 0)], LEAF_LETTERS))
    if tree.covers is not None:
        lines.append(f"{tree.covers[~node]:,.6g} rows")
    return "\n".join(lines), SECOND_CLASS if vote > 0 else FIRST_CLASS


def _value(vote: float) -> str:
    """The value of a leaf; thousands in full, as they are in units of y."""
    return f"{vote:+,.0f}" if FULL_FROM <= abs(vote) < FULL_TO else f"{vote:+.3g}"


def _wrapped(text: str, letters: int) -> str:
    """The text in at most ``MOST_LINES`` lines; no line breaks between "<=" and its number."""
    lines = textwrap.wrap(text.replace("<= ", "<=\N{NO-BREAK SPACE}"), letters)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1][: letters - 2] + " …"]
    return as_label("\n".join(lines))


def _shrink(ax: Any, size: tuple[float, float]) -> float:
    """The factor by which text must shrink because the given axes are smaller than ``size``."""
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return float(min(1.0, box.width / size[0], box.height / size[1]))
