"""The rows that ensembles are judged on, and the models that are thinned for it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing, check_random_state

from .._typing import Integers, Vector
from ..data.merging import hold_out
from ..data.tables import as_table
from ..errors import DualBoostError, InvalidDataError, InvalidParameterError
from ..estimators.parameters import as_sample_weight, weights_by_class
from .adapters import adapter_for
from .base import Adapter
from .rows import ModelRows


def read_rows(adapter: Adapter, X: Any, y: Any, sample_weight: Any) -> ModelRows:
    """The rows whose ``sample_weight`` is positive."""
    labels = adapter.target.encode(y, _require_same_columns(adapter, X))
    given = as_sample_weight(sample_weight, len(labels))
    factors = _class_factors(adapter, labels, given)
    counts = given * factors
    try:
        rows = adapter.rows(X, labels, counts)
    except DualBoostError:
        raise
    except Exception as error:
        raise InvalidDataError(f"The model cannot predict on X: {error}") from error
    rows = replace(rows, has_class_weights=bool((factors != factors[0]).any()))
    return rows if counts.all() else rows.part(counts > 0)


def _class_factors(adapter: Adapter, labels: Vector, counts: Vector) -> Vector:
    """For each row the weight of its class that the model was trained with, so that it keeps its aim."""
    weights = np.ones(len(counts))
    if not adapter.target.has_classes:
        return weights
    balanced, groups = counts if adapter.balances_weights else np.ones(len(counts)), adapter.target.groups(labels)
    for class_weight in adapter.class_weights.given:
        factors = weights_by_class(class_weight, adapter.target, labels, balanced)
        weights = weights if factors is None else weights * factors[groups]
    return weights


def read_validation(adapter: Adapter, validation_data: Any) -> Any:
    """The rows of ``validation_data``, if given."""
    if validation_data is None:
        return None
    if not isinstance(validation_data, (tuple, list)) or len(validation_data) not in (2, 3):
        raise InvalidParameterError(
            f"validation_data of type {type(validation_data).__name__} must be a tuple (X, y) or (X, y, sample_weight)."
        )
    X, y, *weights = validation_data
    try:
        return read_rows(adapter, X, y, weights[0] if weights else None)
    except InvalidDataError as error:
        raise InvalidDataError(f"In validation_data: {error}") from error


def _require_same_columns(adapter: Adapter, X: Any) -> int:
    """The number of rows of X; refuses columns other than the model's."""
    expected, names = adapter.n_features, adapter.feature_names
    shape = getattr(X, "shape", None) or np.shape(X)
    if len(shape) != 2:
        raise InvalidDataError(
            f"X of type {type(X).__name__} and shape {tuple(shape)} must be a table of rows and columns: an array or a "
            "data frame."
        )
    if not shape[0]:
        raise InvalidDataError("X has no rows.")
    if expected is not None and shape[1] != expected:
        raise InvalidDataError(
            f"X has {shape[1]} columns, but the model was trained on {expected}; pass the same ones in the same order."
        )
    table = as_table(X)
    if names is not None and table is not None and table.has_names:
        given = [str(name) for name in table.names]
        different = [(a, b) for a, b in zip(given, names, strict=True) if a != b]
        if different:
            raise InvalidDataError(
                f"X has a column {different[0][0]!r} where the model was trained on {different[0][1]!r}; pass the same "
                "columns in the same order."
            )
    return int(shape[0])


# A model looks better on the rows it was trained on than it is, and so do its trees. So where no other rows are
# given, a model like it is trained on a part of the rows, thinned there, and judged on the rest, in turn for each
# part: the size that such models need is the size that the given model is thinned to.

FOLDS = 3
"""How many parts the rows are divided into."""
MOST_ROWS = 30_000
"""Of more rows than this, a sample is divided: training the model again must not take much longer than before."""
HELD_OUT = 0.2
"""The share of the rows to judge on where the model cannot be trained again."""
FOLDS_SEED = 0
"""The order in which rows are dealt to the parts if no ``random_state`` is given, so that results are reproducible."""


class Trial(NamedTuple):
    """A model, the rows to fit its smaller ensembles to, and the rows to judge them on."""

    adapter: Adapter
    training: ModelRows
    judged: ModelRows


