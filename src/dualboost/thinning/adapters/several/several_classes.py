"""Which of scikit-learn's models have several classes."""

from __future__ import annotations

from typing import Any


def has_several_classes(model: Any) -> bool:
    """Whether the model is fitted, to one output of more than two classes."""
    classes = getattr(model, "classes_", ())
    return not isinstance(classes, list) and len(classes) > 2
