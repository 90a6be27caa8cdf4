"""Checks and small facts of a model that every adapter needs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..errors import UnfittedModelError, UnsupportedModelError


def require_fitted(model: Any) -> None:
    """Raise an error for a scikit-learn estimator that has not been fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise unfitted(model) from error


def unfitted(model: Any) -> UnfittedModelError:
    return UnfittedModelError(f"model {type(model).__name__} is not fitted; call its fit before thinning it.")


def two_classes(model: Any) -> NDArray[Any]:
    """The classes of a fitted classifier, which must be two."""
    classes = model.classes_
    if isinstance(classes, list) or len(classes) != 2:
        n = f"{len(classes)} outputs" if isinstance(classes, list) else f"{len(classes)} classes"
        raise UnsupportedModelError(
            f"model {type(model).__name__} has {n}; models of this kind can be thinned if they have two classes. With "
            "more classes these can: XGBoost, LightGBM, CatBoost, scikit-learn's forests, bagging and gradient "
            "boosting, DualBoostClassifier."
        )
    return np.asarray(classes)


def pickled_bytes(model: Any) -> int:
    """The size of a model that is saved by pickle (or joblib)."""
    return len(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))


def names_of(model: Any) -> list[str] | None:
    """The column names that a scikit-learn estimator was fitted with, if any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def require_one_output(model: Any, n_outputs: int) -> None:
    """Raise an error for a regressor of several numbers a row."""
    if n_outputs != 1:
        raise UnsupportedModelError(
            f"model {type(model).__name__} predicts {n_outputs} numbers for each row; regressors of one number can be "
            "thinned: train one for each."
        )