class Trials(NamedTuple):
    """All trials, and in words what they are judged on."""

    trials: Sequence[Trial]
    judged_on: str
    is_honest: bool
    """Whether the models have not seen the rows that they are judged on."""


def make_trials(
    adapter: Adapter, rows: ModelRows, others: Any, random_state: Any, data: tuple[Any, Any, Any] | None = None
) -> Trials:
    """The rows to compare ensembles on.

    ``others`` are rows, the share of rows to hold out, "auto", or None. ``data`` are X, y and the sample weights if
    models may be trained on these.
    """
    if others is None:
        words = "the rows of X that ensembles are fitted to"
        return Trials([Trial(adapter, rows, rows)], words, is_honest=False)
    if isinstance(others, ModelRows):
        words = f"validation_data ({len(others.labels)} rows)"
        return Trials([Trial(adapter, rows, others)], words, is_honest=True)
    if isinstance(others, Real):
        return held_out(adapter, rows, float(others), random_state)
    found = folds(adapter, *data, random_state) if data is not None else ""
    if isinstance(found, Trials):
        return found
    return held_out(adapter, rows, HELD_OUT, random_state, found and f" ({found})")


def held_out(adapter: Adapter, rows: ModelRows, fraction: float, random_state: Any, why: str = "") -> Trials:
    """A part of the rows, which the model itself may have been trained on."""
    groups = adapter.target.groups(rows.labels)
    held = hold_out(groups, rows.counts, fraction, check_random_state(random_state))
    is_held = np.zeros(len(rows.labels), dtype=bool)
    is_held[held] = True
    words = f"{len(held)} rows of X held out, which the model may have been trained on{why}"
    return Trials([Trial(adapter, rows.part(~is_held), rows.part(is_held))], words, is_honest=False)


def folds(adapter: Adapter, X: Any, y: Any, sample_weight: Any, random_state: Any) -> Trials | str:
    """Models like the given one, trained on all folds but one and judged on that one; or why there are none."""
    if adapter.fresh() is None:
        return "it cannot be trained again"
    labels = np.asarray(y).ravel()
    counts = as_sample_weight(sample_weight, len(labels))
    seed = FOLDS_SEED if random_state is None else random_state
    strata = labels if adapter.target.has_classes else None
    present = _sampled(np.flatnonzero(counts > 0), strata, seed)
    if obstacle := _too_few(adapter, labels[present]):
        return obstacle
    kind = KFold if strata is None else StratifiedKFold
    trials = []
    for train, test in kind(FOLDS, shuffle=True, random_state=seed).split(present, labels[present]):
        try:
            trials.append(_trial(adapter, X, labels, counts, present[train], present[test]))
        except Exception as error:  # other libraries raise anything
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            return f"training it again failed: {reason[:200]}"
    words = f"{FOLDS} folds of X ({len(present)} rows), by models like this one trained on the other folds"
    return Trials(trials, words, is_honest=True)


def _too_few(adapter: Adapter, labels: NDArray[Any]) -> str:
    if not adapter.target.has_classes:
        return "" if len(labels) >= 2 * FOLDS else f"it has fewer than {2 * FOLDS} rows"
    classes, sizes = np.unique(labels, return_counts=True)
    if len(classes) < len(adapter.classes):
        return "a class of the model has no rows"
    return f"a class has fewer than {FOLDS} rows" if sizes.min() < FOLDS else ""


def _trial(given: Adapter, X: Any, y: NDArray[Any], counts: NDArray[Any], train: Integers, test: Integers) -> Trial:
    weights = {} if (counts[train] == 1).all() else {"sample_weight": counts[train]}
    part, fresh = _safe_indexing(X, train), given.fresh()
    assert fresh is not None, "such models are refused before"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the user has seen the warnings of this model
        model = fresh.fit(part, y[train], **weights)
    adapter = adapter_for(model)
    adapter.cut = given.cut  # CatBoost's can be moved after training
    training = read_rows(adapter, part, y[train], counts[train])
    return Trial(adapter, training, read_rows(adapter, _safe_indexing(X, test), y[test], counts[test]))


def _sampled(present: Integers, strata: NDArray[Any] | None, seed: Any) -> Integers:
    if len(present) <= MOST_ROWS:
        return present
    present_strata = None if strata is None else strata[present]
    kept, _ = train_test_split(present, train_size=MOST_ROWS, stratify=present_strata, random_state=seed)
    return np.sort(kept)
