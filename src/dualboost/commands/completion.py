"""``dualboost completion``: the script that makes a shell complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell: eval "$(dualboost completion bash)"."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.ClickException(f"click has no completion for {shell}.")
    root = context.find_root()
    click.echo(kind(root.command, {}, "dualboost", "_DUALBOOST_COMPLETE").source())
