"""From what users pass in (arrays, data frames, sparse matrices) to the encoded features that learners see."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._typing import Features
from ..errors import DataWarning, InvalidDataError

ENOUGH_TO_TELL = 10
"""If a column has at least this many values and none is a known category, its type has probably changed."""


@dataclass
class FeatureEncoder:
    """Turns pandas categorical columns into codes; all other columns are numeric already.

    A category that was not seen in training becomes a missing value.
    """

    categories: dict[int, Any] = field(default_factory=dict)

    def fit(self, X: Any) -> FeatureEncoder:
        self.categories = {}
        if _is_frame(X):
            for position, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
                if hasattr(dtype, "categories"):
                    self.categories[position] = dtype.categories
                elif dtype.kind in "OSUMm":
                    raise InvalidDataError(
                        f"X has a column {name!r} of type {dtype}: convert it to numbers or to the type 'category'."
                    )
        return self

    def transform(self, X: Any) -> Any:
        """X with codes in place of categories; scikit-learn has still to validate it."""
        if not self.categories or not _is_frame(X):
            return X
        X = X.copy(deep=False)
        for position, categories in self.categories.items():
            if position >= X.shape[1]:
                break
            column = X.iloc[:, position]
            values = _as_categories(np.asarray(column.astype(object)), column.isna().to_numpy(), categories)
            codes = categories.get_indexer(values).astype(float)
            if (codes < 0).all() and column.notna().sum() >= ENOUGH_TO_TELL:
                _warn_unknown(column)
            X.isetitem(position, np.where(codes < 0, np.nan, codes))
        return X


def _as_categories(values: NDArray[Any], is_missing: NDArray[np.bool_], categories: Any) -> NDArray[Any]:
    """The values as text if all categories are text: a boolean or a number may have been text in training."""
    if not all(isinstance(known, str) for known in categories):
        return values
    return np.array([value if gap else str(value) for value, gap in zip(values, is_missing, strict=True)], dtype=object)


def _warn_unknown(column: Any) -> None:
    value = column.dropna().iloc[0]
    warnings.warn(
        f"No value of column {column.name!r} (such as {value!r}) is a category that was seen in training: all of them "
        "count as missing.",
        DataWarning,
        stacklevel=4,
    )


def as_features(X: Any) -> Features:
    """A dense array unchanged, or a sparse matrix as CSC without duplicates and explicit zeros."""
    if not sparse.issparse(X):
        return X
    X = sparse.csc_matrix(X, copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def has_missing(X: Features) -> NDArray[np.bool_]:
    """Whether each feature has a missing value."""
    smallest = X.min(axis=0)  # nan if any value is nan; unlike isnan(X), this makes no array as large as X
    return np.isnan(smallest.toarray().ravel() if sparse.issparse(X) else smallest)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes") and hasattr(X, "isetitem")
