"""``dualboost formulations``: what can be optimised, for classes and for numbers."""

from __future__ import annotations

import json
from typing import Any

import click

from .options import FORMULATIONS, LOSSES_FOR_NUMBERS

HEADINGS = {"--formulation": "For classes (--formulation):", "--loss": "For numbers (--loss):"}
"""By the option of ``dualboost fit`` that names what there is."""
WIDTH = 2 + max(map(len, FORMULATIONS + LOSSES_FOR_NUMBERS))


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def formulations(as_json: bool) -> None:
    """What each formulation, and each loss for numbers, optimises, what its C means, and when to use it."""
    from .. import formulations as known
    from ..formulations import number_losses

    registries: dict[str, dict[str, Any]] = {"--formulation": known.FORMULATIONS, "--loss": number_losses.NUMBER_LOSSES}
    rows = [
        {
            "name": one.name,
            "option": option,
            "title": one.title,
            "optimises": one.optimises,
            "C": one.meaning_of_C,
            "use": one.use,
        }
        for option, registry in registries.items()
        for one in registry.values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for option, heading in HEADINGS.items():
        click.echo(f"{heading}\n")
        for row in (row for row in rows if row["option"] == option):
            click.echo(f"{row['name']:{WIDTH}}{row['title']}: {row['optimises']}")
            click.echo(f"{'':{WIDTH}}C: {row['C']}")
            click.echo(f"{'':{WIDTH}}{row['use']}\n")
