"""``python -m dualboost``: the command line."""

from .cli import main

main()
