"""An ensemble as a sum of functions of one or two features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Integers, Matrix, Vector
from ..errors import MissingDependencyError, UnsupportedModelError
from ..models.fitted import FittedModel
from ..models.tree_sum import (
    CategoryMarginal,
    Marginal,
    NumberMarginal,
    TreeSum,
    cuts_of,
    has_small_parts,
    marginals_of,
)
from ..trees.tree import column_values
from .rules import Condition, Names, leaf_conditions, names_of, number, used_trees

LARGEST = float(np.finfo(np.float64).max)
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one feature; the last one holds the missing values."""

    feature: int
    cuts: Vector | None
    """The thresholds of a number; None for categories."""
    counts: Vector
    """The rows in each cell."""
    marginal: Marginal

    @property
    def n(self) -> int:
        return len(self.counts)

    @cached_property
    def shares(self) -> Vector:
        return np.asarray(self.counts / self.counts.sum())

    @property
    def has_missing(self) -> bool:
        return bool(self.counts[-1] > 0)

    @cached_property
    def lows(self) -> Vector:
        """The bound that the values of each cell are above; of numbers only."""
        assert self.cuts is not None
        return np.append(-LARGEST, self.cuts)

    @cached_property
    def highs(self) -> Vector:
        """The largest value of each cell; of numbers only."""
        assert self.cuts is not None
        return np.append(self.cuts, LARGEST)

    def admitted(self, condition: Condition) -> NDArray[np.bool_]:
        """The cells whose values meet a condition."""
        if self.cuts is not None:
            inside = (self.lows >= condition.low) & (self.highs <= condition.high)
        else:
            codes = np.arange(self.n - 1)
            inside = ~np.isin(codes, list(condition.other_codes))
            if condition.codes is not None:
                inside = np.isin(codes, list(condition.codes))
        return np.append(inside, condition.admits_missing)

    def positions(self, values: Vector) -> Integers:
        """The cell of each value; an unknown code is in the cell of missing values."""
        if self.cuts is not None:
            found = np.searchsorted(self.cuts, values)
        else:
            found = np.where(np.isnan(values), -1, values).astype(np.intp)
            found = np.where((found < 0) | (found >= self.n - 1), self.n - 1, found)
        return np.where(np.isnan(values), self.n - 1, found)

    def texts(self, names: Names) -> list[str]:
        """The values in each cell, such as "28.5 to 40.5", "at most 3", the name of a category or "missing"."""
        if self.cuts is None:
            return [*(names.category(self.feature, code) for code in range(self.n - 1)), MISSING]
        cuts = [number(cut) for cut in self.cuts]
        if not cuts:
            return ["any", MISSING]
        between = [f"{low} to {high}" for low, high in pairwise(cuts)]
        texts = [f"at most {cuts[0]}", *between, f"above {cuts[-1]}"]
        ends = zip(self.lows, self.highs, strict=True)
        truths = [names.truth_between(self.feature, low, high) for low, high in ends]
        return [*(truth or text for truth, text in zip(truths, texts, strict=True)), MISSING]

    def of_truths(self) -> tuple[Cells, Integers] | None:
        """Cells for False, True and missing, and their positions here; None if False and True are in one cell."""
        place = self.positions(np.array([0.0, 1.0, np.nan]))
        if place[0] == place[1]:
            return None
        counts = self.counts[place]
        return Cells(self.feature, None, counts, CategoryMarginal(counts[:-1], float(counts[-1]))), place


def cells_of(feature: int, cuts: Vector | None, n_codes: int, marginal: Marginal | None) -> Cells | None:
    """The cells of a feature; None if its distribution is unknown at these cuts."""
    if cuts is None:
        if not isinstance(marginal, CategoryMarginal):
            return None
        return Cells(feature, None, marginal.cell_counts(n_codes), marginal)
    counts = marginal.cell_counts(cuts) if isinstance(marginal, NumberMarginal) else None
    return None if counts is None or marginal is None else Cells(feature, cuts, counts, marginal)


