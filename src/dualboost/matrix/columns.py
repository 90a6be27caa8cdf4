"""The growing matrix A, its storage, and the products with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..trees.tree import Learner
from .rows import Rows

# A formulation whose objective depends on more than the margins names its side rows (``Formulation.side_rows``) and
# gives each a box and a linear term (``Formulation.with_sides``). Solvers and certificates treat them like other
# rows. Only pricing treats them differently. If a side row depends on the votes of a column, its dual changes the
# duals of the data rows that the pricer sees. If it depends on the learner, its dual becomes a factor for edges on
# some features, the *favour*. The duals of the side rows are called theta.

LEAST_HURDLE = 0.1
"""The favour of a feature is at most the inverse of this."""


class SideRows(Protocol):
    """The side rows of one formulation."""

    read_splits: ClassVar[bool]
    """Whether entries depend on the splits of a learner, and not only on its votes."""

    @property
    def n(self) -> int: ...

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        """The entries of a column in the side rows, given its entries in the data rows and its learner."""

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        """The duals for pricing: u, plus the part of theta for side rows that depend on the votes."""

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        """The part of an edge that comes from side rows that depend on the learner."""

    def feature_multiplier(self, theta: Vector) -> Vector | None:
        """For each feature the factor by which edges of learners on it count; None if all factors are one."""


@dataclass(frozen=True)
class NoSideRows:
    """No side rows."""

    read_splits: ClassVar[bool] = False
    n: int = 0

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        return np.zeros(0)

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return 0.0

    def feature_multiplier(self, theta: Vector) -> None:
        return None


@dataclass(frozen=True, eq=False)
class MeanMargin:
    """One side row: the mean of a column over the data rows, with ``shares`` that add up to one."""

    read_splits: ClassVar[bool] = False
    shares: Vector
    n: int = 1

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        return np.array([self.shares @ of_data])

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u + theta[0] * self.shares

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return 0.0

    def feature_multiplier(self, theta: Vector) -> None:
        return None


@dataclass(frozen=True, eq=False)
class FeatureDifferences:
    """One side row for each pair of features: the share of feature ``first`` in a learner minus that of ``second``.

    A learner on feature f improves when its edge exceeds ``cost`` minus the part of theta for f, so pricers compare
    edges divided by that difference.
    """

    read_splits: ClassVar[bool] = True
    first: Integers
    second: Integers
    n_features: int
    cost: float

    @property
    def n(self) -> int:
        return len(self.first)

    def entries(self, of_data: Vector, learner: Learner | None) -> Vector:
        assert learner is not None
        shares = learner.feature_gains(self.n_features)
        return shares[self.first] - shares[self.second]

    def duals_seen(self, u: Vector, theta: Vector) -> Vector:
        return u

    def learner_part(self, theta: Vector, learner: Learner) -> float:
        return float(self.granted(theta) @ learner.feature_gains(self.n_features))

    def feature_multiplier(self, theta: Vector) -> Vector:
        return self.cost / np.maximum(self.cost - self.granted(theta), LEAST_HURDLE * self.cost)

    def granted(self, theta: Vector) -> Vector:
        """For each feature, the part of the edge of a learner on this feature alone that comes from theta."""
        gained, lost = (
            np.bincount(ends, weights=theta, minlength=self.n_features) for ends in (self.first, self.second)
        )
        return (gained - lost).astype(float)


# Within a block the entries of a column are contiguous, and so are the entries of the first columns together, so that
# products with a block copy nothing. Entries are stored in single precision, in which votes of -1 and +1 are exact.

ROWS_AT_ONCE = 2048
"""How many rows are converted to double precision at a time: few enough to stay in the processor's cache."""
ROWS_AT_ONCE_ON_DEVICE = 2**20
"""The same on a GPU, which needs much work at a time."""

Entries = NDArray[np.float32]


