"""Reads model files back into estimators."""

from __future__ import annotations

import os
from typing import Any

from .errors import InvalidParameterError, ModelFormatError
from .estimators.classifier import DualBoostClassifier
from .estimators.cross_validation import DualBoostClassifierCV, DualBoostRegressorCV
from .estimators.regressor import DualBoostRegressor
from .model_file.checks import fail, read_file
from .model_file.reading import StoredEstimator, StoredTrees, read_document
from .thinning.tree_model import ThinnedTreesClassifier

ESTIMATORS: dict[str, type[DualBoostClassifier | DualBoostRegressor]] = {
    kind.__name__: kind
    for kind in (DualBoostClassifier, DualBoostClassifierCV, DualBoostRegressor, DualBoostRegressorCV)
}


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that ``save`` wrote, with the same predictions; no code in the file is run.

    The estimator can predict, and be thinned, exported, cloned and saved again. A file does not hold the ``duals_`` nor
    the learners of weight zero, so that ``weights_`` and ``estimators_`` contain only the other learners, and staged
    predictions are not available.

    >>> import dualboost, tempfile, os
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = dualboost.DualBoostClassifier(max_trees=10).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(os.path.join(folder, "model.json"))
    ...     loaded = dualboost.load_model(os.path.join(folder, "model.json"))
    >>> bool((loaded.predict_proba(X) == clf.predict_proba(X)).all())
    True
    """
    try:
        return read_model(read_file(path))
    except ModelFormatError as error:
        raise ModelFormatError(f"{os.fspath(path)}: {error}") from error


def read_model(content: str) -> Any:
    """The estimator that a text describes."""
    stored = read_document(content)
    return _thinned(stored) if isinstance(stored, StoredTrees) else _estimator(stored)


def _estimator(stored: StoredEstimator) -> DualBoostClassifier | DualBoostRegressor:
    try:
        return ESTIMATORS[stored.kind](**stored.parameters).with_fitted(stored.fitted)
    except InvalidParameterError as error:
        fail("parameters", f"are refused: {error}")


def _thinned(stored: StoredTrees) -> ThinnedTreesClassifier:
    model = ThinnedTreesClassifier(
        stored.trees, stored.weights, stored.intercept, stored.classes, stored.features.count
    )
    if stored.features.names is not None:
        model.feature_names_in_ = stored.features.names
    model.truths = stored.features.truths
    return model
