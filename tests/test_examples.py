"""The examples run as a newcomer runs them, in the quick mode on fewer rows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .thoroughness import how_many

EXAMPLES = Path(__file__).parents[1] / "examples"
START = "import runpy, sys; runpy.run_path(sys.argv[1])['main'](int(sys.argv[2]))"


@pytest.mark.parametrize(("script", "makes"), [("thin_xgboost.py", ["out/thinning.png", "out/thinned.json"])])
def test_example(script, makes, tmp_path):
    run = subprocess.run(
        [sys.executable, *how_many(["-c", START, str(EXAMPLES / script), "2000"], [str(EXAMPLES / script)])],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert "trees" in run.stdout
    assert "Traceback" not in run.stderr
    for path in makes:
        assert (tmp_path / path).stat().st_size > 10_000
