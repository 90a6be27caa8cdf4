"""The report on intervals: whether they cover what they promise, how wide they are, and a picture of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
from equal_trees_numbers_tables import with_error
from equal_trees_plot import FONTS, MUTED, STRONG
from equal_trees_plot import TITLES as RIVAL_TITLES
from equal_trees_report import in_all_methods
from equal_trees_tables import markdown, record

from dualboost.estimators.calibrating import SHARE

TITLES = {
    "ours3": "dualboost, 3 levels",
    "ours2": "dualboost, 2 levels",
    "lightgbm": RIVAL_TITLES["lightgbm"],
    "lightgbm_calibrated": "LightGBM, rate chosen after calibration",
    "lightgbm_mean": "LightGBM, mean ± constant",
    "xgboost": RIVAL_TITLES["xgboost"],
}
STYLES = {"ours3": STRONG, "ours2": STRONG | {"color": "#e58aa2", "marker": "v"}} | MUTED
STYLES |= {"lightgbm_calibrated": MUTED["lightgbm"] | {"marker": "v"}, "lightgbm_mean": MUTED["hist"]}
RIVAL = "lightgbm"
FIGURES = {
    "width": "Mean width",
    "score": "Interval score",
    "pinball": "Pinball loss before calibration",
}
FIGURES_OF_SIZE = {"n_trees": "trees", "n_leaves": "leaves", "seconds": "seconds with the search"}
ASKED, ALLOWED = 90.0, 2.0
"""Coverage in per cent, and how far the mean over the splits may be from it."""


def write_report(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """What was written; nothing without results that every method has."""
    table = pd.DataFrame(records)
    if table.empty or (shared := in_all_methods(table)).empty:
        return []
    shared = shared.assign(
        pinball=shared.pinball_low + shared.pinball_high,
        coverage=100 * shared.coverage,
        raw=(100 * (1 - shared.below - shared.above)).clip(lower=0),
    )
    shared["method"] = pd.Categorical(shared.method, [name for name in TITLES if name in set(shared.method)])
    text, picture = folder / "intervals.md", folder / "intervals.png"
    text.write_text("\n".join(lines(table, shared)) + "\n")
    draw(shared, picture)
    return [text, picture]


def lines(table: pd.DataFrame, shared: pd.DataFrame) -> Iterator[str]:
    yield "# Intervals that are to cover 90 % of new rows\n"
    yield (
        f"{shared.data.nunique()} data sets, up to {shared.split.nunique()} splits, at most {shared.rows.max():,} "
        "training rows, a quarter of which calibrate. Trees are those of all quantiles together: a rival has half of "
        "them for each end, and all for the mean, whose pinball loss before calibration says nothing. "
        f"{len(table) - len(shared)} of {len(table)} results are left out: another method is not there yet."
    )
    yield from overall(shared)
    yield from few_against_many(shared)
    for (depth, size), part in shared.groupby(["depth", "size"]):
        where = f"depth {depth}, {size} trees"
        yield from coverages(part, where)
        for figure, title in FIGURES.items():
            yield from by_data(part, figure, f"{title}, {where}")


def means(shared: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Means over the splits: a column a method."""
    cell = ["depth", "size", "data", "method"]
    return shared.groupby(cell, observed=True)[figure].mean().unstack("method")


def overall(shared: pd.DataFrame) -> Iterator[str]:
    """Geometric means over data sets of what is divided by the rival, and data sets won / tied / lost."""
    if RIVAL not in set(shared.method):
        return
    for figure, title in FIGURES.items():
        wide = means(shared, figure)
        others = [name for name in wide if name != RIVAL]
        yield f"\n## {title} divided by that of {TITLES[RIVAL]}\n"
        yield "Geometric means over data sets ± standard error; below 1 is better; data sets won / tied / lost.\n"
        rows = []
        for (depth, size), part in wide.groupby(["depth", "size"]):
            ratios = part[others].div(part[RIVAL], axis=0)
            cells = (f"{with_error(ratios[name])}; {record(1 - ratios[name])}" for name in others)
            rows.append([depth, size, *cells])
        yield from markdown(["depth", "trees", *(TITLES[name] for name in others)], rows)
    yield "\n## What it takes: means over data sets\n"
    sizes = shared.groupby(["depth", "size", "method"], observed=True)[list(FIGURES_OF_SIZE)].mean()
    rows = [[d, s, TITLES[m], *(f"{x:.1f}" for x in row)] for (d, s, m), row in sizes.iterrows()]
    yield from markdown(["depth", "trees", "method", *FIGURES_OF_SIZE.values()], rows)


