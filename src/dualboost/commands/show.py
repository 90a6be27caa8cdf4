"""``dualboost show``: prints a model as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..inspection.classes import class_text
from ..inspection.names import names_of
from ..inspection.rules import class_values, used_trees
from ..inspection.text import draw_tree
from ..loading import load_model
from .models import FILE, description
from .output import JSON, as_json_text, report


@click.command()
@click.argument("model", type=FILE)
@click.option("--rules", "as_rules", is_flag=True, help="One line a rule, the strongest first, instead of trees.")
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="Show no more trees or rules.")
@JSON
def show(model: Path, as_rules: bool, most: int, as_json: bool) -> None:
    """A model's figures, and its trees by weight, or its rules. Leaves that were corrected show their values."""
    fitted = load_model(model)
    if as_json:
        rules = fitted.rules().to_dict("records")
        click.echo(as_json_text(description(fitted) | _classes(fitted) | {"rules": rules}))
        return
    said = {name: ", ".join(map(str, classes)) for name, classes in _classes(fitted).items()}
    report(said | description(fitted), as_json=False)
    click.echo()
    lines = _rules(fitted) if as_rules else _trees(fitted)
    click.echo("\n".join(lines[:most]))
    if len(lines) > most:
        click.echo(f"… and {len(lines) - most} more (--most {len(lines)})")


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
    say = _said_of_numbers if not task.has_classes else _said_of_each if task.n_outputs > 1 else _said_of_two
    says = say(table, fitted)
    return [f"{said}  if {conditions}" for said, conditions in zip(says, table["conditions"], strict=True)]


def _said_of_numbers(table: Any, fitted: Any) -> list[str]:
    return [f"{value:+.4g}" for value in table["weighted_vote"]]


def _said_of_two(table: Any, fitted: Any) -> list[str]:
    signs = np.where(table["vote"] > 0, fitted.classes_[1], fitted.classes_[0])
    return [f"{abs(vote):.4f}  {sign}" for vote, sign in zip(table["weighted_vote"], signs, strict=True)]


def _said_of_each(table: Any, fitted: Any) -> list[str]:
    return [class_text(values, fitted.classes_) for values in class_values(table, fitted.classes_)]
