"""Random tables and targets: of any size and scale, with gaps, categories, copies of rows and odd weights."""

import numpy as np

WORDS = np.array(["red", "green", "blue", "it's", 'a "word"', "é\\n", "nan", ""])
EDGE = float(np.float32(1e-35))
ZEROS = np.array([1.0, EDGE, 0.0, np.nextafter(EDGE, 1.0), np.nextafter(EDGE, 0.0), 1e-35, 1e-36, 5e-324])
"""The largest number that LightGBM reads as zero, its neighbours, and others that it reads as zero."""


def scale(rng):
    """Often 1, and otherwise any number that double precision holds."""
    return 1.0 if rng.random() < 0.6 else 10.0 ** rng.uniform(-300, 300)


def random_column(rng, n_rows):
    """Numbers or words, of which any may be missing."""
    kind = rng.choice(
        ["normal", "few", "wide", "tiny", "zeros", "constant", "half", "words"],
        p=[0.3, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05, 0.2],
    )
    if kind == "words":
        column = rng.choice(WORDS[: rng.integers(1, len(WORDS) + 1)], n_rows).tolist()
        return [None if rng.random() < 0.05 else word for word in column]
    values = {
        "few": lambda: rng.integers(-2, 4, n_rows).astype(float),
        "wide": lambda: rng.choice([-1.0, 1.0], n_rows) * 10.0 ** rng.uniform(-300, 300, n_rows),
        "zeros": lambda: rng.choice([-1.0, 1.0], n_rows) * rng.choice(ZEROS[: rng.integers(2, len(ZEROS) + 1)], n_rows),
        "tiny": lambda: 10.0 ** -rng.uniform(0, 310, n_rows),
        "constant": lambda: np.full(n_rows, 1.0),
        "half": lambda: np.where(rng.random(n_rows) < 0.5, 0.0, rng.normal(size=n_rows)),
    }.get(kind, lambda: rng.normal(size=n_rows))() * (1.0 if kind in ("wide", "zeros") else scale(rng))
    if rng.random() < 0.3:
        values[rng.random(n_rows) < rng.choice([0.05, 0.3, 1.0])] = np.nan
    return values.tolist()


def random_columns(rng, n_rows, n_columns):
    """Columns by name; in a third of the tables many rows are copies of others."""
    columns = {f"x{k}": random_column(rng, n_rows) for k in range(n_columns)}
    if rng.random() < 0.3:
        sources = rng.integers(0, max(n_rows // 3, 1), n_rows)
        columns = {name: [column[i] for i in sources] for name, column in columns.items()}
    return columns


def signal(rng, columns):
    """A number for each row that its columns decide, but for some noise; it does not depend on their scale."""
    n_rows = len(next(iter(columns.values())))
    total = rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n_rows)
    for column in columns.values():
        ranks = np.unique([str(value) for value in column] if any(isinstance(v, str) for v in column) else
                          np.nan_to_num(np.array(column, dtype=float)), return_inverse=True)[1]  # fmt: skip
        total += rng.normal() * np.abs(ranks / max(ranks.max(), 1) - rng.random())
    return total


def random_labels(rng, columns, n_classes):
    """Classes of any type; now and then one of them is rare, or there is one only."""
    total = signal(rng, columns)
    levels = np.sort(rng.choice([rng.random(n_classes - 1), np.linspace(0, 1, n_classes + 1)[1:-1]]))
    codes = np.digitize(total, np.quantile(total, levels))
    names = rng.choice([0, 1, 2, 3])
    if names == 1:
        return [f"class {code}" for code in codes]
    if names == 2 and n_classes == 2:
        return [bool(code) for code in codes]
    return [int(code) - (3 if names == 3 else 0) for code in codes]


def random_numbers(rng, columns, is_count=False):
    """Targets of any scale and offset; counts where these are asked for."""
    total = signal(rng, columns)
    if is_count:
        return rng.poisson(np.exp(np.clip(total, -3, 5))).astype(float).tolist()
    kind = rng.choice(["as it is", "few", "heavy", "constant", "scaled"], p=[0.4, 0.15, 0.15, 0.05, 0.25])
    if kind == "few":
        total = np.round(total)
    elif kind == "heavy":
        total = total * np.exp(3 * rng.normal(size=len(total)))
    elif kind == "constant":
        total = np.full(len(total), rng.normal())
    elif kind == "scaled":
        unit = 10.0 ** rng.uniform(-250, 250)
        total = unit * (total + rng.choice([0.0, 10.0 ** rng.uniform(0, 6)]))
    return total.tolist()


def random_weights(rng, n_rows, whole=False):
    """None, multiplicities, or anything else that counts rows, also of odd scales."""
    if rng.random() < 0.5:
        return None
    if whole or rng.random() < 0.4:
        return rng.integers(1, 4, n_rows).astype(float).tolist()
    weights = rng.choice([rng.random(n_rows), np.exp(3 * rng.normal(size=n_rows)), np.full(n_rows, 1.0)])
    weights = weights * rng.choice([1.0, 1e-3, 1e4, 10.0 ** rng.uniform(-200, 95)], p=[0.6, 0.15, 0.15, 0.1])
    weights[rng.random(n_rows) < rng.choice([0.0, 0.2])] = 0.0
    return weights.tolist()
