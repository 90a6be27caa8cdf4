"""Rows on a GPU, and rows spread over workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..errors import UnsupportedFormulationError
from ..workers import Communicator
from ..workers.base import cached_property, joined, nth_smallest, summed
from .rows import LIGHT, Device, Found, Mask, Rows

# What crosses is as small as the ensemble. Sums are in double precision, as everywhere, but CUDA adds numbers up in
# an order of its own: results agree with the processor's to the last few digits, not to the last bit.


def on_device(rows: Rows, device: Device) -> Rows:
    """The rows with their vectors on a device."""
    if device.is_memory:
        return rows
    return DeviceRows(rows.counts, rows._groups, values=rows.values, rows_each=rows.rows_each, device=device)


class DeviceRows(Rows):
    """The rows of a fit on a device."""

    def __init__(
        self,
        counts: Vector,
        groups: Integers | None = None,
        values: Vector | None = None,
        rows_each: float = 1.0,
        *,
        device: Device,
    ) -> None:
        of_values = None if values is None else device.put(values)
        of_groups = None if groups is None else device.put(groups)
        super().__init__(device.put(counts), of_groups, values=of_values, rows_each=rows_each)
        self.device, self.xp = device, device.xp
        self.blocks = [slice(0, self.n_data)]

    def with_sides(self, n_sides: int) -> Rows:
        if n_sides:
            raise UnsupportedFormulationError(
                f"Rows on device={self.device.name!r} have no side rows, which 'cq' and 'spatial' need: choose another "
                "formulation, such as 'logistic', 'lp' or 'nm', or device='cpu'."
            )
        return self

    def like(self, counts: Vector, values: Vector | None = None) -> Rows:
        return DeviceRows(counts, values=values, device=self.device)

    @property
    def is_whole(self) -> bool:
        """Other solvers than our own would need all rows in memory."""
        return False

    @property
    def groups(self) -> Integers:
        return self.xp.zeros(self.n_data, dtype=np.intp) if self._groups is None else self._groups

    def totals_by_group(self, values: Vector) -> Vector:
        return np.asarray(self.host(np.bincount(self.groups, weights=values)), dtype=float)

    def total(self, values: Vector) -> float:
        return float(values.sum())

    def dot(self, one: Vector, other: Vector) -> float:
        return float(one @ other)

    def kinds(self, matrix: Matrix) -> tuple[Matrix, Integers]:
        distinct, kind = super().kinds(self.host(matrix))
        return distinct, self.put(kind)

    def gathered(self, values: NDArray[Any], mask: Mask | None = None) -> NDArray[Any]:
        return np.asarray(self.host(values if mask is None else values[mask]))

    def taken(self, values: NDArray[Any], positions: Integers) -> NDArray[Any]:
        return np.asarray(self.host(values[..., self.put(positions)]))

    def of_blocks(self, work: Callable[[slice], Found], size: int = LIGHT) -> list[Found]:
        return [self.host(work(self.blocks[0]))]


# Everything that is not as long as the rows is the same on all workers, to the last bit, so that all of them run the
# same loop and take the same decisions. A worker holds at least one row.

Keys = NDArray[np.uint64]


def spread(rows: Rows, workers: Communicator, keys: Keys) -> Rows:
    """The rows as the part of one worker, where there are others; ``keys`` are their hashes, in order."""
    if workers.size == 1:
        return rows
    parts = (rows.counts, rows._groups, rows.n_jobs, 0, rows.values, rows.rows_each)
    return SpreadRows(*parts, workers=workers, keys=keys)


class SpreadRows(Rows):
    """The rows of one worker."""

    def __init__(
        self,
        counts: Vector,
        groups: Integers | None = None,
        n_jobs: int = 1,
        n_sides: int = 0,
        values: Vector | None = None,
        rows_each: float = 1.0,
        *,
        workers: Communicator,
        keys: Keys,
    ) -> None:
        super().__init__(counts, groups, n_jobs, n_sides, values, rows_each)
        self.workers, self.keys = workers, keys
        self._firsts: dict[int, int] = {}

    def with_sides(self, n_sides: int) -> Rows:
        if n_sides:
            raise UnsupportedFormulationError(
                "Rows that are spread over workers have no side rows, which 'cq' and 'spatial' need: choose another "
                "formulation, such as 'logistic', 'lp' or 'nm'."
            )
        return self

    def like(self, counts: Vector, values: Vector | None = None) -> Rows:
        """Without keys of their own: no caller takes the first of them."""
        return SpreadRows(counts, None, self.n_jobs, values=values, workers=self.workers, keys=self.keys)

    @cached_property
    def n_all(self) -> int:
        return int(self.workers.sum(float(self.n_rows)))

    @property
    def n_all_data(self) -> int:
        return self.n_all

    def n_first(self, n: int) -> int:
        if n not in self._firsts:
            keys = self.keys.astype(np.float64)  # whose order is theirs, but for keys that hardly differ
            last = nth_smallest(self.workers, [keys], np.array([[min(n, self.n_all)]]))
            self._firsts[n] = int(np.searchsorted(keys, last[0, 0], side="right"))
        return self._firsts[n]

    def totals_by_group(self, values: Vector) -> Vector:
        n_groups = int(self.workers.max(float(self.groups.max()))) + 1
        return self.workers.sum(np.bincount(self.groups, weights=values, minlength=n_groups).astype(float))

    def total(self, values: Vector) -> float:
        return self.workers.sum(super().total(values))

    def totals(self, parts: Sequence[Vector]) -> Vector:
        return self.workers.sum(np.array([super(SpreadRows, self).total(part) for part in parts]))

    def dot(self, one: Vector, other: Vector) -> float:
        return self.workers.sum(super().dot(one, other))

    def least(self, values: Vector) -> float:
        return -self.workers.max(-super().least(values))

    def largest(self, values: Vector) -> float:
        return self.workers.max(super().largest(values))

    def any(self, mask: Mask) -> bool:
        return bool(self.workers.max(float(mask.any())))

    def all(self, mask: Mask) -> bool:
        return not self.workers.max(float(not mask.all()))

    def count(self, mask: Mask) -> int:
        return int(self.workers.sum(float(super().count(mask))))

    def nth_smallest(self, values: Vector, n: int) -> float:
        return float(nth_smallest(self.workers, [np.sort(values)], np.array([[n]]))[0, 0])

    def kinds(self, matrix: Matrix) -> tuple[Matrix, Integers]:
        own, kind = super().kinds(matrix)
        everywhere, place = joined(self.workers, own)
        distinct, number = super().kinds(everywhere)
        return distinct, number[place][kind]

    def joined(self, values: NDArray[Any]) -> tuple[NDArray[Any], slice]:
        return joined(self.workers, values)

    def sums_of(self, parts: list[Any]) -> list[Any]:
        return summed(self.workers, parts)

    def least_of(self, work: Callable[[slice], float], size: int = LIGHT) -> float:
        return -self.workers.max(-super().least_of(work, size))

    def holds_in_all(self, work: Callable[[slice], bool], size: int = LIGHT) -> bool:
        return not self.workers.max(float(not super().holds_in_all(work, size)))
