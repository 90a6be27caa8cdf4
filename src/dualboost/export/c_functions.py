"""The functions of a C file that users call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tasks.binary import TIE
from ..tasks.class_calibration import AHEAD
from ..tasks.endings import EndingWriter, NumberEnding, QuantileEnding, SeveralClassEnding, TwoClassEnding
from ..tasks.multiclass import DIGITS
from .reading import require_text

PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\?')
"""The bytes of a literal that mean themselves to every compiler."""


def function(head: str, *lines: str) -> str:
    return "\n".join([head, "{", *(f"  {line}" for line in lines), "}", ""])


def c_string(text: str) -> str:
    """A literal; what is not plain is written byte by byte, in UTF-8."""
    content = require_text(text, "class or category", "C").encode()
    return '"' + "".join(chr(byte) if byte in PLAIN else f"\\{byte:03o}" for byte in content) + '"'


def number(value: float) -> str:
    """A literal with as many digits as tell the number apart."""
    return repr(float(value))


def limited(variable: str, limit: float) -> str:
    end = number(limit)
    return f"{variable} = {variable} > {end} ? {end} : {variable} < -{end} ? -{end} : {variable};"


class Functions(EndingWriter[list[str]]):
    """The functions, made of the one that adds up the trees."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _classes(self, classes: Sequence[Any]) -> str:
        names = ", ".join(c_string(str(label)) for label in classes)
        return f"const char *const {self.name}_classes[{len(classes)}] = {{{names}}};\n"

    def two_classes(self, ending: TwoClassEnding) -> list[str]:
        curve, name = ending.calibration, self.name
        below, above = number(curve.negative_slope), number(curve.positive_slope)
        slope = above if below == above else f"(s < 0.0 ? {below} : {above})"
        settled = [f"if (fabs(s) < {TIE!r}) s = 0.0;", limited("s", 1.0)] if ending.is_normalised else []
        to_log_odds = [
            *([limited("s", curve.limit)] if curve.limit < float("inf") else []),
            f"s = {number(curve.intercept)} + {slope} * s;",
        ]
        return [
            self._classes(ending.classes),
            function(f"double {name}_score(const double *x)", f"double s = {name}_sum(x);", *settled, "return s;"),
            function(
                f"void {name}_predict_proba(const double *x, double *p)",
                f"double s = {name}_score(x);",
                *([] if ending.has_log_odds else to_log_odds),
                "p[1] = 1.0 / (1.0 + exp(-s));",
                "p[0] = 1.0 - p[1];",
            ),
            function(f"int {name}_predict(const double *x)", f"return {name}_score(x) > 0.0;"),
        ]

    def several_classes(self, ending: SeveralClassEnding) -> list[str]:
        name, n = self.name, len(ending.classes)
        settled = [
            "int k;",
            f"{name}_sum(x, s);",
            f"for (k = 0; k < {n}; k++) {{",
            f"  s[k] = rint(s[k] * 1e{DIGITS}) / 1e{DIGITS};",
            f"  {limited('s[k]', 1.0)}",
            "}",
        ]
        return [
            self._classes(ending.classes),
            function(
                f"void {name}_scores(const double *x, double *s)",
                *(settled if ending.is_normalised else [f"{name}_sum(x, s);"]),
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
            self._softmax(ending),
        ]

    def _softmax(self, ending: SeveralClassEnding) -> str:
        curve, name, n = ending.calibration, self.name, len(ending.classes)
        shifts, each = ", ".join(map(number, curve.intercepts)), f"for (k = 0; k < {n}; k++)"
        lifted = [f"if (p[best] < top) top = p[best] = top + {AHEAD!r};"] if ending.lifts else []
        return function(
            f"void {name}_predict_proba(const double *x, double *p)",
            f"static const double shifts[{n}] = {{{shifts}}};",
            "double top, total = 0.0;",
            "int k, best;",
            f"{name}_scores(x, p);",
            f"best = {name}_largest(p);",
            f"{each} p[k] = {number(curve.slope)} * p[k] + shifts[k];",
            f"top = p[{name}_largest(p)];" if ending.lifts else "top = p[best];",
            *lifted,
            f"{each} total += p[k] = exp(p[k] - top);",
            f"{each} p[k] /= total;",
        )

    def numbers(self, ending: NumberEnding) -> list[str]:
        total = f"{self.name}_sum(x)"
        head = f"double {self.name}_predict(const double *x)"
        return [function(head, f"return exp({total});" if ending.is_logarithm else f"return {total};")]

    def quantiles(self, ending: QuantileEnding) -> list[str]:
        name, n = self.name, len(ending.levels)
        shares = [f"{number(share)} * q[{k}]" for k, share in enumerate(ending.shares) if share]
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
                f"ends[0] = q[0] - {number(ending.widening)};",
                f"ends[1] = q[{n - 1}] + {number(ending.widening)};",
                "if (ends[0] > ends[1]) ends[0] = ends[1] = (ends[0] + ends[1]) / 2.0;",
                f"ends[0] -= {number(ending.outwards)};",
                f"ends[1] += {number(ending.outwards)};",
            ),
        ]
