"""The parameters that hold trees back, named and meant as in scikit-learn: their checks, and the limits they make."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, log2, sqrt
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import require_choice, require_integer
from ..data.merging import TrainingRows
from ..errors import InvalidParameterError
from ..learners import as_learners
from ..learners.base import TreeLimits

if TYPE_CHECKING:
    from .reading import TrainingSet


UNLIMITED = {
    "min_samples_leaf": 1,
    "max_leaf_nodes": None,
    "max_features": None,
    "interaction_cst": None,
    "monotonic_cst": None,
}
"""The parameters that hold trees back, with the values that do not."""
BELOW_ONE = float(np.nextafter(1.0, 0.0))


def require_limits(estimator: Any) -> None:
    """Refuse values that are out of range for any data, and limits that the learner does not keep."""
    _require_number("min_samples_leaf", estimator.min_samples_leaf, "below 1, the share of the rows")
    if estimator.max_leaf_nodes is not None:
        require_integer("max_leaf_nodes", estimator.max_leaf_nodes, least=2)
    if isinstance(estimator.max_features, str):
        require_choice("max_features", estimator.max_features, ["sqrt", "log2"])
    elif estimator.max_features is not None:
        _require_number("max_features", estimator.max_features, "up to 1, the share of the features", most=1.0)
    if estimator.subsample is not None:
        _require_share("subsample", estimator.subsample)
    if isinstance(estimator.interaction_cst, str):
        require_choice("interaction_cst", estimator.interaction_cst, ["pairwise", "no_interactions"])
    for name, value in _limiting(estimator):
        for member in as_learners(estimator.learner):
            if not getattr(member, "takes_limits", False):
                raise InvalidParameterError(
                    f"{name}={value!r} is kept by learner='cart' and 'xgboost' only, but learner is "
                    f"{estimator.learner!r}: leave {name} at {UNLIMITED[name]!r}, or use 'cart'."
                )


def require_for_units(estimator: Any, corrected: str) -> None:
    """Refuse random choices where trees are corrected: a pricing that finds nothing must mean that nothing is left."""
    for name in ("subsample", "max_features"):
        value = getattr(estimator, name)
        if corrected == "weights" and value is not None and not _is_all(value):
            raise InvalidParameterError(
                f"{name}={value!r} draws at random, which is for optimize='leaves': the weights of trees are optimal "
                f"only if every tree is looked for on all rows and features. Leave {name} at None."
            )


def limits_of(estimator: Any, data: TrainingSet, rows: TrainingRows, seed: int) -> TreeLimits:
    """The limits that the parameters ask for on these rows."""
    if not _limiting(estimator):
        return TreeLimits()
    n_features = rows.X.shape[1]
    n_rows = int(data.workers.sum(float(np.count_nonzero(rows.group >= 0))))
    return TreeLimits(
        fewest_rows=_number(estimator.min_samples_leaf, n_rows, ceil),
        most_leaves=None if estimator.max_leaf_nodes is None else int(estimator.max_leaf_nodes),
        n_features=_n_drawn(estimator.max_features, n_features),
        groups=_groups(estimator.interaction_cst, n_features),
        most_together=2 if _is_pairwise(estimator.interaction_cst) else None,
        signs=_signs(estimator.monotonic_cst, data),
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
    if data.target.n_outputs > 1:
        raise InvalidParameterError(
            f"monotonic_cst={value!r} is for one score a row, two classes or numbers, but y has "
            f"{data.target.n_outputs} scores ({', '.join(data.target.output_names)}): leave it at None, or fit "
            "each alone."
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


def _limiting(estimator: Any) -> list[tuple[str, Any]]:
    """The parameters that are not at the value that limits nothing."""
    given = {name: getattr(estimator, name) for name in UNLIMITED}
    if _is_all(given["max_features"]):
        given["max_features"] = None
    return [(name, value) for name, value in given.items() if not _is_same(value, UNLIMITED[name])]


def _is_all(share: Any) -> bool:
    return isinstance(share, Real) and not isinstance(share, Integral) and float(share) == 1.0


def _is_same(value: Any, other: Any) -> bool:
    return value is other or (isinstance(value, Integral) and value == other)


def _require_number(name: str, value: Any, what: str, most: float = BELOW_ONE) -> None:
    is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    if not is_number or not (int(value) >= 1 if isinstance(value, Integral) else 0 < float(value) <= most):
        raise InvalidParameterError(
            f"{name}={value!r} must be an integer of at least 1, or a fraction above 0 and {what}."
        )


def _require_share(name: str, value: Any) -> None:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InvalidParameterError(f"{name}={value!r} must be a number above 0 and up to 1, or None.")


def _number(value: Any, total: int, rounded: Any) -> int:
    """A count as it is, or a share of the total as a count."""
    return int(value) if isinstance(value, Integral) else max(1, int(rounded(float(value) * total)))


def _n_drawn(value: Any, n_features: int) -> int | None:
    """How many features a split is chosen from; None for all of them."""
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
