"""``dualboost study``: the commands that fetch data, run the study, and evaluate its results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from dualboost.arguments import how_to_install
from dualboost.errors import InvalidDataError, MissingDependencyError

from .datasets import DATASETS, available, data_folder, fetch_folder
from .figures import draw_figures
from .markdown import write_page
from .observations import OBSERVATIONS
from .protocol import EQUAL_SIZE, load_preset, preset_names
from .report import write_report
from .results import TABLES, Results, read_results, write_compact
from .runner import run_study
from .sizes import ANY_DEPTH, size_means
from .sources import fetch as fetch_datasets
from .summary import verdicts
from .tables import (
    DIGITS,
    LEAST_DATASETS,
    LEVEL,
    accuracy_table,
    compare_with_paper,
    figure,
    listed,
    significance,
    straying,
)

DATA = click.option(
    "--data", type=click.Path(path_type=Path), help="A folder of <name>.csv.gz files; or DUALBOOST_DATA."
)


@click.group()
def study() -> None:
    """Rerun the published evaluation."""


@study.command()
@click.option("--preset", default="quick", show_default=True, help="A name that `study list` has, or a .toml file.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A folder for the results [default: study-PRESET].")
@click.option("--jobs", default=-1, show_default=True, help="Fits at a time; -1 for as many as there are cores.")
@click.option("--backend", type=click.Choice(["loky", "dask"]), default="loky", show_default=True)
@click.option("--scheduler", help="The address of a Dask scheduler, with --backend dask.")
@click.option("--raw", is_flag=True, help="Features as they are, not binarised.")
@click.option("--beside", type=click.Path(path_type=Path), help="Results whose fits are not made again.")
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
    """Run a preset; started again, the run goes on where it stopped."""
    out = out or Path(f"study-{Path(preset).stem}{'-raw' * raw}")
    chosen = replace(load_preset(preset), preparation="raw") if raw else load_preset(preset)
    folder = data_folder(data)
    if backend == "dask":
        _connect(scheduler)
    done = run_study(chosen, out, folder, jobs, backend, verbose=1, beside=beside)
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
        raise MissingDependencyError(
            f"--backend dask needs the package distributed: {how_to_install('distributed')}."
        ) from error
    Client(scheduler)  # type: ignore[no-untyped-call]


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), help="A folder for the tables [default: RESULTS].")
@click.option("--format", "kind", type=click.Choice(["csv", "parquet"]), default="csv", show_default=True)
@click.option("--compact", is_flag=True, help="Only what the report is made of, as small Parquet files to be kept.")
def export(results: Path, out: Path | None, kind: str, compact: bool) -> None:
    """Write the records as tidy tables: fits, iterations, margins, weights.

    A folder of compact tables can be named wherever a folder of results can.
    """
    read, out = _read(results), out or results
    for path in write_compact(read, results, out, TABLES) if compact else read.write(out, kind):
        click.echo(path)


@study.command()
@click.argument("names", nargs=-1)
@click.option(
    "--data", type=click.Path(path_type=Path), help="Where to [default: DUALBOOST_DATA, or the user's cache]."
)
def fetch(names: tuple[str, ...], data: Path | None) -> None:
    """Fetch the paper's data sets (all, or those named) from OpenML, UCI and the census, and verify them."""
    folder, failed = fetch_folder(data), 0
    for one in fetch_datasets(folder, names):
        failed += one.state == "failed"
        click.echo(f"{one.name:24}{one.state:15}{one.detail}")
    click.echo(f"the folder: {folder}")
    if failed:
        raise click.ClickException(f"{failed} could not be fetched; run it again to go on.")


def _read(results: Path) -> Results:
    """The results of a folder; missing fits are reported on stderr."""
    read = read_results(results)
    if read.gaps:
        click.echo(f"Note: {read.gaps}.", err=True)
    return read


