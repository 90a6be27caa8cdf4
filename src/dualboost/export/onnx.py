"""Ensembles as ONNX models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._version import __version__
from ..arguments import how_to_install
from ..errors import MissingDependencyError, UnsupportedModelError
from ..models.tree_sum import TreeSum
from ..targets.base import BinaryTransform, MulticlassTransform, NumericTransform, QuantileTransform, TransformWriter
from ..targets.calibration import AHEAD
from ..targets.classes import DIGITS, TIE
from ..trees.tree import Tree
from .reading import require_text, summed

OPSET, ML_OPSET, IR_VERSION = 18, 5, 10
"""The versions of operators; this ``ML_OPSET`` introduced trees in double precision."""
ML_DOMAIN = "ai.onnx.ml"
TYPES = {"f": "DOUBLE", "i": "INT64", "b": "BOOL", "O": "STRING", "U": "STRING"}
"""The types of ONNX by the kinds of NumPy."""
INT64, DOUBLE = 7, 11
"""The codes of these types in ONNX."""
LESS_OR_EQUAL, SUM = 0, 1
"""The codes of a comparison and of an aggregation in ONNX's tree ensembles."""
OUTSIDE = 0.5
"""The threshold for columns that are 0 or 1."""


def onnx_package() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise MissingDependencyError(f"to_onnx needs the package onnx: {how_to_install('onnx')}.") from error
    return onnx


