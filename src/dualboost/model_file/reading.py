"""From a model file to a fitted estimator."""

from __future__ import annotations

import os
from typing import Any

from ..errors import ModelFormatError
from .checks import choice, fail, fields, integer, text
from .files import read_file
from .layout import BODY, FORMAT, HEADER, VERSION
from .restoring import restore_classifier, restore_thinned
from .text import parse


def load_model(path: str | os.PathLike[str]) -> Any:
    """The estimator that ``save`` wrote, with the same predictions; no code in the file is run.

    It predicts, scores, is thinned, exported, cloned and saved again. Not stored are learners of weight zero, so that
    ``weights_`` and ``estimators_`` hold the others only and there are no stages, and the ``duals_``.

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
    document = parse(content)
    if type(document) is not dict or document.get("format") != FORMAT:
        fail("", f'is no model of dualboost: it does not begin with {{"format": "{FORMAT}"')
    _require_version(document)
    model = choice(document.get("model"), "model", BODY)
    fields(document, "", (*HEADER, *BODY[model]))
    text(document["dualboost_version"], "dualboost_version")
    return restore_thinned(document) if model == "ThinnedTreesClassifier" else restore_classifier(document)


def _require_version(document: dict[str, Any]) -> None:
    version = document.get("format_version")
    if integer(version, "format_version", 1) > VERSION:
        fail("format_version", f"is {version}, but this dualboost reads up to {VERSION}; install a newer one")
