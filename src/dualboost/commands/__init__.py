"""The commands of ``dualboost``; a new one joins by one line."""

from __future__ import annotations

import click

from .. import __version__
from ..study.commands import study
from .completion import completion
from .family import formulations
from .models import evaluate, fit, predict
from .show import show
from .thinning import thin


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.version_option(__version__)
def dualboost(debug: bool) -> None:
    """Small, accurate tree ensembles by totally corrective boosting."""


for command in (fit, predict, evaluate, thin, show, formulations, study, completion):
    dualboost.add_command(command)
