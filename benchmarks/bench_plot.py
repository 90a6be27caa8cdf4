"""The picture of the benchmark: time to fit against rows."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from bench_fits import LIGHTGBM, N_TREES
from matplotlib.ticker import FuncFormatter

from dualboost.formulations import FORMULATIONS, STUDIED


def log_slope(rows: pd.Series, seconds: pd.Series) -> float:
    """The power of the rows with which the time grows: 1 is linear; nan from a single size."""
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0]) if len(rows) > 1 else float("nan")


def draw_growth(growth: pd.DataFrame, path: Path) -> None:
    """One line a method on logarithmic scales; straight and flat is better."""
    figure, ax = plt.subplots(figsize=(7.5, 5.0), layout="constrained")
    colours = dict(zip(STUDIED, plt.colormaps["tab10"].colors, strict=False))
    for name in [*STUDIED, LIGHTGBM]:
        line = growth[growth.method == name].sort_values("rows")
        if len(line):
            style = {"color": colours.get(name, "black"), "marker": "o" if name in STUDIED else "X"}
            ax.plot(line.rows, line.seconds, label=_label(name, line), linewidth=1.5, **style)
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds to fit")
    ax.set_xticks(sorted(growth.rows.unique()))
    ax.minorticks_off()
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.set_title(f"At most {N_TREES} stumps on {growth.features.iloc[0]} numeric features, one thread")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(path, dpi=130)


def _label(name: str, line: pd.DataFrame) -> str:
    title = FORMULATIONS[name].title if name in STUDIED else name
    return f"{title}, slope {log_slope(line.rows, line.seconds):.2f}" if name == "nm" else title
