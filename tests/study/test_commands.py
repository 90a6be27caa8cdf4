import json

from ..command_line import dualboost, started


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
