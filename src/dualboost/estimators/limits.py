"""The limits of trees, by parameters that are named as in scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log2, sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.merging import TrainingRows
from ..errors import InvalidParameterError
from ..learners.base import TreeLimits
from ..parameters import parameters_of

if TYPE_CHECKING:
    from .reading import TrainingSet


DEFAULTS = {
    name: parameter.default
    for kind in ("DualBoostRegressor", "DualBoostClassifier")
    for name, parameter in parameters_of(kind).items()
}
LIMITS = ("min_samples_leaf", "max_leaf_nodes", "max_features", "interaction_cst", "monotonic_cst")
"""The parameters that hold trees back."""


def has_effect(name: str, value: Any) -> bool:
    """Whether a parameter that may be left at its default has a value with another effect."""
    default = DEFAULTS[name]
    if value is default or (np.isscalar(value) and value == default):
        return False
    if name == "monotonic_cst" and isinstance(value, (dict, list, tuple, np.ndarray)):
        signs = value.values() if isinstance(value, dict) else value
        return not all(np.isscalar(sign) and sign == 0 for sign in signs)
    is_all = isinstance(value, Real) and float(value) == 1.0
    if name == "max_features":
        return not is_all or isinstance(value, Integral)  # 1 is one feature, 1.0 all of them
    return name != "subsample" or not is_all


def limits_of(estimator: Any, data: TrainingSet, rows: TrainingRows, seed: int) -> TreeLimits:
    """The limits of trees on these rows."""
    signs = _signs(estimator.monotonic_cst, data)
    if not any(has_effect(name, getattr(estimator, name)) for name in LIMITS):
        return TreeLimits()
    n_features = rows.X.shape[1]
    n_rows = int(data.workers.sum(float(np.count_nonzero(rows.group >= 0))))
    return TreeLimits(
        fewest_rows=_number(estimator.min_samples_leaf, n_rows, ceil),
        most_leaves=None if estimator.max_leaf_nodes is None else int(estimator.max_leaf_nodes),
        n_features=_n_drawn(estimator.max_features, n_features),
        groups=_groups(estimator.interaction_cst, n_features),
        most_together=2 if _is_pairwise(estimator.interaction_cst) else None,
        signs=signs,
        seed=seed,
    )


def _signs(value: Any, data: TrainingSet) -> tuple[int, ...] | None:
    """For each feature 1, -1 or 0; None where all are 0."""
    if value is None:
        return None
    signs = _signs_by_name(value, data) if isinstance(value, dict) else _signs_in_order(value, data)
    if not any(signs):
        return None
    for k in data.encoder.categories:
        if signs[k]:
            raise InvalidParameterError(
                f"monotonic_cst={value!r} is not for feature {k}, which has categories: these have no order."
            )
    return tuple(signs)


def _signs_in_order(value: Any, data: TrainingSet) -> list[int]:
    entries, n_features = np.asarray(value).tolist() if np.ndim(value) == 1 else None, data.features.shape[1]
    if entries is None or len(entries) != n_features or not all(_is_sign(entry) for entry in entries):
        raise InvalidParameterError(
            f"monotonic_cst={value!r} must have 1, -1 or 0 for each of the {n_features} features, or be a dict by name."
        )
    return [int(entry) for entry in entries]


def _signs_by_name(value: dict[Any, Any], data: TrainingSet) -> list[int]:
    names = [] if data.feature_names is None else data.feature_names.tolist()
    for name, sign in value.items():
        if name not in names:
            known = f"the features are {names}" if names else "X has no names of features: give a list"
            raise InvalidParameterError(f"monotonic_cst={value!r} names {name!r}, but {known}.")
        if not _is_sign(sign):
            raise InvalidParameterError(f"monotonic_cst[{name!r}]={sign!r} must be 1, -1 or 0.")
    return [int(value.get(name, 0)) for name in names]


def _is_sign(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and float(value) in (-1.0, 0.0, 1.0)


def _number(value: Any, total: int, rounded: Any) -> int:
    """A count as it is, or a share of the total as a count."""
    return int(value) if isinstance(value, Integral) else max(1, int(rounded(float(value) * total)))


def _n_drawn(value: Any, n_features: int) -> int | None:
    """The number of features that a split is chosen from; None for all."""
    if value is None:
        return None
    if isinstance(value, str):
        drawn = max(1, int({"sqrt": sqrt, "log2": log2}[value](n_features)))
    else:
        drawn = _number(value, n_features, int)
    if drawn > n_features:
        raise InvalidParameterError(
            f"max_features={value!r}, but X has {n_features} features: give at most as many, or a fraction."
        )
    return drawn if drawn < n_features else None


def _is_pairwise(value: Any) -> bool:
    """Whether any two features may be on one path."""
    return isinstance(value, str) and value == "pairwise"


def _groups(value: Any, n_features: int) -> tuple[frozenset[int], ...] | None:
    """The sets of features that may be on one path; features of no set make one more."""
    if value is None or _is_pairwise(value):
        return None
    if isinstance(value, str):
        return tuple(frozenset({k}) for k in range(n_features))
    groups = [_group(entry, n_features, value) for entry in _entries(value, value)]
    left = frozenset(range(n_features)).difference(*groups)
    return (*groups, left) if left else tuple(groups)


def _group(entry: Any, n_features: int, value: Any) -> frozenset[int]:
    features = _entries(entry, value)
    if not all(isinstance(k, Integral) and not isinstance(k, (bool, np.bool_)) for k in features):
        raise _not_groups(value)
    beyond = [k for k in features if not 0 <= k < n_features]
    if beyond:
        raise InvalidParameterError(
            f"interaction_cst={value!r} names feature {beyond[0]}, but X has the features 0 to {n_features - 1}."
        )
    return frozenset(int(k) for k in features)


def _entries(collection: Any, value: Any) -> list[Any]:
    if isinstance(collection, str) or not isinstance(collection, Iterable):
        raise _not_groups(value)
    return list(collection)


def _not_groups(value: Any) -> InvalidParameterError:
    return InvalidParameterError(
        f"interaction_cst={value!r} must be 'pairwise', 'no_interactions', None, or sets of positions of features, "
        "such as [{0, 1}, {2, 3, 4}]."
    )