class HeldEntries:
    """Room for a growing number of columns."""

    def __init__(self, rows: Rows, n_sides: int, capacity: int) -> None:
        self._blocks = [block for block in rows.blocks if block.start < rows.n_data]
        self._places = {block.start: k for k, block in enumerate(self._blocks)}
        self.capacity = max(capacity, 1)
        self._rows = rows
        self._at_once = ROWS_AT_ONCE if rows.device.is_memory else ROWS_AT_ONCE_ON_DEVICE
        sizes = [(self.capacity, block.stop - block.start) for block in self._blocks]
        self._parts = [rows.xp.empty(size, dtype=np.float32) for size in sizes]
        self.beside: Matrix = np.empty((self.capacity, n_sides))
        """The entries in the side rows, one row for each column, in double precision."""

    def reserve(self, n_columns: int) -> None:
        """Make room for ``n_columns`` columns, by at least doubling the space if they do not fit."""
        if n_columns > self.capacity:
            self.capacity = max(n_columns, 2 * self.capacity)
            self._parts = [_enlarged(part, self.capacity) for part in self._parts]
            self.beside = _enlarged(self.beside, self.capacity).astype(np.float64, copy=False)

    def write(self, j: int, entries: NDArray[np.floating], beside: Vector) -> None:
        for block, part in zip(self._blocks, self._parts, strict=True):
            part[j] = entries[block]
        self.beside[j] = beside

    def fill(self, entries: Entries) -> None:
        """Fill the first columns, given as the rows of a matrix."""
        for block, part in zip(self._blocks, self._parts, strict=True):
            part[: len(entries)] = entries[:, block]

    def copy(self, j: int, other: HeldEntries, column_ids: Integers) -> None:
        """Fill the columns from j on with the chosen columns of another store."""
        last, there = j + len(column_ids), self._rows.put(column_ids)
        for part, others in zip(self._parts, other._parts, strict=True):
            part[j:last] = others[there]
        self.beside[j:last] = other.beside[column_ids]

    def column(self, j: int) -> Entries:
        """The entries of one column in the data rows."""
        return np.concatenate([part[j] for part in self._parts])

    def in_block(self, block: slice) -> Entries:
        """The entries in a block of data rows, one row for each column that there is room for."""
        return self._parts[self._places[block.start]]

    def pieces(self, block: slice, first: int, last: int) -> Iterator[tuple[slice, Matrix]]:
        """The columns from ``first`` to ``last`` in a block of data rows, a few rows at a time, in double precision.

        Each piece comes with the slice of the block that it covers.
        """
        part = self.in_block(block)
        for start in range(0, part.shape[1], self._at_once):
            piece = slice(start, min(start + self._at_once, part.shape[1]))
            yield piece, part[first:last, piece].astype(np.float64)

    def some(self, column_ids: Integers, rows: Integers) -> Entries:
        """The entries of the chosen columns in some data rows, one row for each column, in memory."""
        found = np.empty((len(column_ids), len(rows)), dtype=np.float32)
        for block, part in zip(self._blocks, self._parts, strict=True):
            inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
            wanted = np.ix_(column_ids, rows[inside] - block.start)
            found[:, inside] = self._rows.host(part[tuple(map(self._rows.put, wanted))])
        return found


def _enlarged(part: NDArray[np.floating], capacity: int) -> NDArray[np.floating]:
    larger = np.empty_like(part, shape=(capacity, part.shape[1]))
    larger[: len(part)] = part
    return larger


# If rows are spread over workers, each worker caches its own part of the matrix.


class GramCache:
    """The last d and its matrix, of which only the upper triangle is defined."""

    def __init__(self) -> None:
        self._d: Vector = np.empty(0)
        self._gram: Matrix = np.empty((0, 0))

    def gram(self, products: Products, d: Vector) -> Matrix:
        """A' diag(d) A over the rows held here, for d > 0."""
        n_known = len(self._gram) if len(self._gram) and np.array_equal(d, self._d) else 0
        extends = n_known > products.n_columns // 2
        self._gram = self._extended(products, d) if extends else products.whole_gram(d)
        self._d = d
        return self._gram

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self._gram = self._gram[:n_columns, :n_columns]

    def _extended(self, products: Products, d: Vector) -> Matrix:
        n, n_known = products.n_columns, len(self._gram)
        gram = np.zeros((n, n))
        gram[:n_known, :n_known] = self._gram
        for new in range(n_known, n):
            gram[: new + 1, new] = products.edges_here(d * products.column(new))[: new + 1]
        return gram