def few_against_many(shared: pd.DataFrame) -> Iterator[str]:
    """Ours with some trees against the rival with twice as many, which has as many for each end as ours for both."""
    sizes = sorted(shared["size"].unique())
    ours = [name for name in shared.method.cat.categories if name.startswith("ours")]
    rows = []
    for size in (size for size in sizes if 2 * size in sizes):
        for name in ours if RIVAL in set(shared.method) else []:
            ratios = [_ratios(shared, figure, name, size) for figure in FIGURES]
            rows.append([size, 2 * size, TITLES[name], *(f"{with_error(r)}; {record(1 - r)}" for r in ratios)])
    if rows:
        yield f"\n## Divided by {TITLES[RIVAL]} with twice as many trees\n"
        yield "So the rival has as many trees for each end as ours has for both.\n"
        yield from markdown(["trees", f"{TITLES[RIVAL]}'s", "method", *FIGURES.values()], rows)


def _ratios(shared: pd.DataFrame, figure: str, name: str, size: int) -> pd.Series:
    wide = means(shared, figure)
    few, many = (wide.xs(n, level="size")[method] for n, method in ((size, name), (2 * size, RIVAL)))
    return (few / many).dropna()


def coverages(part: pd.DataFrame, where: str) -> Iterator[str]:
    yield f"\n## Coverage in %, {where}\n"
    yield (
        "Mean over the splits ± standard error, in brackets before calibration; the last row counts the data sets "
        f"within {ALLOWED:g} points of {ASKED:g} %. By chance: the standard error of the mean over independent splits "
        "of an interval that keeps its promise, given how many rows calibrate and are scored.\n"
    )
    methods = list(part.method.cat.categories)
    groups = part.groupby(["data", "method"], observed=True)
    mean, error, raw = groups.coverage.mean(), groups.coverage.sem(), groups.raw.mean()
    rows: list[list[object]] = [
        [
            name,
            f"± {by_chance(own):.1f}",
            *(f"{mean[name, m]:.1f} ± {error[name, m]:.1f} ({raw[name, m]:.0f})" for m in methods),
        ]
        for name, own in part.groupby("data")
    ]
    inside = ((mean - ASKED).abs() <= ALLOWED).groupby("method", observed=True).sum()
    rows.append(["within", "", *(inside[m] for m in methods)])
    yield from markdown(["data set", "by chance", *(TITLES[m] for m in methods)], rows)


def by_chance(own: pd.DataFrame) -> float:
    """In per cent; a share p of n rows has the variance p(1-p)/n, once for the rows scored, once for those aside."""
    n_aside, n_scored = SHARE * own.n_train.mean(), own.n_test.mean()
    variance = ASKED * (100 - ASKED) * (1 / n_aside + 1 / n_scored)
    return float((variance / own.split.nunique()) ** 0.5)


def by_data(part: pd.DataFrame, figure: str, title: str) -> Iterator[str]:
    """A figure by data set, with that of ours divided by the rival's in brackets."""
    wide = means(part, figure).droplevel(["depth", "size"])
    yield f"\n## {title}\n"
    has_rival = RIVAL in wide
    rows = (
        [
            name,
            *(f"{row[m]:.4g}" + (f" ({row[m] / row[RIVAL]:.3f})" if has_rival and m != RIVAL else "") for m in wide),
        ]
        for name, row in wide.iterrows()
    )
    yield from markdown(["data set", *(TITLES[m] for m in wide)], rows)


def draw(shared: pd.DataFrame, path: Path) -> None:
    """One column of panels a depth and size: above the coverage, below the width relative to the rival's."""
    shown = list(shared.groupby(["depth", "size"]))
    with plt.rc_context(FONTS):
        figure, axes = plt.subplots(
            2, len(shown), figsize=(4.2 * len(shown), 6.0), sharex=True, sharey="row", squeeze=False,
            layout="constrained",
        )  # fmt: skip
        for (above, below), ((depth, size), part) in zip(axes.T, shown, strict=True):
            coverage, width = (means(part, name).droplevel(["depth", "size"]) for name in ("coverage", "width"))
            above.axhspan(ASKED - ALLOWED, ASKED + ALLOWED, color="#eeeeee", zorder=0)
            below.axhline(1.0, color="#cccccc", zorder=0)
            for method in coverage:
                style = STYLES[method] | {"linestyle": "none", "label": TITLES[method]}
                above.plot(coverage.index, coverage[method], **style)
                if RIVAL in width:
                    below.plot(width.index, width[method] / width[RIVAL], **style)
            above.set_title(f"depth {depth}, {size} trees")
            below.tick_params(axis="x", rotation=90)
        axes[0, 0].set_ylabel("coverage of rows not seen, %")
        axes[1, 0].set_ylabel(f"mean width / {TITLES[RIVAL]}'s")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
        figure.savefig(path, dpi=200)
        plt.close(figure)