# A leaf is the product of conditions on the features that are tested on the way to it. If these are at most two, the
# score is
#
#     F(x) = b + Σ_j f_j(x_j) + Σ_{j<k} f_jk(x_j, x_k),
#
# with functions that are constant between cuts. The functional analysis of variance makes them unique, under
# independent features with the distributions p_j of the rows given:
#
#     Σ_v p_j(v) f_j(v) = 0,   Σ_v p_j(v) f_jk(v, ·) = 0,   Σ_w p_k(w) f_jk(·, w) = 0.
#
# So f_j is the partial dependence of the score on feature j, less its mean; f_jk is the interaction of two features;
# and b is the mean score under independent features, which without pairs is the mean score of the rows.

INTERCEPT = "intercept"
EFFECT_COLUMN = "effect_{}"
"""The name of the column with the effects on one class, or on one quantile."""


@dataclass(frozen=True, eq=False)
class Effect:
    """A function of one feature or of two: ``values`` has an axis for the cells of each, and one for the scores."""

    cells: tuple[Cells, ...]
    values: Any

    @property
    def is_pair(self) -> bool:
        return len(self.cells) > 1

    @property
    def shares(self) -> Vector:
        """The share of the rows in each cell; of a pair, under independent features."""
        first, *others = (one.shares for one in self.cells)
        return np.multiply.outer(first, others[0]) if others else first

    @property
    def mean_squares(self) -> Vector:
        """The mean square of the effect on each score."""
        squares: Matrix = (self.shares[..., None] * self.values**2).reshape(-1, self.values.shape[-1])
        return squares.sum(axis=0)

    @property
    def strength(self) -> float:
        """The root of the mean square of the effect, added up over the scores."""
        return float(np.sqrt(self.mean_squares).sum())

    def drawn(self, names: Names) -> Effect:
        """The effect with truth values as two categories, for plots."""
        cells, values = list(self.cells), self.values
        for axis, one in enumerate(self.cells):
            found = one.of_truths() if one.feature in names.truths else None
            if found is not None:
                cells[axis], place = found
                values = values.take(place, axis=axis)
        return Effect(tuple(cells), values)

    def on_rows(self, X: Features) -> Matrix:
        """The effect on each row, a column for each score."""
        rows = [one.positions(column_values(X, one.feature, slice(None))) for one in self.cells]
        found: Matrix = self.values[tuple(rows)]
        return found


@dataclass(frozen=True, eq=False)
class Effects:
    """An intercept for each score, and the effects, the strongest first."""

    intercept: Vector
    effects: list[Effect]
    names: Names

    def on_rows(self, X: Features) -> Matrix:
        """The intercept and all effects added up: the scores of rows."""
        total = np.tile(self.intercept, (X.shape[0], 1))
        for effect in self.effects:
            total += effect.on_rows(X)
        return total

    def drawn(self) -> Effects:
        return Effects(self.intercept, [effect.drawn(self.names) for effect in self.effects], self.names)

    @property
    def singles(self) -> list[Effect]:
        return [effect for effect in self.effects if not effect.is_pair]

    @property
    def pairs(self) -> list[Effect]:
        return [effect for effect in self.effects if effect.is_pair]


def is_additive(model: FittedModel) -> bool:
    """Whether all learners with a weight are trees that test at most two features on the way to a leaf."""
    scaled = model.ensemble.scaled_trees
    return scaled is not None and has_small_parts(scaled.trees)


def effects_of(model: FittedModel, features: Features | None) -> Effects:
    """The effects, centred over the rows of ``features``, or if it is None over the training rows."""
    for j, tree in used_trees(model, "effects").items():
        if not has_small_parts([tree]):
            raise UnsupportedModelError(
                f"effects: estimators_[{j}] tests {tree.most_on_a_path} features on the way to one leaf, and effects "
                "exist for one or two features only: use explain(X), or fit with max_depth=2 or 1."
            )
    found = model.tree_sum()
    cells = _cells(model, found, features)
    singles, pairs = _summed_leaves(found, cells)
    intercept = _purify(found.intercepts.copy(), singles, pairs, cells)
    parts = [Effect((cells[k],), values) for k, values in singles.items()]
    parts += [Effect((cells[j], cells[k]), values) for (j, k), values in pairs.items()]
    parts.sort(key=lambda effect: -effect.strength)
    return Effects(intercept, parts, names_of(model))