# A solver needs three products: ``margins(w) = A w``, ``edges(u) = A'u`` and ``gram(d) = A' diag(d) A``. Each of them
# is also available for one block of rows. A column is given as its entries in the rows of A, which the target computes
# from a learner's votes. ``Columns`` multiplies in double precision. Its ``single`` multiplies in single precision,
# two to three times as fast, for steps that need no more. Side rows, which a few formulations have, are always in
# double precision.
#
# Products are calls of ``np.dot`` for two reasons: it lets other threads run meanwhile, which ``@`` does not for
# small results, and it computes only one half of a matrix times its own transpose.

ROWS_AT_ONCE_SINGLE = 4096
"""How many rows ``single`` adds up in single precision before it adds the sum to a total in double precision."""
ROWS_AT_ONCE_SINGLE_ON_DEVICE = 2**17
"""The same on a GPU, which needs more work at a time, and adds up in blocks."""


class Products(ABC):
    """The products of A, in single or in double precision."""

    rows: Rows
    n_columns: int
    rounding: ClassVar[float]
    """The relative error of a product."""
    effort: ClassVar[int]
    """How many times as long a product takes as in single precision, which needs no conversion of the entries."""
    gram_cache: GramCache

    @abstractmethod
    def margins_in(self, block: slice, w: Vector) -> Vector:
        """A w, in one block of rows."""

    @abstractmethod
    def edges_in(self, block: slice, u: Vector) -> Vector:
        """The part of A'u from one block of rows, given the duals of that block."""

    @abstractmethod
    def whole_gram(self, d: Vector) -> Matrix:
        """A' diag(d) A over the rows held here, computed from the start."""

    @abstractmethod
    def column(self, j: int) -> Vector:
        """The entries of one column in all rows."""

    def margins(self, w: Vector) -> Vector:
        """A w; if there are fewer weights than columns, they belong to the first columns."""
        margins = self.rows.empty()

        def work(block: slice) -> None:
            margins[block] = self.margins_in(block, w)

        self.rows.each(work, size=self.effort * len(w))
        return margins

    def edges(self, u: Vector) -> Vector:
        """A'u."""
        edges: Vector = self.rows.sums_of([self.edges_here(u)])[0]
        return edges

    def edges_here(self, u: Vector) -> Vector:
        """A'u over the rows held here."""
        size = self.effort * self.n_columns
        edges: Vector = self.rows.here(lambda block: self.edges_in(block, u[block]), size)
        return edges

    def gram(self, d: Vector) -> Matrix:
        """A' diag(d) A for d > 0; only its upper triangle is defined."""
        gram: Matrix = self.rows.sums_of([self.gram_here(d)])[0]
        return gram

    def gram_here(self, d: Vector) -> Matrix:
        """A' diag(d) A over the rows held here only."""
        return self.gram_cache.gram(self, d)


