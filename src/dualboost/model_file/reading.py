"""From a model file to the values it holds."""

from __future__ import annotations

from typing import Any

from .checks import choice, fail, fields, integer, text
from .layout import BODY, FORMAT, HEADER, VERSION
from .restoring import StoredClassifier, StoredTrees, restore_classifier, restore_thinned
from .text import parse


def read_document(content: str) -> StoredClassifier | StoredTrees:
    """What a text describes, every value of it checked."""
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
