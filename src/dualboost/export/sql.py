"""Ensembles as expressions of SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, UnsupportedModelError
from ..models.tree_sum import TreeSum
from ..targets.base import BinaryTransform, MulticlassTransform, NumericTransform, QuantileTransform, TransformWriter
from ..targets.calibration import AHEAD
from ..targets.classes import DIGITS, TIE
from ..trees.tree import Tree
from .reading import folded, require_text, summed

SAFE_DIGITS = 15
"""Every database reads literals of up to so many digits correctly."""
ALL_DIGITS = 17
"""The digits that distinguish all doubles; SQLite reads some literals of 16 digits as the number next to them."""
ENDS = ("lower", "upper")
NAMES_BEGIN = "db_"
"""The prefix of the names inside an expression."""
NAME_OR_QUOTED = re.compile(rf"""'[^']*'|"[^"]*"|\b{NAMES_BEGIN}""")
"""The prefix, or quoted text, in which the prefix stays unchanged."""


def identifier(name: str) -> str:
    if not name:
        raise UnsupportedModelError("A column has the empty name, which SQL does not have: rename it, and fit again.")
    return '"' + require_text(name, "column", "SQL").replace('"', '""') + '"'


def number(value: float) -> str:
    """A literal with an exponent, which makes it a double; without one it would be a decimal in many databases."""
    short = f"{float(value):.{SAFE_DIGITS - 1}e}"
    text = short if float(short) == value else f"{float(value):.{ALL_DIGITS - 1}e}"
    digits, exponent = text.split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def literal(value: Any) -> str:
    """A class or a category."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return "TRUE" if plain else "FALSE"
    if isinstance(plain, str):
        return "'" + require_text(plain, "class or category", "SQL").replace("'", "''") + "'"
    if isinstance(plain, int):
        return str(plain)
    if isinstance(plain, float):
        return number(plain)
    raise UnsupportedModelError(
        f"The value {plain!r} of type {type(plain).__name__} cannot be written in SQL; classes and categories must be "
        "text, numbers or booleans."
    )


def with_names(expression: str, named: Mapping[str, str]) -> str:
    """The expression with parts that are computed once and used by their names."""
    columns = ", ".join(f"{part} AS {name}" for name, part in named.items())
    return f"(SELECT {expression} FROM (SELECT {columns}) AS db)"


def names(letter: str, n: int) -> list[str]:
    return [f"db_{letter}{k}" for k in range(n)]


def limited(expression: str, limit: float) -> str:
    name, end = "db_limited", number(limit)
    return with_names(
        f"CASE WHEN {name} > {end} THEN {end} WHEN {name} < -{end} THEN -{end} ELSE {name} END", {name: expression}
    )


def smallest(named: Sequence[str], place: int) -> str:
    """The value at a position of the values in increasing order."""
    return f"(SELECT db_v FROM ({_stacked(named)}) AS db_sorted ORDER BY db_v LIMIT 1 OFFSET {place})"


def largest(named: Sequence[str]) -> str:
    return f"(SELECT MAX(db_v) FROM ({_stacked(named)}) AS db_compared)"


def _stacked(named: Sequence[str]) -> str:
    first, *others = named
    return " UNION ALL ".join([f"SELECT {first} AS db_v", *(f"SELECT {name}" for name in others)])


def first_of_largest(named: Sequence[str], results: Sequence[str]) -> str:
    """The result of the first name with the largest value."""
    cases = [
        f"WHEN {' AND '.join(f'{name} >= {other}' for other in named[k + 1 :])} THEN {results[k]}"
        for k, name in enumerate(named[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {results[-1]} END"


class Expression(TransformWriter[str]):
    """The expression of a model with these scores: the prediction, or the output that ``options`` name."""

    def __init__(self, scores: list[str], options: dict[str, Any]) -> None:
        self.scores, self.options = scores, options

    def _require(self, *allowed: str) -> None:
        for name, value in self.options.items():
            if name not in allowed:
                raise InvalidParameterError(f"{name}={value!r} is not for such a model: leave it out.")

    def _class(self, classes: Sequence[Any]) -> int:
        label = self.options["probability_of"]
        if label not in classes:
            raise InvalidParameterError(f"probability_of={label!r} must be one of the classes: {list(classes)}.")
        return list(classes).index(label)

    def two_classes(self, output_transform: BinaryTransform) -> str:
        self._require("probability_of")
        (score,) = self.scores
        if not self.options:
            first, second = map(literal, output_transform.classes)
            is_second = f">= {number(TIE)}" if output_transform.is_normalised else "> 0e0"
            return f"CASE WHEN {score} {is_second} THEN {second} ELSE {first} END"
        sign = "-" if self._class(output_transform.classes) else ""
        if not output_transform.has_log_odds:
            score = with_names(self._curve(output_transform, "db_s"), {"db_s": score})
        return f"1e0 / (1e0 + EXP({sign}({score})))"

    def _curve(self, output_transform: BinaryTransform, score: str) -> str:
        """The log-odds: a slope for each sign of the limited score, and zero at a tie."""
        curve = output_transform.calibration
        limit = min(curve.limit, 1.0) if output_transform.is_normalised else curve.limit
        cases = [f"WHEN ABS({score}) < {number(TIE)} THEN 0e0"] if output_transform.is_normalised else []
        if limit < float("inf"):
            cases += [
                f"WHEN {score} > {number(limit)} THEN {number(limit * curve.positive_slope)}",
                f"WHEN {score} < {number(-limit)} THEN {number(-limit * curve.negative_slope)}",
            ]
        cases += [f"WHEN {score} < 0e0 THEN {score} * {number(curve.negative_slope)}"]
        return f"{number(curve.intercept)} + CASE {' '.join(cases)} ELSE {score} * {number(curve.positive_slope)} END"

    def several_classes(self, output_transform: MulticlassTransform) -> str:
        self._require("probability_of")
        settled = [
            limited(f"ROUND({score}, {DIGITS})", 1.0) if output_transform.is_normalised else score
            for score in self.scores
        ]
        scores, classes = dict(zip(names("s", len(settled)), settled, strict=True)), output_transform.classes
        if not self.options:
            return with_names(first_of_largest(list(scores), [literal(label) for label in classes]), scores)
        return with_names(self._softmax(output_transform, list(scores), self._class(classes)), scores)

    def _softmax(self, output_transform: MulticlassTransform, scores: list[str], position: int) -> str:
        """The probability of the class at a position: one over the sum of the odds of all classes against it."""
        slope, shifts = number(output_transform.calibration.slope), map(number, output_transform.calibration.intercepts)
        logits = names("l", len(scores))
        unlifted = [f"{slope} * {score} + {shift}" for score, shift in zip(scores, shifts, strict=True)]
        probability = f"1e0 / ({' + '.join(f'EXP({logit} - {logits[position]})' for logit in logits)})"
        if not output_transform.lifts:
            return with_names(probability, dict(zip(logits, unlifted, strict=True)))
        before = dict(zip(names("u", len(scores)), unlifted, strict=True))
        lifted = {
            logit: f"CASE WHEN db_best = {k} AND {own} < db_top THEN db_top + {number(AHEAD)} ELSE {own} END"
            for k, (logit, own) in enumerate(zip(logits, before, strict=True))
        }
        best = first_of_largest(scores, [str(k) for k in range(len(scores))])
        with_top = with_names(with_names(probability, lifted), {"db_top": largest(list(before))})
        return with_names(with_top, {"db_best": best, **before})

    def numbers(self, output_transform: NumericTransform) -> str:
        self._require()
        (score,) = self.scores
        return f"EXP({score})" if output_transform.is_logarithm else f"({score})"

    def quantiles(self, output_transform: QuantileTransform) -> str:
        self._require("quantile", "end")
        scores = dict(zip(names("s", len(self.scores)), self.scores, strict=True))
        if "end" in self.options:
            output = self._end(output_transform, list(scores))
        elif "quantile" in self.options:
            output = smallest(list(scores), self._level(output_transform))
        else:
            shares = [(k, share) for k, share in enumerate(output_transform.shares) if share]
            output = " + ".join(f"{number(share)} * {smallest(list(scores), k)}" for k, share in shares)
        return with_names(output, scores)

    def _level(self, output_transform: QuantileTransform) -> int:
        level = self.options["quantile"]
        if level not in output_transform.levels:
            raise InvalidParameterError(
                f"quantile={level!r} must be one of the model's: {list(output_transform.levels)}."
            )
        return list(output_transform.levels).index(level)

    def _end(self, output_transform: QuantileTransform, scores: list[str]) -> str:
        end = self.options["end"]
        if end not in ENDS:
            raise InvalidParameterError(f"end={end!r} must be 'lower' or 'upper'.")
        widening = number(output_transform.widening)
        ends = {
            "db_lower": f"{smallest(scores, 0)} - ({widening})",
            "db_upper": f"{smallest(scores, len(scores) - 1)} + ({widening})",
        }
        own = f"CASE WHEN db_lower > db_upper THEN (db_lower + db_upper) / 2e0 ELSE db_{end} END"
        return with_names(f"{own} {'-' if end == 'lower' else '+'} {number(output_transform.outwards)}", ends)


def to_sql(model: Any, *, probability_of: Any = None, quantile: float | None = None, end: str | None = None) -> str:
    """A fitted ensemble of trees as one expression of SQL over the columns of a table; NULL is a missing value.

    The value of the expression is that of ``predict``: a class or a number. With ``probability_of`` it is the
    probability of this class. Of a regressor with several quantiles, ``quantile`` selects one of its levels, and
    ``end``, "lower" or "upper", an end of the outermost interval of ``predict_interval``. Columns have the names of the
    training columns, or x0, x1, ...; categories are compared by their values, and a category that was not in training
    counts as NULL. Columns that were booleans in training may be BOOLEAN or hold 0 and 1. A tested column is refused if
    it has no name, or if another column has its name in another case: in a database "a" and "A" are one column.

    It is standard SQL (CASE, EXP and subqueries without a table), tested in SQLite and DuckDB. Numbers are doubles, so
    that predictions agree to about 1e-15 of their size. In databases with NaN, NaN is not NULL. SQLite 3.40 reads trees
    up to a depth of 10, and somewhat fewer than 1,000 of them.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_sql
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = DualBoostClassifier(max_depth=1, max_trees=2).fit(X, y)
    >>> query = f"SELECT {to_sql(clf, probability_of=1)} AS probability FROM patients"
    """
    options = {"probability_of": probability_of, "quantile": quantile, "end": end}
    given = {name: value for name, value in options.items() if value is not None}
    if len(given) > 1:
        raise InvalidParameterError(
            f"{' and '.join(given)} are both given: an expression has one value, leave one out."
        )
    found = summed(model)
    _require_different_columns(found)
    return _with_free_names(found.output_transform.written_by(Expression(_scores(found), given)), found.inputs.names)


def _require_different_columns(found: TreeSum) -> None:
    by_name: dict[bytes, list[str]] = {}
    for name in found.inputs.names:
        by_name.setdefault(_folded_name(name), []).append(name)
    for feature in found.used_features.tolist():
        alike = by_name[_folded_name(found.inputs.names[feature])]
        if len(alike) > 1:
            raise UnsupportedModelError(
                f"The columns {alike[0]!r} and {alike[1]!r} differ only in case, so that a database takes both for "
                "one: rename one, and fit again."
            )


def _folded_name(name: str) -> bytes:
    """The name as databases compare it: without the case of ASCII letters."""
    return name.encode("utf-8", "surrogatepass").lower()


def _with_free_names(expression: str, columns: Sequence[str]) -> str:
    """The expression with a prefix for its own names with which no column begins."""
    prefix = NAMES_BEGIN
    while any(column.lower().startswith(prefix) for column in columns):
        prefix += "_"
    return NAME_OR_QUOTED.sub(lambda found: prefix if found[0] == NAMES_BEGIN else found[0], expression)


def _scores(found: TreeSum) -> list[str]:
    """An expression for each score: the trees in their order, then the intercept."""
    return [
        " +\n".join([*(_tree(found, tree, k) for tree in found.trees), number(found.intercepts[k])])
        for k in range(found.n_outputs)
    ]


def _tree(found: TreeSum, tree: Tree, output: int) -> str:
    def leaf(k: int) -> str:
        return number(tree.votes[k, output])

    def split(node: int, left: str, right: str) -> str:
        feature = int(tree.feature[node])
        column, known = _column(found, feature), found.inputs.categories.get(feature)
        # A comparison with NULL is not true, so that the side of missing values follows ELSE.
        first, second, is_left = (right, left, False) if tree.missing_left[node] else (left, right, True)
        if node not in tree.categories:
            test = f"{column} {'<=' if is_left else '>'} {number(tree.threshold[node])}"
        else:
            test = _is_among(column, set(tree.categories[node].tolist()), known, is_left)
        return f"CASE WHEN {test} THEN {first} ELSE {second} END"

    return folded(tree, leaf, split)


def _column(found: TreeSum, feature: int) -> str:
    """A column for comparisons; booleans as integers, since many databases cannot compare booleans to numbers."""
    name = identifier(found.inputs.names[feature])
    return f"CAST({name} AS INTEGER)" if feature in found.inputs.truths else name


def _is_among(column: str, codes: set[int], known: Sequence[Any] | None, is_left: bool) -> str:
    """The test for a category of the left side, or if not ``is_left``, of the right side."""
    if known is None:  # the column holds the codes themselves
        listed = ", ".join(map(str, sorted(codes)))
        return f"{column} IN ({listed})" if is_left else f"{column} NOT IN ({listed})"
    values = ", ".join(literal(value) for code, value in enumerate(known) if (code in codes) == is_left)
    return f"{column} IN ({values})" if values else "1 = 0"