class Columns(Products):
    """The columns of A that a solver holds, multiplied in double precision."""

    rounding: ClassVar[float] = 1e-14
    effort: ClassVar[int] = 4

    def __init__(self, rows: Rows, capacity: int = 16, sides: SideRows | None = None) -> None:
        self.sides: SideRows = NoSideRows() if sides is None else sides
        self.rows = rows.with_sides(self.sides.n) if self.sides.n else rows
        self._held = HeldEntries(self.rows, self.sides.n, capacity)
        self._probe = rows.put(np.random.default_rng(1).standard_normal(rows.n_data))
        self._probed: list[float] = []
        self.gram_cache, self._gram_cache_in_single = GramCache(), GramCache()
        self.n_columns = 0

    @property
    def n_data(self) -> int:
        return self.rows.n_data

    @property
    def n_rows(self) -> int:
        """The number of all rows of A, side rows included."""
        return self.rows.n_rows

    @property
    def beside(self) -> Matrix:
        """The side rows of A', one row for each column held."""
        return self._held.beside[: self.n_columns]

    def entries(self, j: int) -> Entries:
        """The entries of one column in the data rows."""
        return self._held.column(j)

    def part(self, column_ids: Integers, rows: Integers) -> Matrix:
        """The entries of the chosen columns in some rows, one row for each column, in double precision."""
        data, beside = rows[rows < self.n_data], rows[rows >= self.n_data] - self.n_data
        found = np.empty((len(column_ids), len(rows)))
        found[:, rows < self.n_data] = self._held.some(column_ids, data)
        found[:, rows >= self.n_data] = self._held.beside[np.ix_(column_ids, beside)]
        return found

    def dense(self, first: int = 0) -> Matrix:
        """The entries of the columns from ``first`` on in all rows, one row for each column, in double precision."""
        columns = [self.column(j) for j in range(first, self.n_columns)]
        return np.array(columns, dtype=float).reshape(len(columns), self.n_rows)

    def with_sides(self, u: Vector) -> Vector:
        """The duals of the data rows, followed by zeros for the side rows."""
        return np.append(u, np.zeros(self.sides.n)) if self.sides.n else u

    def seen(self, u: Vector) -> Vector:
        """The duals for pricing: the duals of the data rows, changed by the duals of the side rows."""
        return self.sides.duals_seen(u[: self.n_data], u[self.n_data :])

    @property
    def single(self) -> SinglePrecision:
        """The products of the columns held now, in single precision."""
        return SinglePrecision(self, self._held)

    def holds(self, entries: Vector, learner: Learner | None = None) -> bool:
        """Whether a column with exactly these entries, in data rows and side rows, is held already."""
        near = np.isclose(self._probed, float(self._probe @ entries), rtol=0.0, atol=1e-6 * self.n_data**0.5)
        in_single = entries.astype(np.float32)
        same = [j for j in np.flatnonzero(near).tolist() if np.array_equal(self.entries(j), in_single)]
        differs = np.ones(self.n_columns)
        differs[same] = 0.0
        same = np.flatnonzero(self.rows.workers.max(differs) == 0).tolist()
        if not same or not self.sides.n:
            return bool(same)
        beside = self._beside(entries, learner)
        return any(np.array_equal(self._held.beside[j], beside) for j in same)

    def append(self, entries: NDArray[np.floating], learner: Learner | None = None) -> None:
        """Add a column, given its entries in the data rows; those in side rows may depend on its learner."""
        self._held.reserve(self.n_columns + 1)
        self._held.write(self.n_columns, entries, self._beside(entries, learner))
        self._probed.append(float(self._probe @ entries))
        self.n_columns += 1

    def _beside(self, entries: NDArray[np.floating], learner: Learner | None) -> Vector:
        """The side rows of a column, computed from its data rows as they are held."""
        if not self.sides.n:
            return np.empty(0)
        return self.sides.entries(entries.astype(np.float32).astype(np.float64), learner)

    def subset(self, column_ids: Integers) -> Columns:
        """The chosen columns only, in that order, over the same rows."""
        part = Columns(self.rows, capacity=len(column_ids), sides=self.sides)
        part.take(self, column_ids)
        return part

    def take(self, other: Columns, column_ids: Integers) -> None:
        """Append the chosen columns of another, over the same rows."""
        n_columns = self.n_columns + len(column_ids)
        self._held.reserve(n_columns)
        self._held.copy(self.n_columns, other._held, column_ids)
        self._probed += [other._probed[j] for j in column_ids]
        self.n_columns = n_columns

    def over(self, rows: Rows, row_ids: Integers) -> Columns:
        """The same columns over other rows: new row i has the entries of row ``chosen[i]``; without side rows."""
        part = Columns(rows, capacity=self.n_columns + 1)
        part._held.fill(self._held.some(np.arange(self.n_columns), row_ids))
        part._probed = [0.0] * self.n_columns
        part.n_columns = self.n_columns
        return part

    def keep_first(self, n_columns: int) -> None:
        """Forget the columns that came after the first ``n_columns``."""
        self.n_columns = min(n_columns, self.n_columns)
        del self._probed[self.n_columns :]
        self.gram_cache.keep_first(self.n_columns)
        self._gram_cache_in_single.keep_first(self.n_columns)

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self.n_data:
            return w @ self._held.beside[: len(w)]
        there = self.rows.put(w)
        return np.concatenate([np.dot(there, entries) for _, entries in self._held.pieces(block, 0, len(w))])

    def edges_in(self, block: slice, u: Vector) -> Vector:
        return self._edges_in(block, u, 0)

    def edges_of_last(self, n: int, u: Vector) -> Vector:
        first = self.n_columns - n
        edges: Vector = self.rows.add_up(lambda block: self._edges_in(block, u[block], first), size=n)
        return edges

    def _edges_in(self, block: slice, u: Vector, first: int) -> Vector:
        if block.start >= self.n_data:
            return self.beside[first:] @ u
        total = self.rows.xp.zeros(self.n_columns - first)
        for piece, entries in self._held.pieces(block, first, self.n_columns):
            total += np.dot(entries, u[piece])
        return total

    def whole_gram(self, d: Vector) -> Matrix:
        def work(block: slice) -> Matrix:
            if block.start >= self.n_data:
                return np.asarray((self.beside * d[block]) @ self.beside.T, dtype=np.float64)
            root = np.sqrt(d[block])
            total = self.rows.xp.zeros((self.n_columns, self.n_columns))
            for piece, entries in self._held.pieces(block, 0, self.n_columns):
                entries *= root[piece]
                total += np.dot(entries, entries.T)
            return total

        gram: Matrix = self.rows.here(work, size=self.n_columns**2)
        return gram

    def column(self, j: int) -> Vector:
        entries = self.entries(j).astype(np.float64)
        return np.append(entries, self._held.beside[j]) if self.sides.n else entries

    def distinct(self, rows: Integers, column_ids: Integers, coefficients: Matrix) -> tuple[Integers, Integers]:
        """Group the rows given into kinds: one row of each kind, and the kind of every row.

        Two data rows are of the same kind if they have the same entries in the given columns and the same
        ``coefficients`` (a few numbers for each row of A). Every side row is a kind of its own.
        """
        data, beside = rows[rows < self.n_data], rows[rows >= self.n_data]
        bits = self._held.some(column_ids, data).view(np.uint32).astype(np.uint64)
        multipliers = np.random.default_rng(0).integers(2**63, size=(len(column_ids), 1), dtype=np.uint64)
        keys = ((bits ^ (bits >> np.uint64(13))) * multipliers).sum(axis=0, dtype=np.uint64)
        more = np.random.default_rng(1).integers(2**63, size=len(coefficients), dtype=np.uint64)
        for row, multiplier in zip(coefficients, more, strict=True):
            _, codes = np.unique(self.rows.taken(row, data), return_inverse=True)
            keys += codes.astype(np.uint64) * multiplier
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        of_sides = np.arange(len(first), len(first) + len(beside))
        return np.concatenate([data[first], beside]), np.concatenate([group, of_sides])


