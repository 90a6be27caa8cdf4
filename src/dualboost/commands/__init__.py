"""The commands of the command line; a new command joins by one line."""

from __future__ import annotations

from importlib import import_module

import click
from click.shell_completion import CompletionItem

from .._version import __version__

COMMANDS = {
    "fit": (".fitting", "Fit a model to a table."),
    "predict": (".definitions", "Predict the rows of a table."),
    "evaluate": (".definitions", "Compare a model's predictions with the labels of a table."),
    "thin": (".definitions", "Drop most of a model's trees and keep its accuracy."),
    "export": (".definitions", "Write a model as C, SQL, ONNX or a LightGBM model."),
    "show": (".definitions", "A model's trees, or its rules, as text."),
    "formulations": (".definitions", "What can be optimised, and when to use it."),
    "study": ("dualboost_study.commands", "Rerun the published evaluation."),
    "completion": (".definitions", "The script that makes a shell complete our commands."),
}
"""The module of each command, and what the command does, so that listing the commands imports no module."""


class LazyGroup(click.Group):
    """Imports a command only when it is called, so that help and completion are fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(COMMANDS[cmd_name][0], __package__), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [name for name in COMMANDS if name.startswith(incomplete)]
        items = [CompletionItem(name, help=COMMANDS[name][1]) for name in names]
        return items + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.version_option(__version__)
def dualboost(debug: bool) -> None:
    """Small, accurate tree ensembles by totally corrective boosting."""
