"""Features cut into bins, which give the candidate splits of the trees that are not grown by LightGBM."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Vector
from ..workers import ALONE, Communicator
from ..workers.exchange import objects_of_all
from .cuts import cuts_by_all
from .growing import Split
from .tree import column_values

MOST_CUTS = 255
"""A numeric feature has at most this many cuts."""


class Bins:
    """For each feature, the bin of every row and the splits between bins.

    A numeric feature is cut between neighbouring values: at all of them if there are at most ``n_cuts``, else at
    quantiles. A categorical feature has a split for each category, against all others. If a numeric feature has missing
    values, there is a split of missing against known values, and two splits for every cut: missing values may go to
    either side.
    """

    def __init__(
        self, X: Features, categorical: list[int], n_cuts: int = MOST_CUTS, workers: Communicator = ALONE
    ) -> None:
        self._workers = workers
        self.codes: list[NDArray[np.signedinteger]] = []
        """The bin of every row, one array for each feature; the last bin is that of missing values."""
        self.splits: list[list[Split]] = []
        """The splits, one list for each feature. The k-th split sends the bins up to k left, or for categories bin k
        only; the splits that send missing values left come last."""
        self.is_categorical: list[bool] = []
        self._n_missing_right: list[int] = []
        numeric = [feature for feature in range(X.shape[1]) if feature not in categorical]
        cuts = dict(zip(numeric, cuts_by_all(X, numeric, n_cuts, workers), strict=True))
        for feature in range(X.shape[1]):
            values = column_values(X, feature, slice(None))
            if feature in categorical:
                self._add_categories(feature, values)
            else:
                self._add_numbers(feature, values, cuts[feature])

    @property
    def n_splits(self) -> int:
        return sum(len(splits) for splits in self.splits)

    def goes_left(self, feature: int, k: int, rows: NDArray[np.intp] | slice = slice(None)) -> NDArray[np.bool_]:
        """Which of the rows the k-th split of a feature sends left."""
        codes, n = self.codes[feature][rows], self._n_missing_right[feature]
        if self.is_categorical[feature]:
            return codes == k
        return codes <= k if k < n else (codes <= k - n) | (codes == n)

    def left_sums(self, feature: int, s: Vector, rows: NDArray[np.intp] | slice) -> Vector:
        """The sum of s over the rows that go left, for every split of a feature."""
        sums = np.bincount(self.codes[feature][rows], weights=s[rows], minlength=self.n_bins(feature)).astype(float)
        return self.left_of(feature, sums[:, None])[:, 0]

    def n_bins(self, feature: int) -> int:
        return self._n_missing_right[feature] + 1

    def left_of(self, feature: int, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums over the rows that go left, for every split of a feature, given those of its bins.

        Bins, and splits, are the last axis but one; the last axis is for several sums of the same bins.
        """
        n, n_both = self._n_missing_right[feature], len(self.splits[feature]) - self._n_missing_right[feature]
        if self.is_categorical[feature]:
            return sums[..., :n, :]
        below = np.cumsum(sums, axis=-2)[..., :n, :]
        if not n_both:
            return below
        return np.concatenate([below, below[..., :n_both, :] + sums[..., n : n + 1, :]], axis=-2)

    def _add_numbers(self, feature: int, values: Vector, cuts: Vector) -> None:
        missing = np.isnan(values)
        codes = np.searchsorted(cuts, values)
        splits = [Split(feature, float(cut)) for cut in cuts]
        to_left: list[Split] = []
        has_missing, has_known = self._workers.max(np.array([missing.any(), not missing.all()], dtype=float)) > 0
        if has_missing and has_known:
            codes[missing] = len(cuts) + 1
            splits.append(Split(feature))
            to_left = [Split(feature, float(cut), missing_left=True) for cut in cuts]
        self._n_missing_right.append(len(splits))
        self._add(codes, splits + to_left, is_categorical=False)

    def _add_categories(self, feature: int, values: Vector) -> None:
        missing = np.isnan(values)
        own = np.where(missing, np.inf, values)
        kinds = np.unique(np.concatenate(objects_of_all(self._workers, np.unique(own))))
        codes, known = np.searchsorted(kinds, own), kinds[np.isfinite(kinds)]
        self._n_missing_right.append(len(known))
        self._add(codes, [Split(feature, category=int(kind)) for kind in known], is_categorical=True)

    def _add(self, codes: NDArray[np.intp], splits: list[Split], is_categorical: bool) -> None:
        self.codes.append(codes.astype(np.promote_types(np.int16, np.min_scalar_type(-len(splits) - 1))))
        self.splits.append(splits)
        self.is_categorical.append(is_categorical)
