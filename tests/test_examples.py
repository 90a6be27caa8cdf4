"""The examples run as a newcomer runs them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .thoroughness import only_thorough

EXAMPLES = Path(__file__).parents[1] / "examples"


@only_thorough
@pytest.mark.parametrize(("script", "makes"), [("thin_xgboost.py", ["out/thinning.png", "out/thinned.json"])])
def test_example(script, makes, tmp_path):
    run = subprocess.run(
        [sys.executable, str(EXAMPLES / script)],
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
