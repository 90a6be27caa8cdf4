"""``dualboost study``. The help of ``dualboost`` imports this module, so libraries are imported by the commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from .results import Results

FOLDER = click.Path(path_type=Path)
DATA = click.option("--data", type=FOLDER, help="A folder of <name>.csv.gz files; or DUALBOOST_DATA.")
RESULTS = click.argument("results", type=FOLDER)


@click.group()
def study() -> None:
    """Rerun the published evaluation."""


@study.command()
@click.option("--preset", default="quick", show_default=True, help="A name that `study list` has, or a .toml file.")
@click.option("-o", "--out", type=FOLDER, help="A folder for the results [default: study-PRESET].")
@click.option("--jobs", default=-1, show_default=True, help="Fits at a time; -1 for as many as there are cores.")
@click.option("--backend", type=click.Choice(["loky", "dask"]), default="loky", show_default=True)
@click.option("--scheduler", help="The address of a Dask scheduler, with --backend dask.")
@click.option("--raw", is_flag=True, help="Features as they are, not binarised.")
@click.option("--beside", type=FOLDER, help="Results whose fits are not made again.")
@DATA
def run(
    preset: str,
    out: Path | None,
    jobs: int,
    backend: str,
    scheduler: str | None,
    raw: bool,
    beside: Path | None,
    data: Path | None,
) -> None:
    """Run a preset; the same command continues a run that was stopped."""
    from dataclasses import replace

    from .datasets import data_folder
    from .protocol import load_preset
    from .runner import run_study

    out = out or Path(f"study-{Path(preset).stem}{'-raw' * raw}")
    protocol = replace(load_preset(preset), preparation="raw") if raw else load_preset(preset)
    folder = data_folder(data)
    if backend == "dask":
        _connect(scheduler)
    done = run_study(protocol, out, folder, jobs, backend, verbose=1, beside=beside)
    click.echo(f"{done.added:,} fit{'s' * (done.added != 1)} added to {out}")
    for error, keys in done.failed.items():
        click.echo(f"{len(keys):,} failed, such as {keys[0]}: {error}", err=True)
    if done.failed:
        raise click.ClickException(f"{done.n_failed:,} fits failed; the same command tries them again.")


def _connect(scheduler: str | None) -> None:
    """Connect to a Dask scheduler; joblib's Dask backend uses the latest client."""
    if scheduler is None:
        raise click.UsageError("--backend dask needs --scheduler ADDRESS, such as tcp://127.0.0.1:8786.")
    try:
        from distributed import Client
    except ImportError as error:
        from dualboost.arguments import how_to_install
        from dualboost.errors import MissingDependencyError

        raise MissingDependencyError(
            f"--backend dask needs the package distributed: {how_to_install('distributed')}."
        ) from error
    Client(scheduler)  # type: ignore[no-untyped-call]


@study.command()
@RESULTS
@click.option("-o", "--out", type=FOLDER, help="A folder for the tables [default: RESULTS].")
@click.option("--format", "suffix", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True)
@click.option("--compact", is_flag=True, help="Only the data of the report, as small Parquet files to publish.")
def export(results: Path, out: Path | None, suffix: str, compact: bool) -> None:
    """Write the records as tidy tables: fits, iterations, margins, weights.

    Every command that reads a folder of results reads a folder of compact tables too.
    """
    from .results import write_compact

    read, out = _read(results), out or results
    for path in write_compact(read, results, out) if compact else read.write(out, suffix):
        click.echo(path)


@study.command()
@click.argument("names", nargs=-1)
@click.option("--data", type=FOLDER, help="The folder for the files [default: DUALBOOST_DATA, or the user's cache].")
def fetch(names: tuple[str, ...], data: Path | None) -> None:
    """Fetch the paper's data sets (all, or those named) from OpenML, UCI and the census, and verify them."""
    from .datasets import fetch_folder
    from .sources import fetch as fetch_datasets

    folder, failed = fetch_folder(data), 0
    for one in fetch_datasets(folder, names):
        failed += one.state == "failed"
        click.echo(f"{one.name:24}{one.state:15}{one.detail}")
    click.echo(f"the folder: {folder}")
    if failed:
        raise click.ClickException(f"{failed} could not be fetched; the same command tries them again.")


def _read(folder: Path) -> Results:
    """The results of a folder; missing fits are reported on stderr."""
    from .results import read_results

    results = read_results(folder)
    if results.gaps:
        click.echo(f"Note: {results.gaps}.", err=True)
    return results


