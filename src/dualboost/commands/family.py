"""``dualboost formulations``: what can be optimised."""

from __future__ import annotations

import json

import click

from ..formulations import FORMULATIONS


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def formulations(as_json: bool) -> None:
    """What each formulation optimises, what its C means, and when to use it."""
    rows = [
        {"name": one.name, "title": one.title, "optimises": one.optimises, "C": one.meaning_of_C, "use": one.use}
        for one in FORMULATIONS.values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(f"{row['name']:10}{row['title']}: {row['optimises']}")
        click.echo(f"{'':10}C: {row['C']}")
        click.echo(f"{'':10}{row['use']}\n")
