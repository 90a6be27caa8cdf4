"""Rows whose vectors live on a GPU: one block, and every sum or extreme comes back to memory.

What crosses is as small as the ensemble. Sums are in double precision, as everywhere, but CUDA adds numbers up in an
order of its own: results agree with those of the processor to the last few digits, not to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Matrix, Vector
from ..errors import UnsupportedFormulationError
from .devices import Device
from .rows import LIGHT, Found, Mask, Rows


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
