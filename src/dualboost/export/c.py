"""Ensembles as C99."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._version import __version__
from ..errors import InvalidParameterError, UnsupportedModelError
from ..escaping import c_comment
from ..models.tree_sum import TreeSum
from ..targets.base import BinaryTransform, MulticlassTransform, NumericTransform, QuantileTransform, TransformWriter
from ..targets.calibration import AHEAD
from ..targets.classes import DIGITS, TIE
from ..trees.tree import Tree
from .reading import folded, require_text, summed

PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\?')
"""The bytes that every compiler reads literally in a string."""
IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RETURNS = ("double ", "int ", "void ")
"""How the head of a public function begins."""


def function(head: str, *lines: str) -> str:
    return "\n".join([head, "{", *(f"  {line}" for line in lines), "}", ""])


def c_string(text: str) -> str:
    """A literal; other characters than ``PLAIN`` are octal escapes of their UTF-8 bytes."""
    content = require_text(text, "class or category", "C").encode()
    return '"' + "".join(chr(byte) if byte in PLAIN else f"\\{byte:03o}" for byte in content) + '"'


def number(value: float) -> str:
    """The shortest literal that is read as this double."""
    return repr(float(value))


def limited(variable: str, limit: float) -> str:
    end = number(limit)
    return f"{variable} = {variable} > {end} ? {end} : {variable} < -{end} ? -{end} : {variable};"


class Functions(TransformWriter[list[str]]):
    """The public functions, which call the sum over the trees."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _classes(self, classes: Sequence[Any]) -> str:
        names = ", ".join(c_string(str(label)) for label in classes)
        return f"const char *const {self.name}_classes[{len(classes)}] = {{{names}}};\n"

    def two_classes(self, output_transform: BinaryTransform) -> list[str]:
        curve, name = output_transform.calibration, self.name
        below, above = number(curve.negative_slope), number(curve.positive_slope)
        slope = above if below == above else f"(s < 0.0 ? {below} : {above})"
        settled = [f"if (fabs(s) < {TIE!r}) s = 0.0;", limited("s", 1.0)] if output_transform.is_normalised else []
        to_log_odds = [
            *([limited("s", curve.limit)] if curve.limit < float("inf") else []),
            f"s = {number(curve.intercept)} + {slope} * s;",
        ]
        return [
            self._classes(output_transform.classes),
            function(f"double {name}_score(const double *x)", f"double s = {name}_sum(x);", *settled, "return s;"),
            function(
                f"void {name}_predict_proba(const double *x, double *p)",
                f"double s = {name}_score(x);",
                *([] if output_transform.has_log_odds else to_log_odds),
                "p[1] = 1.0 / (1.0 + exp(-s));",
                "p[0] = 1.0 - p[1];",
            ),
            function(f"int {name}_predict(const double *x)", f"return {name}_score(x) > 0.0;"),
        ]

    def several_classes(self, output_transform: MulticlassTransform) -> list[str]:
        name, n = self.name, len(output_transform.classes)
        settled = [
            "int k;",
            f"{name}_sum(x, s);",
            f"for (k = 0; k < {n}; k++) {{",
            f"  s[k] = rint(s[k] * 1e{DIGITS}) / 1e{DIGITS};",
            f"  {limited('s[k]', 1.0)}",
            "}",
        ]
        return [
            self._classes(output_transform.classes),
            function(
                f"void {name}_scores(const double *x, double *s)",
                *(settled if output_transform.is_normalised else [f"{name}_sum(x, s);"]),
            ),
            function(
                f"static int {name}_largest(const double *s)",
                "int k, best = 0;",
                f"for (k = 1; k < {n}; k++) if (s[k] > s[best]) best = k;",
                "return best;",
            ),
            function(
                f"int {name}_predict(const double *x)",
                f"double s[{n}];",
                f"{name}_scores(x, s);",
                f"return {name}_largest(s);",
            ),
            self._softmax(output_transform),
        ]

    def _softmax(self, output_transform: MulticlassTransform) -> str:
        curve, name, n = output_transform.calibration, self.name, len(output_transform.classes)
        shifts, each = ", ".join(map(number, curve.intercepts)), f"for (k = 0; k < {n}; k++)"
        lifted = [f"if (p[best] < top) top = p[best] = top + {AHEAD!r};"] if output_transform.lifts else []
        return function(
            f"void {name}_predict_proba(const double *x, double *p)",
            f"static const double shifts[{n}] = {{{shifts}}};",
            "double top, total = 0.0;",
            "int k, best;",
            f"{name}_scores(x, p);",
            f"best = {name}_largest(p);",
            f"{each} p[k] = {number(curve.slope)} * p[k] + shifts[k];",
            f"top = p[{name}_largest(p)];" if output_transform.lifts else "top = p[best];",
            *lifted,
            f"{each} total += p[k] = exp(p[k] - top);",
            f"{each} p[k] /= total;",
        )

    def numbers(self, output_transform: NumericTransform) -> list[str]:
        total = f"{self.name}_sum(x)"
        head = f"double {self.name}_predict(const double *x)"
        return [function(head, f"return exp({total});" if output_transform.is_logarithm else f"return {total};")]

    def quantiles(self, output_transform: QuantileTransform) -> list[str]:
        name, n = self.name, len(output_transform.levels)
        shares = [f"{number(share)} * q[{k}]" for k, share in enumerate(output_transform.shares) if share]
        return [
            function(
                f"void {name}_predict_quantiles(const double *x, double *q)",
                "int k, j;",
                f"{name}_sum(x, q);",
                f"for (k = 1; k < {n}; k++) {{",
                "  double moved = q[k];",
                "  for (j = k; j > 0 && q[j - 1] > moved; j--) q[j] = q[j - 1];",
                "  q[j] = moved;",
                "}",
            ),
            function(
                f"double {name}_predict(const double *x)",
                f"double q[{n}];",
                f"{name}_predict_quantiles(x, q);",
                f"return {' + '.join(shares)};",
            ),
            function(
                f"void {name}_predict_interval(const double *x, double *ends)",
                f"double q[{n}];",
                f"{name}_predict_quantiles(x, q);",
                f"ends[0] = q[0] - {number(output_transform.widening)};",
                f"ends[1] = q[{n - 1}] + {number(output_transform.widening)};",
                "if (ends[0] > ends[1]) ends[0] = ends[1] = (ends[0] + ends[1]) / 2.0;",
                f"ends[0] -= {number(output_transform.outwards)};",
                f"ends[1] += {number(output_transform.outwards)};",
            ),
        ]


