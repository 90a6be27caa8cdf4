"""The commands of the command line: our own, and the commands that other packages declare."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from .._version import __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS = {
    "fit": (".fitting", "Fit a model to a table."),
    "predict": (".definitions", "Predict the rows of a table."),
    "evaluate": (".definitions", "Compare a model's predictions with the labels of a table."),
    "thin": (".definitions", "Drop most of a model's trees and keep its accuracy."),
    "export": (".definitions", "Write a model as C, SQL, ONNX or a LightGBM model."),
    "show": (".definitions", "A model's trees, or its rules, as text."),
    "formulations": (".definitions", "What can be optimised, and when to use it."),
    "completion": (".definitions", "The script that makes a shell complete our commands."),
}
"""The module and the help of each of our commands; a list of the commands imports no module."""
GROUP = "dualboost.commands"
"""The entry points by which another package declares a command. The module should import little: help loads it."""


def declared_commands() -> dict[str, EntryPoint]:
    """The commands of other packages; our own names cannot be replaced."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP) if point.name not in COMMANDS}


def _load(point: EntryPoint) -> click.Command:
    command = point.load()
    if not isinstance(command, click.Command):
        raise TypeError(f"{point.value} is no click command")
    return command


def _help_of(point: EntryPoint) -> str:
    try:
        return _load(point).get_short_help_str(limit=80)
    except Exception as error:
        return f"Not available: {type(error).__name__}."


class LazyGroup(click.Group):
    """Imports a command only when it is called, so that help and completion are fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *declared_commands()]

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = getattr(import_module(COMMANDS[cmd_name][0], __package__), cmd_name)
            return command
        point = declared_commands().get(cmd_name)
        if point is None:
            return None
        try:
            return _load(point)
        except Exception as error:
            if ctx is not None and ctx.resilient_parsing:  # a shell requests completions
                return None
            from ..errors import MissingDependencyError

            raise MissingDependencyError(
                f"The command {cmd_name!r} of {point.value} cannot be loaded: {type(error).__name__}: {error}. "
                "Install or update the package that declares it."
            ) from error

    def _help_texts(self, prefix: str = "") -> list[tuple[str, str]]:
        own = [(name, text) for name, (_, text) in COMMANDS.items() if name.startswith(prefix)]
        return own + [(name, _help_of(point)) for name, point in declared_commands().items() if name.startswith(prefix)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self._help_texts())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        items = [CompletionItem(name, help=text) for name, text in self._help_texts(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.version_option(__version__)
def dualboost(debug: bool) -> None:
    """Small, accurate tree ensembles by totally corrective boosting."""
