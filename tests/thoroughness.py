"""How much the tests try: a few of each kind, or everything there is.

``make test`` takes few, so that it is run often; ``make test-all`` sets ``DUALBOOST_THOROUGH=1`` and takes everything.
What is left out is not generated, so that nothing is skipped.
"""

import os

import pytest

THOROUGH = os.environ.get("DUALBOOST_THOROUGH", "0") not in ("", "0")

MECHANISMS = ("logistic", "lp", "nm", "cg", "md", "erlp", "convex", "cq", "spatial", "lexi", "soft", "mlp")
"""One formulation for each mechanism: corrected leaves; a linear programme on a cone; one on the simplex, with an
offset; a ridge; free u; a total of u, with an entropy; a smooth loss; side rows of margins; side rows of features; two
stages; two guides."""

SHAPES = ("logistic", "nm", "md", "cq", "lexi")
"""One for each code path outside the masters: corrected leaves, plain, negative u, side rows, two stages."""

ANY = ("nm",)
"""For what the formulation has no part in."""


def every(items, few):
    """Every item, or those of them that are among ``few``."""
    items = list(items)
    chosen = [item for item in items if item in few]
    assert len(chosen) == len(few), f"{few} are not all among {items}"
    return items if THOROUGH else chosen


def how_many(few, all):
    """A number of trials."""
    return all if THOROUGH else few


def only_thorough(test):
    """A test that ``make test`` leaves out, because it starts processes and takes seconds."""
    return test if THOROUGH else None


def together(items, name=str):
    """Groups of items: each on its own, or all at once where what they share is costly, such as a process."""
    return [pytest.param([item], id=name(item)) for item in items] if THOROUGH else [pytest.param([*items], id="all")]


def iterations(n):
    """The numbers of iterations, from 1 to n, after which a fit is compared with another solver."""
    return range(1, n + 1) if THOROUGH else sorted({t for t in (1, 2, 3, 5, 8, 13, 21) if t < n} | {n})