def to_c(model: Any, *, name: str = "model") -> str:
    """A fitted ensemble of trees as the text of one C99 file, which needs the standard library only (``-lm``).

    Every function takes the features of one row as doubles, in the order of the columns that the model was fitted on;
    NAN is a missing value. Names begin with ``name``. There is ``model_predict``; for classes also
    ``model_predict_proba`` and ``model_score`` (``model_scores`` of more than two), and ``model_predict`` gives the
    position of the class in ``model_classes``; for several quantiles ``model_predict_quantiles`` and
    ``model_predict_interval``, the outermost one. Categories that are numbers are passed as they are. For text,
    ``model_category(column, "its name")`` gives the number to pass; it is NAN for a name that was not in training. The
    comment at the top of the file lists functions and columns.

    All sums are in double precision and in the order of the library, so that predictions agree to about 1e-15 of their
    size: exponentials of two libraries may differ in their last digit. ``-ffast-math`` would lose missing values.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_c
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> text = to_c(DualBoostClassifier(max_depth=1, max_trees=2).fit(X, y))
    >>> "void model_predict_proba(const double *x, double *p)" in text
    True
    """
    if not isinstance(name, str) or not IDENTIFIER.fullmatch(name):
        raise InvalidParameterError(f"name={name!r} must be a name in C: letters, digits and underscores.")
    found = summed(model)
    categories, functions = _category(found, name), found.output_transform.written_by(Functions(name))
    headers = ["math", "string"] if categories else ["math"]
    parts = [_comment(found, name, [*functions, categories]), "".join(f"#include <{one}.h>\n" for one in headers)]
    numbered = found.inputs.numbered
    parts += [_tree(f"{name}_tree_{number}", tree, numbered) for number, tree in enumerate(found.trees)]
    parts += [_sum(found, name), categories, *functions]
    return "\n".join(filter(None, parts))


def _comment(found: TreeSum, name: str, functions: Sequence[str]) -> str:
    used, categories = set(found.used_features.tolist()), found.inputs.categories
    notes = {k: f', a category: {name}_category({k}, "...")' for k in categories}
    notes |= dict.fromkeys(found.inputs.numbered, ", a category")
    columns = [
        f"  x[{k}]: {column}" + (notes.get(k, "") if k in used else " (not used)")
        for k, column in enumerate(found.inputs.names)
    ]
    heads = [f"  {line};" for text in functions for line in text.splitlines() if line.startswith(RETURNS)]
    lines = [
        f"Written by dualboost {__version__}: {len(found.trees)} trees. C99; link with -lm.",
        "",
        *heads,
        "",
        f"x has {len(columns)} numbers, of which NAN is a missing one:",
        *columns,
    ]
    return "/* " + "\n".join(f"   {c_comment(line)}".rstrip() for line in lines).lstrip() + "\n*/\n"


