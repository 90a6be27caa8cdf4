"""Reads the values of a model file, after checking its format and version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ModelFormatError
from .checks import choice, fail, fields, integer, text
from .layout import BODY, FORMAT, HEADER, MAY_LACK, VERSION
from .restoring import StoredEstimator, StoredTrees, restore_classifier, restore_regressor, restore_thinned
from .text import parse
from .version_1 import MODELS, from_version_1


def read_document(content: str) -> StoredEstimator | StoredTrees:
    """The model that a text describes; every value is checked."""
    document = parse(content)
    if type(document) is not dict or document.get("format") != FORMAT:
        fail("", f'is no model of dualboost: it does not begin with {{"format": "{FORMAT}"')
    version = _version(document)
    model = choice(document.get("model"), "model", BODY if version == VERSION else MODELS)
    required = [key for key in BODY[model] if key not in MAY_LACK[model]]
    fields(document, "", (*HEADER, *required), MAY_LACK[model])
    text(document["dualboost_version"], "dualboost_version")
    if version == VERSION:
        return READERS[model](document)
    try:
        return READERS[model](from_version_1(document))
    except ModelFormatError as error:
        raise ModelFormatError(f"{error} (the file is of version 1; the names are those of version 2)") from error


def _version(document: dict[str, Any]) -> int:
    version = integer(document.get("format_version"), "format_version", 1)
    if version > VERSION:
        fail("format_version", f"is {version}, but this dualboost reads up to {VERSION}; install a newer one")
    return version


READERS: dict[str, Callable[[dict[str, Any]], StoredEstimator | StoredTrees]] = {
    "DualBoostClassifier": restore_classifier,
    "DualBoostClassifierCV": restore_classifier,
    "ThinnedTreesClassifier": restore_thinned,
    "DualBoostRegressor": restore_regressor,
    "DualBoostRegressorCV": restore_regressor,
}
"""The function that reads each kind of model."""
