"""Runs the command line for ``python -m dualboost``."""

from .cli import main

main()