class Graph:
    """Steps, constants, inputs and outputs.

    Their names must differ: the names of constants and results begin with ``_own``, and no input begins with it.
    """

    def __init__(self, inputs: Sequence[str] = ()) -> None:
        self._own = "_"
        while any(name.startswith(self._own) for name in inputs):
            self._own += "_"
        self._onnx = onnx_package()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def tensor(self, values: NDArray[Any], name: str = "") -> Any:
        if values.dtype.kind == "O":
            for text in values.ravel():
                require_text(text, "class or category", "ONNX")
        return self._onnx.numpy_helper.from_array(values, name)

    def constant(self, values: Any) -> str:
        """Floats as doubles; integers, truth values and text unchanged."""
        array = np.asarray(values)
        dtype = {"i": np.int64, "f": np.float64, "U": object}.get(array.dtype.kind, array.dtype)
        self._constants.append(self.tensor(array.astype(dtype), f"{self._own}c{len(self._constants)}"))
        return str(self._constants[-1].name)

    def step(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        return self.steps(operator, 1, *inputs, domain=domain, **attributes)[0]

    def steps(self, operator: str, n_results: int, *inputs: str, domain: str = "", **attributes: Any) -> list[str]:
        results = [f"{self._own}r{len(self._nodes)}_{k}" for k in range(n_results)]
        self._nodes.append(self._onnx.helper.make_node(operator, inputs, results, domain=domain, **attributes))
        return results

    def input(self, name: str, kind: str, width: int) -> str:
        """A matrix with a row for each row of the data."""
        if not name:
            raise UnsupportedModelError(
                "A column has the empty name, which ONNX does not have: rename it, and fit again."
            )
        require_text(name, "column", "ONNX")
        self._inputs.append(self._info(name, kind, ["rows", width]))
        return name

    def output(self, name: str, result: str, kind: str, *widths: int) -> None:
        if any(one.name == name for one in self._inputs):
            raise UnsupportedModelError(
                f"The column {name!r} has the name of an output of the model in ONNX: rename it, and fit again."
            )
        self._nodes.append(self._onnx.helper.make_node("Identity", [result], [name]))
        self._outputs.append(self._info(name, kind, ["rows", *widths]))

    def _info(self, name: str, kind: str, shape: list[str | int]) -> Any:
        element = getattr(self._onnx.TensorProto, TYPES[kind])
        return self._onnx.helper.make_tensor_value_info(name, element, shape)

    def model(self, producer: str, version: str) -> Any:
        make = self._onnx.helper
        graph = make.make_graph(self._nodes, producer, self._inputs, self._outputs, self._constants)
        versions = [make.make_opsetid("", OPSET), make.make_opsetid(ML_DOMAIN, ML_OPSET)]
        return make.make_model(
            graph, opset_imports=versions, ir_version=IR_VERSION, producer_name=producer, producer_version=version
        )


class CategorySet(NamedTuple):
    """The codes on the left side of a split, and whether missing values go there."""

    codes: frozenset[int]
    takes_missing: bool


class FeatureMatrix:
    """The matrix that trees test, named ``result``, and the positions of features and sets in it.

    Numbers stand in it unchanged. A set of categories has a column that is 1 outside of the set and 0 inside, so that
    all splits are comparisons: the operator for sets in ONNX Runtime 1.21 is wrong where one set follows another.
    """

    def __init__(self, found: TreeSum, graph: Graph) -> None:
        self._found, self._graph = found, graph
        self._has_names = bool(found.inputs.categories)
        self._numbers: dict[int, int] = {}
        self._sets: dict[tuple[int, CategorySet], int] = {}
        self.result = self._made(_sets_of(found.trees))

    def place(self, tree: Tree, node: int) -> int:
        feature = int(tree.feature[node])
        return self._sets[feature, _set_of(tree, node)] if node in tree.categories else self._numbers[feature]

    def _made(self, sets: dict[int, list[CategorySet]]) -> str:
        graph, n = self._graph, len(self._found.inputs.names)
        if not self._has_names:
            parts, width = [graph.input("X", "f", n)], n
            self._numbers = {k: k for k in range(n)}
        else:
            compared = [k for k in self._found.used_features.tolist() if k not in sets]
            parts, width = [graph.input(self._found.inputs.names[k], "f", 1) for k in compared], len(compared)
            self._numbers = {k: place for place, k in enumerate(compared)}
        for feature, own in sets.items():
            parts.append(self._outside(feature, own))
            self._sets |= {(feature, one): width + place for place, one in enumerate(own)}
            width += len(own)
        return graph.step("Concat", *parts, axis=1) if parts else self._rows_alone()

    def _rows_alone(self) -> str:
        """A column of zeros: no tree tests a feature, and the first column only gives the number of rows."""
        graph, name, known = self._graph, self._found.inputs.names[0], self._found.inputs.categories.get(0)
        column = graph.input(name, "f" if known is None else _of_one_type(name, known).dtype.kind, 1)
        return graph.step("ConstantOfShape", graph.step("Shape", column), value=graph.tensor(np.zeros(1)))

    def _outside(self, feature: int, sets: list[CategorySet]) -> str:
        """A column for each set; the last row of the table is for missing and unknown categories."""
        values, column = self._values(feature, sets)
        n = len(values)
        table = [[k not in one.codes for one in sets] for k in range(n)] + [[not one.takes_missing for one in sets]]
        codes = self._graph.step(
            "LabelEncoder",
            column,
            domain=ML_DOMAIN,
            keys_tensor=self._graph.tensor(values),
            values_tensor=self._graph.tensor(np.arange(n, dtype=np.int64)),
            default_tensor=self._graph.tensor(np.array([n], dtype=np.int64)),
        )
        flat = self._graph.step("Reshape", codes, self._graph.constant([-1]))
        sides = self._graph.step("Gather", self._graph.constant(np.array(table, dtype=np.uint8)), flat, axis=0)
        return self._graph.step("Cast", sides, to=DOUBLE)

    def _values(self, feature: int, sets: list[CategorySet]) -> tuple[NDArray[Any], str]:
        graph, name = self._graph, self._found.inputs.names[feature]
        known = self._found.inputs.categories.get(feature)
        if known is None:  # the column holds codes
            codes = np.arange(max((max(one.codes, default=0) for one in sets), default=0) + 1.0)
            return codes, graph.step("Gather", "X", graph.constant([feature]), axis=1)
        values = _of_one_type(name, known)
        column = graph.input(name, values.dtype.kind, 1)
        if values.dtype.kind == "b":
            return values.astype(np.int64), graph.step("Cast", column, to=INT64)
        return values, column


def _sets_of(trees: list[Tree]) -> dict[int, list[CategorySet]]:
    found: dict[int, dict[CategorySet, None]] = {}
    for tree in trees:
        for node in sorted(tree.categories):
            found.setdefault(int(tree.feature[node]), {})[_set_of(tree, node)] = None
    return {feature: list(sets) for feature, sets in found.items()}


def _set_of(tree: Tree, node: int) -> CategorySet:
    return CategorySet(frozenset(tree.categories[node].tolist()), bool(tree.missing_left[node]))


def _of_one_type(name: str, known: list[Any]) -> NDArray[Any]:
    for kind, dtype in ((str, object), (bool, np.bool_), (int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in known):
            return np.array(known, dtype=dtype)
    raise UnsupportedModelError(
        f"The categories of {name!r} are of several types, or of one that ONNX does not have: {known[:5]}. Convert the "
        "column to text, integers, floats or booleans, and fit again."
    )


class Outputs(TransformWriter[None]):
    """Adds the outputs to a graph; ``scores`` is the name of the matrix of scores."""

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

    def two_classes(self, output_transform: BinaryTransform) -> None:
        graph, scores, curve = self.graph, self.scores, output_transform.calibration
        zero, one = graph.constant(0.0), graph.constant(1.0)
        if output_transform.is_normalised:
            is_tie = graph.step("Less", graph.step("Abs", scores), graph.constant(TIE))
            scores = graph.step("Where", is_tie, zero, self._limited(scores, 1.0))
        is_second = graph.step("Reshape", graph.step("Greater", scores, zero), graph.constant([-1]))
        self._label(graph.step("Cast", is_second, to=INT64), output_transform.classes)
        if not output_transform.has_log_odds:
            slopes = map(graph.constant, (curve.negative_slope, curve.positive_slope))
            slope = graph.step("Where", graph.step("Less", scores, zero), *slopes)
            limited = self._limited(scores, curve.limit)
            scores = graph.step("Add", graph.step("Mul", slope, limited), graph.constant(curve.intercept))
        second = graph.step("Sigmoid", scores)
        both = graph.step("Concat", graph.step("Sub", one, second), second, axis=1)
        graph.output("probabilities", both, "f", 2)

    def several_classes(self, output_transform: MulticlassTransform) -> None:
        graph, scores, curve, n = self.graph, self.scores, output_transform.calibration, len(output_transform.classes)
        if output_transform.is_normalised:
            tenths = graph.constant(10.0**DIGITS)
            rounded = graph.step("Round", graph.step("Mul", scores, tenths))
            scores = self._limited(graph.step("Div", rounded, tenths), 1.0)
        best = graph.step("ArgMax", scores, axis=1, keepdims=1)
        self._label(graph.step("Reshape", best, graph.constant([-1])), output_transform.classes)
        logits = graph.step(
            "Add", graph.step("Mul", scores, graph.constant(curve.slope)), graph.constant(curve.intercepts)
        )
        if output_transform.lifts:
            top = graph.step("ReduceMax", logits, graph.constant([1]), keepdims=1)
            is_best = graph.step("Equal", best, graph.constant(np.arange(n)))
            is_low = graph.step("And", is_best, graph.step("Less", logits, top))
            logits = graph.step("Where", is_low, graph.step("Add", top, graph.constant(AHEAD)), logits)
        graph.output("probabilities", graph.step("Softmax", logits, axis=1), "f", n)

    def numbers(self, output_transform: NumericTransform) -> None:
        graph = self.graph
        values = graph.step("Exp", self.scores) if output_transform.is_logarithm else self.scores
        graph.output("prediction", graph.step("Reshape", values, graph.constant([-1])), "f")

    def quantiles(self, output_transform: QuantileTransform) -> None:
        graph, n = self.graph, len(output_transform.levels)
        ordered, _ = graph.steps("TopK", 2, self.scores, graph.constant([n]), axis=1, largest=0, sorted=1)
        median = graph.step("MatMul", ordered, graph.constant(np.asarray(output_transform.shares)[:, None]))
        graph.output("prediction", graph.step("Reshape", median, graph.constant([-1])), "f")
        graph.output("quantiles", ordered, "f", n)
        moved = graph.step(
            "Add",
            graph.step("Gather", ordered, graph.constant([0, n - 1]), axis=1),
            graph.constant(output_transform.widening * np.array([-1.0, 1.0])),
        )
        middle = graph.step("ReduceMean", moved, graph.constant([1]), keepdims=1)
        lower, upper = (graph.step("Gather", moved, graph.constant([k]), axis=1) for k in (0, 1))
        ends = graph.step("Where", graph.step("Greater", lower, upper), middle, moved)
        outwards = graph.constant(output_transform.outwards * np.array([-1.0, 1.0]))
        graph.output("interval", graph.step("Add", ends, outwards), "f", 2)


def to_onnx(model: Any) -> Any:
    """A fitted ensemble of trees as a model of ONNX, an ``onnx.ModelProto``, which needs the package onnx.

    Without categories it has one input, X: a matrix of doubles with a column for each feature, in which nan is a
    missing value. With categories it has an input of one column for each column that a tree tests, with its name:
    numbers are doubles, categories have their own type (text, 64-bit integers, doubles or booleans). A category that
    was not in training is a missing value; so is the empty text, unless it was a category.

    Of a classifier the outputs are "label" and "probabilities", with a column for each class; of a regressor
    "prediction", and with several quantiles also "quantiles" and the outermost "interval". All is computed in
    double precision, so that predictions agree to about 1e-12: the sum over the trees may be taken in another order.
    This needs version 5 of ONNX's operators for machine learning, which ONNX Runtime has from 1.21 on.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualboost import DualBoostClassifier, to_onnx
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = to_onnx(DualBoostClassifier(max_trees=5).fit(X, y))
    >>> [output.name for output in found.graph.output]
    ['label', 'probabilities']
    """
    found = summed(model)
    graph = Graph(found.inputs.names)
    scores = _scores(found, graph, FeatureMatrix(found, graph))
    found.output_transform.written_by(Outputs(graph, scores))
    return graph.model("dualboost", __version__)


def _scores(found: TreeSum, graph: Graph, features: FeatureMatrix) -> str:
    """The name of the matrix of scores; of several scores it is a matrix of leaves times their values."""
    trees, n_outputs = found.trees, found.n_outputs
    if not trees:
        n_rows = graph.step("Slice", graph.step("Shape", features.result), *map(graph.constant, ([0], [1])))
        shape = graph.step("Concat", n_rows, graph.constant([n_outputs]), axis=0)
        return graph.step("Expand", graph.constant(found.intercepts[None, :]), shape)
    values = np.concatenate([tree.votes for tree in trees])
    if n_outputs == 1:
        leaves, weights = np.zeros(len(values), dtype=np.int64), values[:, 0]
    else:
        leaves, weights = np.arange(len(values)), np.ones(len(values))
    added = graph.step(
        "TreeEnsemble",
        features.result,
        domain=ML_DOMAIN,
        aggregate_function=SUM,
        n_targets=int(leaves.max()) + 1,
        leaf_targetids=leaves.tolist(),
        leaf_weights=graph.tensor(np.ascontiguousarray(weights)),
        **_nodes(trees, graph, features),
    )
    if n_outputs > 1:
        added = graph.step("MatMul", added, graph.constant(values))
    # ONNX Runtime drops an Add of a number that is zero in single precision; a Sum stays.
    return graph.step("Sum", added, graph.constant(found.intercepts))


def _nodes(trees: list[Tree], graph: Graph, features: FeatureMatrix) -> dict[str, Any]:
    first_node = np.cumsum([0, *(len(tree.feature) for tree in trees)])
    first_leaf = np.cumsum([0, *(tree.n_leaves for tree in trees)])
    each = [(tree, node) for tree in trees for node in range(len(tree.feature))]
    cuts = [OUTSIDE if node in tree.categories else tree.threshold[node] for tree, node in each]
    attributes: dict[str, Any] = {
        "tree_roots": first_node[:-1].tolist(),
        "nodes_featureids": [features.place(tree, node) for tree, node in each],
        "nodes_splits": graph.tensor(np.array(cuts, dtype=np.float64)),
        "nodes_modes": graph.tensor(np.full(len(each), LESS_OR_EQUAL, dtype=np.uint8)),
        "nodes_missing_value_tracks_true": [int(tree.missing_left[node]) for tree, node in each],
    }
    for side, name in (("left", "true"), ("right", "false")):
        children = [np.asarray(getattr(tree, side)) for tree in trees]
        attributes[f"nodes_{name}leafs"] = [int(child < 0) for own in children for child in own]
        attributes[f"nodes_{name}nodeids"] = [
            int(node + child if child >= 0 else leaf + ~child)
            for own, node, leaf in zip(children, first_node, first_leaf, strict=False)
            for child in own
        ]
    return attributes
