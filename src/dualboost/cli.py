"""The entry point of the command line.

Exit codes: 0 for success, 1 for an error (described in one line on stderr), 2 for wrong arguments, 130 if interrupted.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from importlib.util import find_spec
from typing import Any

from .escaping import printable

NEEDED = ("click", "pandas", "pyarrow", "tqdm")
"""The packages of the command line."""
_shown: set[str] = set()
"""The warnings already printed, so that each is printed only once."""


def main() -> None:
    """The entry point."""
    debug = "--debug" in sys.argv[1:]
    try:
        _run()
    except KeyboardInterrupt:
        print("dualboost: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python would fail to flush stdout at exit
        sys.exit(141)
    except Exception as error:
        _fail(error, debug)


def _run() -> None:
    for name in ("click", "pandas"):
        if find_spec(name) is None:
            from .arguments import how_to_install

            sys.exit(f"dualboost: the command line needs the package {name}: {how_to_install(*NEEDED)}.")
    import click

    from .commands import dualboost

    warnings.showwarning = _show_warning
    try:
        dualboost(prog_name="dualboost", standalone_mode=False)
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        print(printable(text.getvalue(), kept="\n"), end="", file=sys.stderr)
        sys.exit(error.exit_code)


def _show_warning(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
    """Print a warning of dualboost in one line; warnings of other libraries do not help users."""
    from .errors import DualBoostWarning

    line = f"dualboost: {_one_line(message)}"
    if issubclass(category, DualBoostWarning) and line not in _shown:
        _shown.add(line)
        print(line, file=sys.stderr)


def _fail(error: Exception, debug: bool) -> None:
    if debug:
        raise error
    from .errors import DualBoostError

    line = _one_line(error)
    is_ours = isinstance(error, DualBoostError)
    sys.exit(f"dualboost: {line}" if is_ours else f"dualboost: {type(error).__name__}: {line} (--debug shows where)")


def _one_line(message: object) -> str:
    return printable(" ".join(str(message).split()))


if __name__ == "__main__":
    main()
