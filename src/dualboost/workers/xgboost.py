"""Workers that XGBoost's collective connects, in processes on any machines; it grows trees over the same workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from ..errors import WorkerError
from .base import Reducing


class XGBoostCommunicator(Reducing):
    """The workers of the ``xgboost.collective`` context that is open in this thread."""

    def __init__(self) -> None:
        super().__init__()
        from xgboost import collective
        from xgboost.core import XGBoostError

        self._collective, self._error = collective, XGBoostError
        self.rank = int(collective.get_rank())
        self.size = int(collective.get_world_size())

    def _reduced(self, values: NDArray[Any], what: str) -> NDArray[Any]:
        operation = self._collective.Op.SUM if what == "sum" else self._collective.Op.MAX
        try:
            return self._collective.allreduce(values, operation)
        except self._error as failure:
            raise WorkerError(f"A worker was lost, or the network failed: {failure}") from failure


@contextmanager
def connected(**arguments: Any) -> Iterator[XGBoostCommunicator]:
    """The communicator of this worker, given the arguments of a tracker (``RabitTracker.worker_args``)."""
    import xgboost
    from xgboost import collective

    try:
        with xgboost.config_context(verbosity=0), collective.CommunicatorContext(**arguments):
            yield XGBoostCommunicator()
    except xgboost.core.XGBoostError as failure:
        raise WorkerError(f"A worker was lost, or the network failed: {failure}") from failure
