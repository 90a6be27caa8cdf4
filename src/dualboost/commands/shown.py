"""A model as text: its trees, or its rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inspection.classes import class_text, quantile_text
from ..inspection.names import names_of
from ..inspection.rules import class_values, used_trees
from ..inspection.text import draw_tree
from .models import description
from .output import as_json_text, echo, report


def show_as_json(fitted: Any) -> None:
    """Print the figures and the rules as one JSON object."""
    rules = fitted.rules().to_dict("records")
    echo(as_json_text(description(fitted) | _classes(fitted) | {"rules": rules}))


def show_as_text(fitted: Any, as_rules: bool, most: int) -> None:
    """Print the figures, and the first trees or rules."""
    said = {name: ", ".join(map(str, classes)) for name, classes in _classes(fitted).items()}
    report(said | _certificate_or_why_not(description(fitted)), as_json=False)
    echo()
    lines = _rules(fitted) if as_rules else _trees(fitted)
    echo("\n".join(lines[:most]))
    if len(lines) > most:
        echo(f"… and {len(lines) - most} more (--most {len(lines)})")


def _certificate_or_why_not(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures; those of a thinned model, which solves no programme of its own, without objective and gap."""
    if not np.isnan(figures["gap"]):
        return figures
    others = {name: value for name, value in figures.items() if name not in ("objective", "gap")}
    return others | {"certificate": "none: the model was thinned"}


def _classes(fitted: Any) -> dict[str, Any]:
    """The classes; nothing for a regressor."""
    return {"classes": fitted.classes_} if fitted.fitted_.task.has_classes else {}


def _trees(fitted: Any) -> list[str]:
    """Each tree with its share of all weights, or with the values of its leaves; the largest first."""
    trees, names, ensemble = used_trees(fitted.fitted_, "show"), names_of(fitted.fitted_), fitted.fitted_.in_units
    scales, classes = ensemble.scales(), names.classes
    order = sorted(trees, key=lambda j: (-scales[j], j))
    if ensemble.is_normalised:
        return [f"tree {j}, weight {scales[j]:.4f}\n{draw_tree(trees[j], names, classes)}" for j in order]
    valued = {j: trees[j].with_votes(scales[j] * trees[j].votes) for j in order}
    return [f"tree {j}, values up to {scales[j]:.4g}\n{draw_tree(valued[j], names, classes)}" for j in order]


def _rules(fitted: Any) -> list[str]:
    table = fitted.rules()
    task = fitted.fitted_.task
    of_one = _said_of_two if task.has_classes else _said_of_numbers
    of_several = _said_of_each if task.has_classes else _said_of_quantiles
    says = (of_several if task.n_outputs > 1 else of_one)(table, fitted)
    return [f"{said}  if {conditions}" for said, conditions in zip(says, table["conditions"], strict=True)]


def _said_of_numbers(table: Any, fitted: Any) -> list[str]:
    return [f"{value:+.4g}" for value in table["weighted_vote"]]


def _said_of_two(table: Any, fitted: Any) -> list[str]:
    first, second = names_of(fitted.fitted_).classes
    signs = np.where(table["vote"] > 0, second, first)
    return [f"{abs(vote):.4f}  {sign}" for vote, sign in zip(table["weighted_vote"], signs, strict=True)]


def _said_of_quantiles(table: Any, fitted: Any) -> list[str]:
    names = fitted.fitted_.task.output_names
    return [quantile_text(values, names) for values in class_values(table, names)]


def _said_of_each(table: Any, fitted: Any) -> list[str]:
    shown = names_of(fitted.fitted_).classes
    return [class_text(values, shown) for values in class_values(table, fitted.fitted_.task.output_names)]
