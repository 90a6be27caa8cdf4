"""The command line: ``dualboost study …``."""

from __future__ import annotations

import sys
from typing import Any

from .errors import DualBoostError


def main() -> None:
    """The entry point; errors of ours are one line, and the exit code is 1."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.exit("The command line needs the package click: pip install 'dualboost[study]'.")
    try:
        _commands()(prog_name="dualboost")
    except DualBoostError as error:
        sys.exit(f"dualboost: {error}")


def _commands() -> Any:
    import click

    from . import __version__
    from .study.commands import study

    @click.group(context_settings={"help_option_names": ["-h", "--help"]})
    @click.version_option(__version__)
    def dualboost() -> None:
        """Small, accurate tree ensembles by totally corrective boosting."""

    dualboost.add_command(study)
    return dualboost


if __name__ == "__main__":
    main()
