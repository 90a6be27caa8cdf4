"""Starting points of the interior-point method after the programme has changed: the last iterate, moved off its bounds.

The optimum of the old programme lies on bounds that would block every step towards the new optimum. Its complementarity
products are therefore raised, in proportion to the gap in the new programme, so that the next step is long.
"""

from __future__ import annotations

import numpy as np

from .._typing import Vector
from ..algebra.columns import Columns
from ..formulations.programme import Programme
from ..formulations.weight_sets import WeightSet
from .base import Candidate
from .certificate import certify
from .newton import mean_product, n_products, room_above
from .newton_rows import Iterate

NEW_COLUMN_WEIGHT = 0.1
"""The least weight of a new column, relative to the mean weight: most new columns turn out to be needed."""
GAP_SHARE = 4.0
"""When a column enters, the products are raised until they add up to this many times the gap that the column opens."""
RAISED_MEAN = 10.0
"""After a blocked step the method aims at a mean product this many times as large as the present mean."""
RAISED_CENTRAL = 0.3
"""After a blocked step every product is raised to at least this fraction of the larger mean."""
MOVED_CENTRAL = 0.1
"""When C changes, every product is raised to at least this fraction of the mean product."""
INSIDE = 0.99
"""The largest fraction of its bound that a weight has in a starting point."""


def with_new_columns(point: Iterate, columns: Columns, programme: Programme, central: float) -> Iterate:
    """The point with a weight for each new column, and every product at least ``central`` times the mean."""
    weight_set, n_old = programme.weight_set, len(point.w)
    n_new = columns.n_columns - n_old
    edges = np.concatenate([point.edges, columns.edges_of_last(n_new, point.u)])
    padded = point._replace(w=np.concatenate([point.w, np.zeros(n_new)]), edges=edges)
    opened = certify(columns, programme, padded.candidate, (point.margins, edges))
    gap = max(opened.primal - opened.dual, 0.0)
    mu = max(mean_product(point, programme), GAP_SHARE * gap / n_products(columns, programme))
    point = _off_bounds(point, programme, mu, central)
    if programme.is_bounded:  # moving off the bounds has changed the duals
        edges = columns.single.edges(point.u)
    least_violation = 1e-2 * programme.rows.total(np.abs(point.u))
    violation = np.maximum(np.abs(point.r + weight_set.cost - edges[n_old:]), least_violation)
    product, total = max(mu, float(point.w @ point.s) / n_old), float(point.w.sum())
    largest = 0.3 * (weight_set.bound if weight_set.total is None else total)
    fresh = np.maximum(np.minimum(product / violation, largest), NEW_COLUMN_WEIGHT * total / n_old)
    w = _inside(weight_set, np.concatenate([np.maximum(point.w, central * mu / point.s), fresh]))
    s = np.concatenate([point.s, product / fresh])
    z = np.concatenate([point.z, product / (weight_set.bound - w[n_old:])])
    return point._replace(w=w, s=s, z=z, margins=columns.single.margins(w), edges=edges)


def moved(point: Iterate, columns: Columns, old: Programme, new: Programme) -> Iterate:
    """The point at the same relative place in the new box, with products as large as the gap there requires."""
    weight_set = new.weight_set
    w = _inside(weight_set, point.w)
    if new.is_bounded:
        part = (point.u - old.lower) / old.width
        u = new.feasible(new.lower + part * (new.upper - new.lower))
    else:
        u = new.feasible(new.term.response(new.shifted(columns.margins(w), point.rho), new.lower, new.upper))
    found = certify(columns, new, Candidate(w, u, point.rho))
    difference = max(found.primal - found.dual, 1e-6 * abs(found.primal), np.finfo(float).tiny)
    mu = difference / n_products(columns, new)
    r = float(found.edges.max()) if weight_set.total is not None else 0.0
    slack = r + weight_set.cost + weight_set.ridge * w - found.edges
    s = np.maximum(slack, mu / np.maximum(w, 1e-3 * w.max()))
    w = _inside(weight_set, np.maximum(w, MOVED_CENTRAL * mu / s))
    z = np.maximum(-slack, 0.0) if weight_set.is_bounded else point.z
    point = _off_bounds(point._replace(u=u, w=w, s=s, z=z, r=r), new, mu, MOVED_CENTRAL)
    return point._replace(margins=columns.margins(w), edges=columns.edges(point.u))


def raised(point: Iterate, columns: Columns, programme: Programme) -> Iterate:
    """The point with its small products raised, so that the next step is not blocked."""
    point = _off_bounds(point, programme, RAISED_MEAN * mean_product(point, programme), RAISED_CENTRAL)
    return point._replace(edges=columns.edges(point.u))


def _off_bounds(point: Iterate, programme: Programme, mu: float, central: float) -> Iterate:
    """u moved inside its box, and the multipliers raised, until no product is far below ``central`` times mu."""
    least = central * mu
    point = point._replace(s=np.maximum(point.s, least / np.maximum(point.w, 1e-3 * point.w.max())))
    if programme.weight_set.is_bounded:
        point = point._replace(z=np.maximum(point.z, least / room_above(point.w, programme)))
    if not programme.is_bounded:
        return point
    rows = programme.rows
    u, p, q = rows.empty(), rows.empty(), rows.empty()

    def work(block: slice) -> None:
        lower, upper, width = programme.lower[block], programme.upper[block], programme.width[block]
        smallest = least / width
        np.maximum(point.p[block], smallest, out=p[block])
        np.maximum(point.q[block], smallest, out=q[block])
        lowest = lower + np.minimum(least / p[block], central * width)
        highest = upper - np.minimum(least / q[block], central * width)
        np.clip(point.u[block], lowest, highest, out=u[block])

    rows.each(work)
    return point._replace(u=programme.feasible(u), p=p, q=q)


def _inside(weight_set: WeightSet, w: Vector) -> Vector:
    """Admissible weights close to w that stay off their bound."""
    return np.minimum(weight_set.nearest(w), INSIDE * weight_set.bound)