def _cells(model: FittedModel, found: TreeSum, features: Features | None) -> dict[int, Cells]:
    cuts, by_category = cuts_of(found.trees)
    n_codes = {k: len(known) for k, known in found.inputs.categories.items()}
    marginals = model.marginals or {}
    if features is not None:
        marginals = marginals_of(found.trees, features, np.ones(features.shape[0]), n_codes)
    cells = {}
    for k in sorted({*cuts, *by_category}):
        made = cells_of(k, None if k in by_category else cuts[k], n_codes.get(k, 0), marginals.get(k))
        if made is None:
            raise UnsupportedModelError(
                "effects are centred over rows, and the model has none: it was read from a file, or thinned. Pass X."
            )
        cells[k] = made
    return cells


def _summed_leaves(found: TreeSum, cells: dict[int, Cells]) -> tuple[dict[int, Matrix], dict[tuple[int, int], Any]]:
    """The values of all leaves, added up in tables over the cells of one feature or of two."""
    n_outputs = found.n_outputs
    singles = {k: np.zeros((one.n, n_outputs)) for k, one in cells.items()}
    pairs: dict[tuple[int, int], Any] = {}
    for tree in found.trees:
        for leaf, path in leaf_conditions(tree).items():
            inside = {k: cells[k].admitted(condition) for k, condition in sorted(path.items())}
            value = tree.votes[leaf]
            if len(inside) == 1:
                ((k, own),) = inside.items()
                singles[k] += own[:, None] * value
                continue
            (j, first), (k, second) = inside.items()
            table = pairs.setdefault((j, k), np.zeros((len(first), len(second), n_outputs)))
            table += np.multiply.outer(first, second)[:, :, None] * value
    return singles, pairs


def _purify(
    intercept: Vector, singles: dict[int, Matrix], pairs: dict[tuple[int, int], Any], cells: dict[int, Cells]
) -> Vector:
    """Move means of pairs into functions of one feature, and means of these into the intercept."""
    for (j, k), table in pairs.items():
        p, q = cells[j].shares, cells[k].shares
        of_first, of_second = np.einsum("abk,b->ak", table, q), np.einsum("abk,a->bk", table, p)
        mean = p @ of_first
        table -= of_first[:, None] + of_second[None, :] - mean
        singles[j] += of_first - mean
        singles[k] += of_second - mean
        intercept = intercept + mean
    for k, values in singles.items():
        mean = cells[k].shares @ values
        values -= mean
        intercept = intercept + mean
    return intercept


def effects_table(model: FittedModel, features: Features | None) -> Any:
    """A row for the intercept, and one for each cell of each effect."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError("effects returns a pandas data frame: pip install pandas.") from error
    found, names, columns = effects_of(model, features), model.target.output_names, ["effect"]
    if len(found.intercept) > 1:
        columns = [EFFECT_COLUMN.format(name) for name in names]
    parts = [pd.DataFrame({"feature": [INTERCEPT], "share": [1.0]})]
    parts[0][columns] = found.intercept[None, :]
    for effect in found.effects:
        positions = np.indices(effect.shares.shape).reshape(len(effect.cells), -1)
        described: dict[str, Any] = {}
        for prefix, cells, own in zip(("", "other_"), effect.cells, positions, strict=False):
            described[f"{prefix}feature"] = model.inputs.names[cells.feature]
            of_cells = _described(cells, found.names)
            described |= {f"{prefix}{name}": values[own] for name, values in of_cells.items()}
        part = pd.DataFrame(described | {"share": effect.shares.ravel()})
        part[columns] = effect.values.reshape(-1, len(columns))
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    order = [f"{prefix}{name}" for prefix in ("", "other_") for name in ("feature", "value", "low", "high")]
    return table[[*(name for name in order if name in table), "share", *columns]]


def _described(cells: Cells, names: Names) -> dict[str, NDArray[Any]]:
    """The text of each cell and its bounds, which are nan for categories and missing values."""
    low, high = np.full(cells.n, np.nan), np.full(cells.n, np.nan)
    if cells.cuts is not None:
        low[:-1], high[:-1] = np.append(-np.inf, cells.cuts), np.append(cells.cuts, np.inf)
    return {"value": np.array(cells.texts(names), dtype=object), "low": low, "high": high}
