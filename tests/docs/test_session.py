"""The session on the command line that the first page shows: each command is run, and prints what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ..command_line import called
from ..thoroughness import THOROUGH
from . import shown

PAGE = Path(__file__).parents[2] / "docs" / "getting_started.md"
SESSION = re.compile(r"<!-- session -->\n```console\n(?P<lines>.*?)```", re.DOTALL)
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def session(page):
    """The commands of the page, each with what it prints."""
    lines = SESSION.search(page)["lines"]
    parts = re.split(r"^\$ ", lines, flags=re.MULTILINE)[1:]
    return [part.split("\n", 1) for part in parts]


def without_gap(text):
    """The gap is rounding: its digits differ between machines."""
    return re.sub(r"(gap +)\S+", r"\1…", text)


def started(*arguments, cwd):
    """The program as it is installed."""
    program = shutil.which("dualboost", path=str(Path(sys.executable).parent))
    start = [program] if program else [sys.executable, "-m", "dualboost.cli"]
    return subprocess.run([*start, *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)


def executed(command, folder, run):
    program, *arguments = command.split()
    assert program == "dualboost"
    done = run(*arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_session_prints_what_the_page_says(tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    before = page[: page.index("<!-- session -->")]
    start = [sys.executable, "-W", "error::UserWarning:dualboost", "-c", shown.script(before)]
    run = subprocess.run(start, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    shown.assert_printed([before], run.stdout)
    commands = session(page)
    assert len(commands) >= 4
    for k, (command, expected) in enumerate(commands):
        run = started if THOROUGH or k == 0 else called
        assert without_gap(executed(command, tmp_path, run)) == without_gap(expected), command
