"""A progress bar for long fits: on a terminal only, and only if tqdm is installed."""

from __future__ import annotations

import warnings
from types import TracebackType
from typing import Any

from ..errors import MissingDependencyWarning
from ..extras import how_to_install
from .history import Iteration


class ProgressBar:
    """An observer of the loop; use as a context manager."""

    def __init__(self, total: int | None, enabled: bool, unit: str = "tree") -> None:
        self._bar: Any = None
        if not enabled:
            return
        try:
            from tqdm import tqdm
        except ImportError:
            warnings.warn(
                f"verbose=1 shows a progress bar if tqdm is installed: {how_to_install('tqdm')}.",
                MissingDependencyWarning,
                stacklevel=4,
            )
            return
        self._bar = tqdm(total=total, unit=unit, disable=None)

    def __call__(self, iteration: Iteration) -> None:
        figures = {"objective": f"{iteration.objective:.5g}", "gap": f"{iteration.gap:.0e}"}
        figures["accuracy"] = f"{iteration.train_accuracy:.3f}"
        if iteration.validation_score == iteration.validation_score:
            figures["validation"] = f"{iteration.validation_score:.3f}"
        self.advance(**figures)

    def advance(self, **figures: object) -> None:
        """Move the bar by one unit and show the figures next to it."""
        if self._bar is not None:
            self._bar.set_postfix(figures, refresh=False)
            self._bar.update()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