def _tree(name: str, tree: Tree, numbered: Mapping[int, Sequence[Any]]) -> str:
    """A function that returns the value of a row's leaf; of several scores, the leaf's row in a table of values."""
    has_one = tree.votes.shape[1] == 1

    def leaf(k: int) -> list[str]:
        return [number(tree.votes[k, 0]) if has_one else str(k)]

    def split(node: int, left: list[str], right: list[str]) -> list[str]:
        return [_test(tree, node, numbered), *_side("? ", left), *_side(": ", right)]

    first, *others = folded(tree, leaf, split)
    others = others or [""]
    others[-1] += ";"
    text = function(f"static {'double' if has_one else 'int'} {name}(const double *x)", f"return {first}", *others)
    return text if has_one else text + _values(name, tree)


def _side(mark: str, lines: list[str]) -> Iterator[str]:
    yield f"  {mark}{lines[0]}"
    yield from (f"  {line}" for line in lines[1:])


def _test(tree: Tree, node: int, numbered: Mapping[int, Sequence[Any]]) -> str:
    """The condition of the left side; comparisons with NAN are false."""
    value, takes_missing = f"x[{tree.feature[node]}]", bool(tree.missing_left[node])
    if node not in tree.categories:
        cut = number(tree.threshold[node])
        return f"!({value} > {cut})" if takes_missing else f"{value} <= {cut}"
    left, known = set(tree.categories[node].tolist()), numbered.get(int(tree.feature[node]))
    if known is not None:  # a category that was not in training goes to the side of missing values
        listed = [number(float(one)) for code, one in enumerate(known) if (code in left) != takes_missing]
        is_listed = " || ".join(f"{value} == {one}" for one in listed) or "0"
        return f"!({is_listed})" if takes_missing else is_listed
    codes = [f"{value} == {code}" for code in sorted(left)]
    return " || ".join([*codes, *([f"isnan({value})"] if takes_missing else [])]) or "0"


def _values(name: str, tree: Tree) -> str:
    rows = ",\n".join("  {" + ", ".join(map(number, row)) + "}" for row in tree.votes)
    return f"static const double {name}_values[{tree.n_leaves}][{tree.votes.shape[1]}] = {{\n{rows}\n}};\n"


def _sum(found: TreeSum, name: str) -> str:
    n_outputs, constants, trees = found.n_outputs, found.intercepts, range(len(found.trees))
    if n_outputs == 1:
        added = [f"s += {name}_tree_{number}(x);" for number in trees]
        added += [f"s += {number(constants[0])};"] if constants[0] else []
        return function(f"static double {name}_sum(const double *x)", "double s = 0.0;", *added, "return s;")
    each, listed = f"for (k = 0; k < {n_outputs}; k++)", ", ".join(map(number, constants))
    adding = function(
        f"static void {name}_add(double *s, const double *values)", "int k;", f"{each} s[k] += values[k];"
    )
    return adding + function(
        f"\nstatic void {name}_sum(const double *x, double *s)",
        f"static const double intercepts[{n_outputs}] = {{{listed}}};",
        "int k;",
        f"{each} s[k] = 0.0;",
        *(f"{name}_add(s, {name}_tree_{number}_values[{name}_tree_{number}(x)]);" for number in trees),
        f"{name}_add(s, intercepts);",
    )


def _category(found: TreeSum, name: str) -> str:
    """The function that turns names of categories into numbers; empty if no tree tests a category that is text."""
    named = {k: known for k, known in found.inputs.categories.items() if k not in found.inputs.numbered}
    used = {k: named[k] for k in found.used_features.tolist() if k in named}
    if not used:
        return ""
    for k, known in used.items():
        _require_different(known, found.inputs.names[k])
    names = {k: ", ".join(c_string(str(value)) for value in known) for k, known in used.items()}
    return function(
        f"double {name}_category(int column, const char *value)",
        *(f"static const char *const names_{k}[] = {{{listed}}};" for k, listed in names.items()),
        "const char *const *names = 0;",
        "int k, n = 0;",
        "switch (column) {",
        *(f"case {k}: names = names_{k}; n = {len(known)}; break;" for k, known in used.items()),
        "}",
        "for (k = 0; k < n; k++) if (strcmp(value, names[k]) == 0) return k;",
        "return NAN;",
    )


def _require_different(known: Sequence[Any], column: str) -> None:
    by_text: dict[str, Any] = {}
    for value in known:
        if str(value) in by_text:
            raise UnsupportedModelError(
                f"The categories {by_text[str(value)]!r} and {value!r} of {column!r} are the same text, by which C "
                "finds a category: convert the column to text or to numbers, and fit again."
            )
        by_text[str(value)] = value
