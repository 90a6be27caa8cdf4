"""``dualboost show``: prints a model as text."""

from __future__ import annotations

from pathlib import Path

import click

from .options import FILE, JSON


@click.command()
@click.argument("model", type=FILE)
@click.option("--rules", "as_rules", is_flag=True, help="One line a rule, the strongest first, instead of trees.")
@click.option("--most", type=click.IntRange(1), default=20, show_default=True, help="Show no more trees or rules.")
@JSON
def show(model: Path, as_rules: bool, most: int, as_json: bool) -> None:
    """A model's figures, and its trees by weight, or its rules. Leaves that were corrected show their values."""
    from .models import load
    from .shown import show_as_json, show_as_text

    fitted = load(model)
    show_as_json(fitted) if as_json else show_as_text(fitted, as_rules, most)