@study.command("list")
@DATA
def list_(data: Path | None) -> None:
    """The data sets of the paper, and the presets."""
    here = set(available(data_folder(data)))
    for name, dataset in DATASETS.items():
        state = "generated or file" if dataset.generate else "file" if name in here else "missing"
        click.echo(f"{name:24}{dataset.rows:>8} rows  {state:18}{dataset.source}")
    for name in sorted(here - set(DATASETS)):
        click.echo(f"{name:24}{'':>13}  {'file':18}not in the paper")
    click.echo(f"presets: {', '.join(preset_names())}")


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--figures/--no-figures", default=True, help="Also print what each verdict rests on.")
def observations(results: Path, figures: bool) -> None:
    """Judge the paper's eighteen observations, and a nineteenth question, by these results."""
    read = _read(results)
    judged = verdicts(read)
    for number, verdict in judged.items():
        if verdict.holds is None:
            continue
        one = OBSERVATIONS[number]
        click.echo(f"{number:2}. {verdict.word.upper()}: {one.statement} {verdict.sentence}")
        click.echo(f"    Judged so: {one.criterion} By: {one.data(read)}.")
        if figures and verdict.figures:
            click.echo("    " + ", ".join(f"{name} {figure(value)}" for name, value in verdict.figures.items()))
    unjudged = [number for number, verdict in judged.items() if verdict.holds is None]
    if unjudged:
        click.echo(f"Not enough data for {listed(unjudged)}.")


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--latex", is_flag=True, help="As LaTeX: the best in bold, the best totally corrective with a star.")
def tables(results: Path, latex: bool) -> None:
    """Accuracy / trees by data set and method: ! best of all, * best totally corrective; and at equal size."""
    read = _read(results)
    for experiment, depth in _tabled(read):
        table = accuracy_table(read, experiment, depth)
        click.echo(f"\n{'% ' * latex}{experiment}, depth {depth}")
        click.echo(table.as_latex() if latex else table.as_text().to_string())
    for kind in ("trees", "leaves") if len(read.sizes) else ():
        means = size_means(read.sizes, kind).rename({ANY_DEPTH: "any"}, level="depth").round(DIGITS)
        click.echo(f"\n{'% ' * latex}accuracy within so many {kind}, by depth")
        click.echo(means.to_latex(float_format=f"%.{DIGITS}f") if latex else means.to_string())


def _tabled(read: Results) -> list[tuple[str, int]]:
    """The experiments and depths that have a table by data set."""
    pairs = read.fits.loc[read.fits["experiment"] != EQUAL_SIZE, ["experiment", "depth"]]
    return sorted(set(pairs.itertuples(index=False, name=None)))


@study.command("significance")
@click.argument("results", type=click.Path(path_type=Path))
def significance_(results: Path) -> None:
    """Mean ranks over data sets, the critical difference, and the pairs of methods that differ."""
    read = _read(results)
    for experiment, depth in _tabled(read):
        found = significance(accuracy_table(read, experiment, depth))
        if found is None:
            click.echo(f"{experiment}, depth {depth}: {LEAST_DATASETS} data sets and three methods are needed")
            continue
        ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in found.ranks.items())
        click.echo(f"{experiment}, depth {depth}: Friedman p {found.friedman_p:.2g}; mean ranks {ranks}")
        click.echo(f"  critical difference {found.critical_difference:.2f}; alike: {found.groups}")
        for pair in found.pairs[found.pairs["corrected_p"] < LEVEL].itertuples():
            click.echo(f"  {pair.method} - {pair.other}: {pair.difference:+.4f}, corrected p {pair.corrected_p:.2g}")


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
def compare(results: Path) -> None:
    """Our differences to XGBoost beside the paper's, and trees beside trees."""
    found = compare_with_paper(_read(results))
    if found.empty:
        raise InvalidDataError(f"{results} has no cell of the paper's with XGBoost beside it, so nothing to compare.")
    click.echo(straying(found).round(4).to_string())


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), default="report.html", show_default=True)
def report(results: Path, out: Path) -> None:
    """Write the report: one page that needs no network; of a name that ends with .md, a page of text with pictures."""
    write = write_page if out.suffix == ".md" else write_report
    click.echo(write(_read(results), out))


@study.command()
@click.argument("results", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path), default="figures", show_default=True)
def figures(results: Path, out: Path) -> None:
    """Draw the paper's figures as PDF files."""
    drawn = draw_figures(_read(results), out)
    click.echo(f"{len(drawn)} figures in {out}")