class SinglePrecision(Products):
    """The products of columns in single precision; vectors and results are in double precision."""

    rounding: ClassVar[float] = 1e-6
    effort: ClassVar[int] = 1

    def __init__(self, columns: Columns, held: HeldEntries) -> None:
        self._columns, self._held = columns, held
        self.rows, self.n_columns = columns.rows, columns.n_columns
        self.gram_cache = columns._gram_cache_in_single

    def margins_in(self, block: slice, w: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.margins_in(block, w)
        there = self.rows.put(w.astype(np.float32))
        margins: Vector = np.dot(there, self._held.in_block(block)[: self.n_columns])
        return margins

    def edges_in(self, block: slice, u: Vector) -> Vector:
        if block.start >= self._columns.n_data:
            return self._columns.edges_in(block, u)
        edges: Vector = np.dot(self._held.in_block(block)[: self.n_columns], u.astype(np.float32)).astype(np.float64)
        return edges

    def whole_gram(self, d: Vector) -> Matrix:
        gram: Matrix = self.rows.here(lambda block: self._gram_in(block, d[block]), size=self.n_columns**2)
        return gram

    def column(self, j: int) -> Vector:
        return self._columns.column(j)

    def _gram_in(self, block: slice, d: Vector) -> Matrix:
        if block.start >= self._columns.n_data:
            return np.asarray((self._columns.beside * d) @ self._columns.beside.T, dtype=np.float64)
        root, held = np.sqrt(d).astype(np.float32), self._held.in_block(block)[: self.n_columns]
        total: Matrix = self.rows.xp.zeros((self.n_columns, self.n_columns))
        at_once = ROWS_AT_ONCE_SINGLE if self.rows.device.is_memory else ROWS_AT_ONCE_SINGLE_ON_DEVICE
        for start in range(0, len(root), at_once):
            stop = start + at_once
            entries = held[:, start:stop] * root[start:stop]
            total += np.dot(entries, entries.T)
        return total
