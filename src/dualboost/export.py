"""Exports ensembles to the formats of other libraries."""

from __future__ import annotations

import re

import lightgbm
from sklearn.utils.validation import check_is_fitted

from .errors import UnfittedModelError, UnsupportedModelError
from .estimators.classifier import DualBoostClassifier
from .estimators.regressor import DualBoostRegressor
from .models.fitted import FittedModel
from .trees.lightgbm_text import format_model

NOT_A_NAME = re.compile(r'[\s"\[\]{}:,]')
"""The characters that LightGBM does not allow in the name of a feature."""
OBJECTIVES = {"numbers": "regression", "tube": "regression", "counts": "poisson"}
"""What LightGBM is to make of the scores of regressors, by their task."""


def to_lightgbm(model: DualBoostClassifier | DualBoostRegressor) -> lightgbm.Booster:
    """A fitted ensemble of trees as a LightGBM model, with the intercept as a tree without a split.

    Tools that read LightGBM models can read the result: SHAP's ``TreeExplainer``, converters to ONNX, treelite. Under
    "logistic" the objective is "binary": ``predict`` gives the probability of the second class, and with
    ``raw_score=True`` what ``decision_function`` gives. Under other formulations it is "regression", and ``predict``
    gives ``decision_function``: a margin, whose sign is the class. For more than two classes it is "multiclass":
    ``predict`` gives ``predict_proba``, and with ``raw_score=True`` what ``decision_function`` gives; under other
    formulations than "logistic" both are log-probabilities, or made of these, before the class predicted is made the
    most probable one. LightGBM's leaves have one value each, so that every tree of ours is K trees there, one for each
    of K classes, and the intercepts are K trees more. Of a regressor it is "regression", or "poisson" under that loss:
    ``predict`` gives what ours does, and leaves are in the units of y, or in those of the logarithm of the mean. The
    model takes data frames with categorical columns as ours does. Learners that are not trees cannot be exported.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_lightgbm
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = DualBoostClassifier(max_trees=10).fit(X, y)
    >>> bool(abs(to_lightgbm(clf).predict(X) - clf.predict_proba(X)[:, 1]).max() < 1e-9)
    True
    """
    if not isinstance(model, (DualBoostClassifier, DualBoostRegressor)):
        raise UnsupportedModelError(
            f"model of type {type(model).__name__} must be a fitted DualBoostClassifier or DualBoostRegressor."
        )
    try:
        check_is_fitted(model)
    except Exception as error:
        raise UnfittedModelError("model is not fitted; call its fit before exporting it.") from error
    fitted = model.fitted_
    found = fitted.in_units.scaled_trees()
    if found is None:
        raise UnsupportedModelError("model has learners that are not trees; only trees make a LightGBM model.")
    categories = [known.tolist() for _, known in sorted(fitted.encoder.categories.items())]
    n_outputs = fitted.task.n_outputs
    trees, scales = found
    if n_outputs > 1:
        scales = scales * fitted.calibration.slope
        scales[-n_outputs:] += fitted.calibration.intercepts
    text = format_model(
        trees, scales, fitted.n_features, _names(fitted), categories or None, _objective(fitted), n_outputs
    )
    return lightgbm.Booster(model_str=text)


def _objective(fitted: FittedModel) -> str:
    """What LightGBM is to make of the scores."""
    task = fitted.task
    if not task.has_classes:
        return OBJECTIVES[task.name]
    if task.n_outputs > 1:
        return f"multiclass num_class:{task.n_outputs}"
    return "binary sigmoid:1" if fitted.formulation.has_final_scores else "regression"


def _names(fitted: FittedModel) -> list[str] | None:
    """The names of the columns, if LightGBM allows them."""
    names = [] if fitted.feature_names is None else [str(name) for name in fitted.feature_names]
    return names if names and len(set(names)) == len(names) and not any(map(NOT_A_NAME.search, names)) else None
