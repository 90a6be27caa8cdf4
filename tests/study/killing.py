"""Runs of a small study in processes of their own, which can be killed at any moment."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

from dualboost_study import Preset
from dualboost_study.folder import RECORDS

TINY = Preset(
    experiments=("cart",), datasets=("twonorm", "ringnorm"), methods=("nm", "lp", "xgboost"), depths=(1, 2), seeds=2,
    values=3, iterations=3, most_rows=80,
)  # fmt: skip
SCRIPT = """
import sys
from dualboost.errors import InvalidParameterError
from dualboost_study import run_study
from tests.study.killing import TINY
try:
    print(run_study(TINY, sys.argv[1], n_jobs=int(sys.argv[2])).added)
except InvalidParameterError as error:
    sys.exit(f"refused: {error}")
"""


def started(folder, n_jobs=1):
    """A run in a process of its own, with its workers in one group."""
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(n_jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        start_new_session=True,
    )


def kill(process):
    """Kill the run with its workers, or those of them that are left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def lines(folder):
    """The complete lines of the records."""
    path = folder / RECORDS
    content = path.read_bytes() if path.exists() else b""
    return content[: content.rfind(b"\n") + 1].splitlines()
