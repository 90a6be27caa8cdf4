"""What ONNX makes of the scores of a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedModelError
from ..tasks.binary import TIE
from ..tasks.class_calibration import AHEAD
from ..tasks.endings import EndingWriter, NumberEnding, QuantileEnding, SeveralClassEnding, TwoClassEnding
from ..tasks.multiclass import DIGITS
from .onnx_graph import INT64, TYPES, Graph


class Outputs(EndingWriter[None]):
    """Adds the outputs to a graph, of which ``scores`` names the matrix of the scores."""

    def __init__(self, graph: Graph, scores: str) -> None:
        self.graph, self.scores = graph, scores

    def _limited(self, values: str, limit: float) -> str:
        return self.graph.step("Clip", values, self.graph.constant(-limit), self.graph.constant(limit))

    def _label(self, positions: str, classes: Sequence[Any]) -> None:
        known = np.array(classes)
        if known.dtype.kind not in TYPES:
            raise UnsupportedModelError(f"Classes of type {type(classes[0]).__name__} cannot be written in ONNX.")
        labels = self.graph.step("Gather", self.graph.constant(known), positions)
        self.graph.output("label", labels, known.dtype.kind)

    def two_classes(self, ending: TwoClassEnding) -> None:
        graph, scores, curve = self.graph, self.scores, ending.calibration
        zero, one = graph.constant(0.0), graph.constant(1.0)
        if ending.is_normalised:
            is_tie = graph.step("Less", graph.step("Abs", scores), graph.constant(TIE))
            scores = graph.step("Where", is_tie, zero, self._limited(scores, 1.0))
        is_second = graph.step("Reshape", graph.step("Greater", scores, zero), graph.constant([-1]))
        self._label(graph.step("Cast", is_second, to=INT64), ending.classes)
        if not ending.has_log_odds:
            slopes = map(graph.constant, (curve.negative_slope, curve.positive_slope))
            slope = graph.step("Where", graph.step("Less", scores, zero), *slopes)
            limited = self._limited(scores, curve.limit)
            scores = graph.step("Add", graph.step("Mul", slope, limited), graph.constant(curve.intercept))
        second = graph.step("Sigmoid", scores)
        both = graph.step("Concat", graph.step("Sub", one, second), second, axis=1)
        graph.output("probabilities", both, "f", 2)

    def several_classes(self, ending: SeveralClassEnding) -> None:
        graph, scores, curve, n = self.graph, self.scores, ending.calibration, len(ending.classes)
        if ending.is_normalised:
            tenths = graph.constant(10.0**DIGITS)
            rounded = graph.step("Round", graph.step("Mul", scores, tenths))
            scores = self._limited(graph.step("Div", rounded, tenths), 1.0)
        best = graph.step("ArgMax", scores, axis=1, keepdims=1)
        self._label(graph.step("Reshape", best, graph.constant([-1])), ending.classes)
        logits = graph.step(
            "Add", graph.step("Mul", scores, graph.constant(curve.slope)), graph.constant(curve.intercepts)
        )
        if ending.lifts:
            top = graph.step("ReduceMax", logits, graph.constant([1]), keepdims=1)
            is_best = graph.step("Equal", best, graph.constant(np.arange(n)))
            is_low = graph.step("And", is_best, graph.step("Less", logits, top))
            logits = graph.step("Where", is_low, graph.step("Add", top, graph.constant(AHEAD)), logits)
        graph.output("probabilities", graph.step("Softmax", logits, axis=1), "f", n)

    def numbers(self, ending: NumberEnding) -> None:
        graph = self.graph
        values = graph.step("Exp", self.scores) if ending.is_logarithm else self.scores
        graph.output("prediction", graph.step("Reshape", values, graph.constant([-1])), "f")

    def quantiles(self, ending: QuantileEnding) -> None:
        graph, n = self.graph, len(ending.levels)
        ordered, _ = graph.steps("TopK", 2, self.scores, graph.constant([n]), axis=1, largest=0, sorted=1)
        median = graph.step("MatMul", ordered, graph.constant(np.asarray(ending.shares)[:, None]))
        graph.output("prediction", graph.step("Reshape", median, graph.constant([-1])), "f")
        graph.output("quantiles", ordered, "f", n)
        moved = graph.step(
            "Add",
            graph.step("Gather", ordered, graph.constant([0, n - 1]), axis=1),
            graph.constant(ending.widening * np.array([-1.0, 1.0])),
        )
        middle = graph.step("ReduceMean", moved, graph.constant([1]), keepdims=1)
        lower, upper = (graph.step("Gather", moved, graph.constant([k]), axis=1) for k in (0, 1))
        ends = graph.step("Where", graph.step("Greater", lower, upper), middle, moved)
        outwards = graph.constant(ending.outwards * np.array([-1.0, 1.0]))
        graph.output("interval", graph.step("Add", ends, outwards), "f", 2)
