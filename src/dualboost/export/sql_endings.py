"""What SQL makes of the scores of a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidParameterError
from ..tasks.binary import TIE
from ..tasks.class_calibration import AHEAD
from ..tasks.endings import EndingWriter, NumberEnding, QuantileEnding, SeveralClassEnding, TwoClassEnding
from ..tasks.multiclass import DIGITS
from .sql_text import literal, number

ENDS = ("lower", "upper")


def with_names(expression: str, named: Mapping[str, str]) -> str:
    """The expression with some parts computed once and called by names."""
    columns = ", ".join(f"{part} AS {name}" for name, part in named.items())
    return f"(SELECT {expression} FROM (SELECT {columns}) AS db)"


def names(letter: str, n: int) -> list[str]:
    """Names that no column of a table is likely to have."""
    return [f"db_{letter}{k}" for k in range(n)]


def limited(expression: str, limit: float) -> str:
    name, end = "db_limited", number(limit)
    return with_names(
        f"CASE WHEN {name} > {end} THEN {end} WHEN {name} < -{end} THEN -{end} ELSE {name} END", {name: expression}
    )


def smallest(named: Sequence[str], place: int) -> str:
    """The value in one place of the values in increasing order."""
    return f"(SELECT db_v FROM ({_stacked(named)}) AS db_sorted ORDER BY db_v LIMIT 1 OFFSET {place})"


def largest(named: Sequence[str]) -> str:
    return f"(SELECT MAX(db_v) FROM ({_stacked(named)}) AS db_compared)"


def _stacked(named: Sequence[str]) -> str:
    first, *others = named
    return " UNION ALL ".join([f"SELECT {first} AS db_v", *(f"SELECT {name}" for name in others)])


def first_of_largest(named: Sequence[str], answers: Sequence[str]) -> str:
    """The answer of the first name whose value is not below any other."""
    cases = [
        f"WHEN {' AND '.join(f'{name} >= {other}' for other in named[k + 1 :])} THEN {answers[k]}"
        for k, name in enumerate(named[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {answers[-1]} END"


class Question(EndingWriter[str]):
    """The expression asked for: ``asked`` is empty for the prediction, else it has one entry."""

    def __init__(self, scores: list[str], asked: dict[str, Any]) -> None:
        self.scores, self.asked = scores, asked

    def _require(self, *allowed: str) -> None:
        for name, value in self.asked.items():
            if name not in allowed:
                raise InvalidParameterError(f"{name}={value!r} is not for such a model: leave it out.")

    def _class(self, classes: Sequence[Any]) -> int:
        """The position of the class whose probability is asked for."""
        label = self.asked["probability_of"]
        if label not in classes:
            raise InvalidParameterError(f"probability_of={label!r} must be one of the classes: {list(classes)}.")
        return list(classes).index(label)

    def two_classes(self, ending: TwoClassEnding) -> str:
        self._require("probability_of")
        (score,) = self.scores
        if not self.asked:
            first, second = map(literal, ending.classes)
            is_second = f">= {number(TIE)}" if ending.is_normalised else "> 0e0"
            return f"CASE WHEN {score} {is_second} THEN {second} ELSE {first} END"
        sign = "-" if self._class(ending.classes) else ""
        log_odds = score if ending.has_log_odds else with_names(self._curve(ending, "db_s"), {"db_s": score})
        return f"1e0 / (1e0 + EXP({sign}({log_odds})))"

    def _curve(self, ending: TwoClassEnding, score: str) -> str:
        """The log-odds: a slope for each sign of the score, which is limited, and zero where it is a tie."""
        curve = ending.calibration
        limit = min(curve.limit, 1.0) if ending.is_normalised else curve.limit
        cases = [f"WHEN ABS({score}) < {number(TIE)} THEN 0e0"] if ending.is_normalised else []
        if limit < float("inf"):
            cases += [
                f"WHEN {score} > {number(limit)} THEN {number(limit * curve.positive_slope)}",
                f"WHEN {score} < {number(-limit)} THEN {number(-limit * curve.negative_slope)}",
            ]
        cases += [f"WHEN {score} < 0e0 THEN {score} * {number(curve.negative_slope)}"]
        return f"{number(curve.intercept)} + CASE {' '.join(cases)} ELSE {score} * {number(curve.positive_slope)} END"

    def several_classes(self, ending: SeveralClassEnding) -> str:
        self._require("probability_of")
        settled = [
            limited(f"ROUND({score}, {DIGITS})", 1.0) if ending.is_normalised else score for score in self.scores
        ]
        scores = dict(zip(names("s", len(settled)), settled, strict=True))
        if not self.asked:
            return with_names(first_of_largest(list(scores), [literal(label) for label in ending.classes]), scores)
        return with_names(self._softmax(ending, list(scores), self._class(ending.classes)), scores)

    def _softmax(self, ending: SeveralClassEnding, scores: list[str], asked: int) -> str:
        """One over the sum of the odds of all classes against the one asked for."""
        slope, shifts = number(ending.calibration.slope), map(number, ending.calibration.intercepts)
        logits = names("l", len(scores))
        unlifted = [f"{slope} * {score} + {shift}" for score, shift in zip(scores, shifts, strict=True)]
        probability = f"1e0 / ({' + '.join(f'EXP({logit} - {logits[asked]})' for logit in logits)})"
        if not ending.lifts:
            return with_names(probability, dict(zip(logits, unlifted, strict=True)))
        before = dict(zip(names("u", len(scores)), unlifted, strict=True))
        lifted = {
            logit: f"CASE WHEN db_best = {k} AND {own} < db_top THEN db_top + {number(AHEAD)} ELSE {own} END"
            for k, (logit, own) in enumerate(zip(logits, before, strict=True))
        }
        best = first_of_largest(scores, [str(k) for k in range(len(scores))])
        with_top = with_names(with_names(probability, lifted), {"db_top": largest(list(before))})
        return with_names(with_top, {"db_best": best, **before})

    def numbers(self, ending: NumberEnding) -> str:
        self._require()
        (score,) = self.scores
        return f"EXP({score})" if ending.is_logarithm else f"({score})"

    def quantiles(self, ending: QuantileEnding) -> str:
        self._require("quantile", "end")
        scores = dict(zip(names("s", len(self.scores)), self.scores, strict=True))
        if "end" in self.asked:
            wanted = self._end(ending, list(scores))
        elif "quantile" in self.asked:
            wanted = smallest(list(scores), self._level(ending))
        else:
            shares = [(k, share) for k, share in enumerate(ending.shares) if share]
            wanted = " + ".join(f"{number(share)} * {smallest(list(scores), k)}" for k, share in shares)
        return with_names(wanted, scores)

    def _level(self, ending: QuantileEnding) -> int:
        level = self.asked["quantile"]
        if level not in ending.levels:
            raise InvalidParameterError(f"quantile={level!r} must be one of the model's: {list(ending.levels)}.")
        return list(ending.levels).index(level)

    def _end(self, ending: QuantileEnding, scores: list[str]) -> str:
        end = self.asked["end"]
        if end not in ENDS:
            raise InvalidParameterError(f"end={end!r} must be 'lower' or 'upper'.")
        widening = number(ending.widening)
        ends = {
            "db_lower": f"{smallest(scores, 0)} - ({widening})",
            "db_upper": f"{smallest(scores, len(scores) - 1)} + ({widening})",
        }
        own = f"CASE WHEN db_lower > db_upper THEN (db_lower + db_upper) / 2e0 ELSE db_{end} END"
        return with_names(f"{own} {'-' if end == 'lower' else '+'} {number(ending.outwards)}", ends)
