"""The paper's preparation of features: every feature becomes binary, by rules learnt on the training rows only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from .._typing import Matrix, Vector
from ..errors import InvalidParameterError

BINS = ("quantile", "width")


@dataclass
class Binariser:
    """Turns numbers into indicators of ``n_bins`` bins, and categories into indicators of all but the first category.

    The paper says "equal-sized" bins, which may mean equal width or equal numbers of rows; its numbers of features fit
    both (ringnorm 20 x 4 = 80). A feature with at most ``n_bins`` different numbers has a bin for each of them. Missing
    values have an indicator of their own; a category that was not seen in training has none.
    """

    bins: str = "quantile"
    n_bins: int = 4
    _rules: list[tuple[str, str, Any]] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.bins not in BINS:
            raise InvalidParameterError(f"bins={self.bins!r} is not known; choose one of {list(BINS)}.")

    def fit(self, frame: pd.DataFrame) -> Binariser:
        self._rules = []
        for name in frame:
            column = frame[name]
            if pd.api.types.is_numeric_dtype(column):
                values = np.unique(column.dropna())
                kind = "values" if len(values) <= self.n_bins else "cuts"
                rule = values if kind == "values" else self._cuts(column.dropna().to_numpy(dtype=float))
            else:
                kind, rule = "values", np.array(sorted(column.dropna().astype(str).unique())[1:])
            self._rules.append((str(name), kind, (rule, bool(column.isna().any()))))
        return self

    def _cuts(self, values: Vector) -> Vector:
        parts = np.arange(1, self.n_bins) / self.n_bins
        if self.bins == "quantile":
            return np.unique(np.quantile(values, parts))
        return values.min() + parts * np.ptp(values)

    def transform(self, frame: pd.DataFrame) -> Matrix:
        return np.column_stack([indicator for _, indicator in self._indicators(frame)]).astype(float)

    @property
    def feature_names(self) -> list[str]:
        """One name for each indicator."""
        empty = pd.DataFrame({name: pd.Series(dtype=object) for name, _, _ in self._rules})
        return [name for name, _ in self._indicators(empty)]

    def _indicators(self, frame: pd.DataFrame) -> Any:
        for name, kind, (rule, has_gaps) in self._rules:
            column = frame[name]
            missing = column.isna().to_numpy()
            if kind == "cuts":
                place = np.searchsorted(rule, pd.to_numeric(column, errors="coerce").to_numpy(dtype=float))
                for k in range(len(rule) + 1):
                    yield f"{name} in bin {k}", (place == k) & ~missing
            else:
                given = column.astype(str).to_numpy() if rule.dtype.kind in "UO" else column.to_numpy()
                for value in rule:
                    yield f"{name} = {value}", (given == value) & ~missing
            if has_gaps:
                yield f"{name} is missing", missing
