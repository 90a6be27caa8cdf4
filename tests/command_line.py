"""The command line as a shell starts it, and in this process, which saves an interpreter's start and its imports."""

import os
import subprocess
import sys
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper

import pytest

from dualboost import cli

from .thoroughness import THOROUGH


def started(*arguments, cwd):
    """A process of its own: what a shell sees."""
    return subprocess.run(
        [sys.executable, "-m", "dualboost.cli", *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def called(*arguments, cwd):
    """The entry point, called in this process with arguments, folder, streams and warnings of its own."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["dualboost", *map(str, arguments)])
        patch.setattr(cli, "_shown", set())
        warnings.simplefilter("default")
        code = _exit_code(err)
    return subprocess.CompletedProcess(arguments, code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def _exit_code(err):
    """As an interpreter ends: a message is printed, and is an error."""
    try:
        cli.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=err)
            return 1
        return end.code or 0
    except Exception:
        traceback.print_exc(file=err)
        return 1
    return 0


dualboost = started if THOROUGH else called
