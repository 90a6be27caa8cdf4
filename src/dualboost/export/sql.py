"""An ensemble as an expression of SQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..errors import InvalidParameterError, UnsupportedModelError
from ..models.tree_sum import TreeSum
from ..trees.tree import Tree
from .reading import folded, summed
from .sql_endings import Question
from .sql_text import identifier, literal, number

NAMES_BEGIN = "db_"
"""How the names begin that an expression gives to its parts."""
NAME_OR_QUOTED = re.compile(rf"""'[^']*'|"[^"]*"|\b{NAMES_BEGIN}""")
"""The beginning of such a name, or quoted text, in which it would mean something else."""


def to_sql(model: Any, *, probability_of: Any = None, quantile: float | None = None, end: str | None = None) -> str:
    """A fitted ensemble of trees as one expression of SQL over the columns of a table; NULL is a missing value.

    The expression is what ``predict`` gives: a class or a number. ``probability_of`` asks for the probability of a
    class instead. Of a regressor with several quantiles, ``quantile`` asks for one of its levels, and ``end``, "lower"
    or "upper", for an end of the outermost interval of ``predict_interval``. Columns have the names of those that the
    model was fitted on, or x0, x1, ...; categories are compared by their values, and a value that was not seen in
    training counts as NULL. Columns that were booleans in training may be BOOLEAN or hold 0 and 1. A column that a tree
    tests is refused if it has no name, or if another column has its name in another case: a database takes "a" and "A"
    for one column.

    It is standard SQL (CASE, EXP and subqueries that select from no table) and was run in SQLite and DuckDB. Numbers
    are doubles, so that answers agree to about 1e-15 of their size. Databases that know NaN do not take it for NULL.
    SQLite 3.40 reads trees up to a depth of 10, and somewhat fewer than 1,000 of them.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_sql
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = DualBoostClassifier(max_depth=1, max_trees=2).fit(X, y)
    >>> query = f"SELECT {to_sql(clf, probability_of=1)} AS probability FROM patients"
    """
    asked = {"probability_of": probability_of, "quantile": quantile, "end": end}
    given = {name: value for name, value in asked.items() if value is not None}
    if len(given) > 1:
        raise InvalidParameterError(
            f"{' and '.join(given)} are both given: an expression has one value, leave one out."
        )
    found = summed(model)
    _require_different_columns(found)
    return _with_free_names(found.ending.written_by(Question(_scores(found), given)), found.inputs.names)


def _require_different_columns(found: TreeSum) -> None:
    """Refuse a column that a database takes for another one of the table, whether a tree tests that one or not."""
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
    """What databases compare: only ASCII letters are the same in both cases."""
    return name.encode("utf-8", "surrogatepass").lower()


def _with_free_names(expression: str, columns: Sequence[str]) -> str:
    """The expression with names of its own that no column has: a database would take the one for the other."""
    prefix = NAMES_BEGIN
    while any(column.lower().startswith(prefix) for column in columns):
        prefix += "_"
    return NAME_OR_QUOTED.sub(lambda found: prefix if found[0] == NAMES_BEGIN else found[0], expression)


def _scores(found: TreeSum) -> list[str]:
    """An expression for each score: trees in their order, then the intercept."""
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
        # A comparison with NULL is not true, so that the side that NULL takes stands behind ELSE.
        first, second, is_left = (right, left, False) if tree.missing_left[node] else (left, right, True)
        if node not in tree.categories:
            test = f"{column} {'<=' if is_left else '>'} {number(tree.threshold[node])}"
        else:
            test = _is_among(column, set(tree.categories[node].tolist()), known, is_left)
        return f"CASE WHEN {test} THEN {first} ELSE {second} END"

    return folded(tree, leaf, split)


def _column(found: TreeSum, feature: int) -> str:
    """A column as it is compared: truth values as numbers, since many databases compare the two in no other way."""
    name = identifier(found.inputs.names[feature])
    return f"CAST({name} AS INTEGER)" if feature in found.inputs.truths else name


def _is_among(column: str, codes: set[int], known: Sequence[Any] | None, is_left: bool) -> str:
    """Whether a row has one of the categories that go left, or if not ``is_left``, one of those that do not."""
    if known is None:  # the column holds the codes themselves
        listed = ", ".join(map(str, sorted(codes)))
        return f"{column} IN ({listed})" if is_left else f"{column} NOT IN ({listed})"
    values = ", ".join(literal(value) for code, value in enumerate(known) if (code in codes) == is_left)
    return f"{column} IN ({values})" if values else "1 = 0"
