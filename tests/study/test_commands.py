"""``dualboost study``, and commands that packages beside the core declare."""

import json
import os
import subprocess
import sys

import pytest

from ..command_line import dualboost, started

DECLARED = """[dualboost.commands]
study = dualboost_study.commands:study
greet = greeting:greet
fit = greeting:greet
number = greeting:NUMBER
gone = no_such_package.commands:gone
"""
GREETING = """
import click

NUMBER = 3

@click.command()
def greet():
    'Say hello.'
    click.echo('hello')
"""
LIGHT = "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'lightgbm'} & set(sys.modules)\nassert not heavy, heavy\n"


@pytest.fixture
def declared(tmp_path):
    """Runs code where an installed package declares commands, of which some cannot be loaded."""
    about = tmp_path / "greeting-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: greeting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(DECLARED)
    (tmp_path / "greeting.py").write_text(GREETING)
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments, **variables):
        environment = os.environ | {"PYTHONPATH": path} | variables
        command = [sys.executable, *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)

    return run


def test_help_lists_commands_of_other_packages_and_imports_no_library(declared):
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from dualboost import cli\n"
        "from dualboost.commands import dualboost\n"
        "print(CliRunner().invoke(dualboost, ['--help']).output)\n"
        "done = CliRunner().invoke(dualboost, ['study', 'run', '--help'])\n"
        "assert done.exit_code == 0 and 'Usage' in done.output, done.output\n" + LIGHT
    )
    done = declared("-c", code)
    assert done.returncode == 0, done.stderr
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert {"study Rerun the published evaluation.", "greet Say hello.", "fit Fit a model to a table."} <= set(lines)
    assert {"number Not available: TypeError.", "gone Not available: ModuleNotFoundError."} <= set(lines)


def test_completion_lists_commands_of_other_packages(declared):
    variables = {"_DUALBOOST_COMPLETE": "bash_complete", "COMP_CWORD": "1"}
    done = declared("-m", "dualboost", COMP_WORDS="dualboost ", **variables)
    assert {"plain,fit", "plain,study", "plain,greet", "plain,gone"} <= set(done.stdout.splitlines()), done.stderr
    variables["COMP_CWORD"] = "2"
    assert (
        "plain,report" in declared("-m", "dualboost", COMP_WORDS="dualboost study r", **variables).stdout.splitlines()
    )
    done = declared("-m", "dualboost", COMP_WORDS="dualboost gone r", **variables)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_command_that_cannot_be_loaded_does_not_break_the_others(declared):
    assert declared("-m", "dualboost", "greet").stdout == "hello\n"
    assert "--max-trees" in declared("-m", "dualboost", "fit", "--help").stdout
    for name, reason in (
        ("gone", "ModuleNotFoundError: No module named"),
        ("number", "TypeError: greeting:NUMBER is no"),
    ):
        done = declared("-m", "dualboost", name)
        assert done.returncode == 1
        assert done.stderr.startswith(f"dualboost: The command {name!r} of ")
        assert f"cannot be loaded: {reason}" in done.stderr
        assert done.stderr.count("\n") == 1
    assert "No such command 'weather'" in declared("-m", "dualboost", "weather").stderr


def test_run_export_and_list(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'datasets = ["twonorm"]\nmethods = ["nm", "xgboost"]\ndepths = [1]\n'
        "seeds = 1\nvalues = 2\niterations = 3\nmost_rows = 100\n"
    )
    run = dualboost("study", "run", "--preset", "mine.toml", "--jobs", "1", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == "4 fits added to study-mine\n"
    assert run.stderr == ""
    assert dualboost("study", "run", "--preset", "mine.toml", cwd=tmp_path).stdout == "0 fits added to study-mine\n"
    exported = dualboost("study", "export", "study-mine", cwd=tmp_path)
    assert "fits.csv" in exported.stdout
    assert (tmp_path / "study-mine" / "iterations.csv").exists()
    listed = dualboost("study", "list", cwd=tmp_path)
    assert "twonorm" in listed.stdout
    assert "missing" in listed.stdout


def test_raw_features_have_results_of_their_own(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'datasets = ["twonorm"]\nmethods = ["nm"]\ndepths = [1]\n'
        "seeds = 1\nvalues = 1\niterations = 2\nmost_rows = 100\n"
    )
    run = dualboost("study", "run", "--preset", "mine.toml", "--jobs", "1", "--raw", cwd=tmp_path)
    assert run.stdout == "1 fit added to study-mine-raw\n", run.stderr
    (record,) = (tmp_path / "study-mine-raw" / "records.jsonl").read_text().splitlines()
    assert json.loads(record)["n_features"] == 20


def test_dask_needs_an_address(tmp_path):
    failed = dualboost("study", "run", "--backend", "dask", cwd=tmp_path)
    assert failed.returncode == 2
    assert "--scheduler ADDRESS" in failed.stderr


def test_fetch_knows_its_names(tmp_path):
    failed = dualboost("study", "fetch", "twonorm", "--data", "data", cwd=tmp_path)
    assert failed.returncode == 1
    assert failed.stderr.startswith("dualboost: 'twonorm' cannot be fetched; there are ['adult'")


def test_errors_are_one_line(tmp_path):
    failed = dualboost("study", "run", "--preset", "nothing", cwd=tmp_path)
    assert failed.returncode == 1
    assert failed.stderr.startswith("dualboost: preset='nothing' is not known")
    assert failed.stderr.count("\n") == 1


def test_version(tmp_path):
    assert started("--version", cwd=tmp_path).stdout.startswith("dualboost, version")