@study.command("list")
@DATA
def list_(data: Path | None) -> None:
    """The data sets of the paper, and the presets."""
    from .datasets import DATASETS, available, data_folder
    from .protocol import preset_names

    here = set(available(data_folder(data)))
    for name, dataset in DATASETS.items():
        state = "generated or file" if dataset.generate else "file" if name in here else "missing"
        click.echo(f"{name:24}{dataset.rows:>8} rows  {state:18}{dataset.source}")
    for name in sorted(here - set(DATASETS)):
        click.echo(f"{name:24}{'':>13}  {'file':18}not in the paper")
    click.echo(f"presets: {', '.join(preset_names())}")


@study.command()
@RESULTS
@click.option("--figures/--no-figures", default=True, help="Also print the figures behind each verdict.")
def observations(results: Path, figures: bool) -> None:
    """Judge the paper's eighteen observations, and a nineteenth question, by these results."""
    from .observations import OBSERVATIONS, verdicts
    from .tables import figure, listed

    read = _read(results)
    judged = verdicts(read)
    for number, verdict in judged.items():
        if verdict.holds is None:
            continue
        one = OBSERVATIONS[number]
        click.echo(f"{number:2}. {verdict.word.upper()}: {one.statement} {verdict.sentence}")
        click.echo(f"    Criterion: {one.criterion} Data: {one.data(read)}.")
        if figures and verdict.figures:
            click.echo("    " + ", ".join(f"{name} {figure(value)}" for name, value in verdict.figures.items()))
    unjudged = [number for number, verdict in judged.items() if verdict.holds is None]
    if unjudged:
        click.echo(f"Not enough data for {listed(unjudged)}.")


@study.command()
@RESULTS
@click.option("--latex", is_flag=True, help="As LaTeX: the best in bold, the best totally corrective with a star.")
def tables(results: Path, latex: bool) -> None:
    """Accuracy / trees by data set and method: ! best of all, * best totally corrective; and at equal size."""
    from .sizes import ANY_DEPTH, size_means
    from .tables import DIGITS, accuracy_table

    read = _read(results)
    for experiment, depth in read.experiments():
        table = accuracy_table(read, experiment, depth)
        click.echo(f"\n{'% ' * latex}{experiment}, depth {depth}")
        click.echo(table.as_latex() if latex else table.as_text().to_string())
    for unit in ("trees", "leaves") if len(read.sizes) else ():
        means = size_means(read.sizes, unit).rename({ANY_DEPTH: "any"}, level="depth").round(DIGITS)
        click.echo(f"\n{'% ' * latex}accuracy within so many {unit}, by depth")
        click.echo(means.to_latex(float_format=f"%.{DIGITS}f") if latex else means.to_string())


@study.command()
@RESULTS
def significance(results: Path) -> None:
    """Mean ranks over data sets, the critical difference, and the pairs of methods that differ."""
    from .tables import LEAST_DATASETS, LEVEL, accuracy_table
    from .tables import significance as tested

    read = _read(results)
    for experiment, depth in read.experiments():
        found = tested(accuracy_table(read, experiment, depth))
        if found is None:
            click.echo(f"{experiment}, depth {depth}: {LEAST_DATASETS} data sets and three methods are needed")
            continue
        ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found.ranks.items())
        click.echo(f"{experiment}, depth {depth}: Friedman p {found.friedman_p:.2g}; mean ranks {ranks}")
        click.echo(f"  critical difference {found.critical_difference:.2f}; alike: {found.groups}")
        for pair in found.pairs[found.pairs["corrected_p"] < LEVEL].itertuples():
            click.echo(f"  {pair.method} - {pair.other}: {pair.difference:+.4f}, corrected p {pair.corrected_p:.2g}")


@study.command()
@RESULTS
def compare(results: Path) -> None:
    """Our differences to XGBoost beside the paper's, and trees beside trees."""
    from dualboost.errors import InvalidDataError

    from .tables import compare_with_paper, straying

    found = compare_with_paper(_read(results))
    if found.empty:
        raise InvalidDataError(f"{results} shares no cell with the paper that also has XGBoost, so nothing to compare.")
    click.echo(straying(found).round(4).to_string())


@study.command()
@RESULTS
@click.option("-o", "--out", type=FOLDER, default="report.html", show_default=True)
def report(results: Path, out: Path) -> None:
    """Write the report: one page that needs no network; if OUT ends with .md, a page of text with pictures."""
    if out.suffix == ".md":
        from .markdown import write_page as write
    else:
        from .report import write_report as write
    click.echo(write(_read(results), out))


@study.command()
@RESULTS
@click.option("-o", "--out", type=FOLDER, default="figures", show_default=True)
def figures(results: Path, out: Path) -> None:
    """Draw the paper's figures as PDF files."""
    from .figures import draw_figures

    drawn = draw_figures(_read(results), out)
    click.echo(f"{len(drawn)} figures in {out}")
