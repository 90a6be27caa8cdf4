"""An ensemble as a model of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._version import __version__
from ..models.tree_sum import TreeSum
from ..trees.tree import Tree
from .onnx_endings import Outputs
from .onnx_features import OUTSIDE, FeatureMatrix
from .onnx_graph import ML_DOMAIN, Graph
from .reading import summed

LESS_OR_EQUAL, SUM = 0, 1
"""The numbers of ONNX for a kind of split, and for what becomes of the leaves."""


def to_onnx(model: Any) -> Any:
    """A fitted ensemble of trees as a model of ONNX, an ``onnx.ModelProto``, which needs the package onnx.

    Without categories it has one input, X: a matrix of doubles with a column for each feature, in which nan is a
    missing value. With categories it has an input for each column that a tree tests, called as the column and of one
    column: numbers are doubles, categories have their own type (text, 64-bit integers, doubles or booleans), and a
    value that was not seen in training, such as the empty text unless it was, is a missing one.

    Of a classifier the outputs are "label" and "probabilities", with a column for each class; of a regressor
    "prediction", and where it has several quantiles also "quantiles" and the outermost "interval". All is computed in
    double precision, so that answers agree to about 1e-12: the sum over the trees may be taken in another order. That
    needs version 5 of ONNX's operators for machine learning, which ONNX Runtime has from 1.21 on.

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
    found.ending.written_by(Outputs(graph, scores))
    return graph.model("dualboost", __version__)


def _scores(found: TreeSum, graph: Graph, features: FeatureMatrix) -> str:
    """The scores, a column for each: of one score the leaves' values, of several the leaves times their values."""
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
    # ONNX Runtime leaves out an Add of less than single precision can hold, as if it were zero
    return graph.step("Sum", added, graph.constant(found.intercepts))


def _nodes(trees: list[Tree], graph: Graph, features: FeatureMatrix) -> dict[str, Any]:
    """The splits of all trees, one tree after the other, as attributes of a tree ensemble."""
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
