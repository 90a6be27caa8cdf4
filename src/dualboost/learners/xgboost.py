"""Trees by XGBoost."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers, Vector
from ..arguments import how_to_install
from ..data.on_disk import MOST_CUTS, CodedFeatures
from ..errors import GrowingError, MissingDependencyError, WorkerError
from ..matrix.rows import GrowerThreads, threads_for
from ..trees.growing import cuts_by_all
from ..trees.tree import Tree, column_values, constant_tree
from .base import PricedColumn, Pricer, PricingContext, TrainingData
from .cart import CartLearner, TreeLearner, TreePricer
from .lightgbm import SMALLEST_LEAVES
from .newton_trees import LAST_RESORT, Grower, GrownTree, lightest_leaf
from .vector_trees import ClassCartPricer, VectorTrees

# XGBoost reads features in single precision. So it is given the numbers of bins in place of values: one byte for a
# row and feature, which both precisions hold exactly, and its splits between bins are cuts between values in double
# precision.

MORE_BINS = 256
"""More bins than a numeric feature has, so that XGBoost takes each number for a bin; a byte holds their numbers."""
ANY_NUMBER = 2**31 - 1
"""Features with fewer categories than this have splits of one category from all others."""
DIGITS = 24
"""How many binary digits of a number single precision holds."""
EXACT_DIGITS = 53
"""The same for double precision, in which XGBoost adds them up."""

Codes = NDArray[np.unsignedinteger]


def require_xgboost() -> Any:
    try:
        import xgboost
    except ImportError as error:
        raise MissingDependencyError(f"learner='xgboost' needs XGBoost: {how_to_install('xgboost')}.") from error
    return xgboost


class XGBoostRows:
    """The rows as a matrix of bins."""

    def __init__(self, data: TrainingData, n_threads: int) -> None:
        self._xgboost = require_xgboost()
        self._data, self._n_threads = data, n_threads
        self._threads = GrowerThreads(n_threads, data.n_cells)
        n_features = data.X.shape[1]
        self._is_categorical = np.isin(np.arange(n_features), data.categorical)
        numeric = np.flatnonzero(~self._is_categorical).tolist()
        self._device = device = data.device
        if "cuda" in device.of_xgboost and not self._xgboost.build_info().get("USE_CUDA"):
            raise MissingDependencyError(f"device='cuda' needs XGBoost with CUDA: {how_to_install('xgboost')}.")
        cuts = cuts_by_all(
            data.X, numeric, MOST_CUTS, data.workers, lambda values: device.host(np.sort(device.put(values)))
        )
        self._cuts = dict(zip(numeric, cuts, strict=True))
        self._has_missing = np.zeros(n_features, dtype=bool)
        self._workers = data.workers
        codes = self._codes(data)
        self._has_missing = self._workers.max(self._has_missing.astype(float)) > 0
        self._n_rows = self._workers.sum(float(len(codes)))
        highest, lowest = (device.host(ends).astype(float) for ends in (codes.max(axis=0), codes.min(axis=0)))
        ends = self._workers.max(np.array([highest, -lowest]))
        self.can_split = bool((ends[0] != -ends[1]).any())
        self._missing = np.iinfo(codes.dtype).max
        if not device.is_memory:
            self._held = codes
        self.matrix = self._matrix_of(device.shared(codes), None if device.is_memory else self._every_bin(codes))

    def _matrix_of(self, codes: Any, bins_of: Any = None) -> Any:
        return self._xgboost.QuantileDMatrix(
            codes,
            missing=self._missing,
            feature_types=np.where(self._is_categorical, "c", "q").tolist(),
            max_bin=MORE_BINS,
            nthread=threads_for(self._n_threads, self._data.n_cells),
            enable_categorical=True,
            ref=bins_of,
        )

    def _every_bin(self, codes: Codes) -> Any:
        """A matrix in memory with each number of each feature, whose bins are taken: a GPU would merge rare ones."""
        highest = self._device.host(np.where(codes == self._missing, 0, codes).max(axis=0))
        numbers = np.arange(int(highest.max()) + 1)
        return self._matrix_of(np.minimum(numbers[:, np.newaxis], highest).astype(np.float32))

    def _codes(self, data: TrainingData) -> Codes:
        """The bin of each row and feature; the largest number of its type where the value is missing."""
        if isinstance(data.X, CodedFeatures):
            self._has_missing = data.X.has_missing
            return self._device.put(data.X.codes)
        put = self._device.put
        # On a device a tree is followed column by column.
        codes = self._device.xp.empty(data.X.shape, dtype=np.uint8, order="C" if self._device.is_memory else "F")
        for feature in range(data.X.shape[1]):
            values = put(column_values(data.X, feature, slice(None)))
            missing = np.isnan(values)
            self._has_missing[feature] = bool(missing.any())
            is_number = not self._is_categorical[feature]
            own = np.searchsorted(put(self._cuts[feature]), values) if is_number else np.where(missing, 0.0, values)
            if float(own.max()) >= np.iinfo(codes.dtype).max:  # a column of many categories
                wider = codes.astype(np.uint32)
                wider[codes == np.iinfo(codes.dtype).max] = np.iinfo(np.uint32).max
                codes = wider
            codes[:, feature] = np.where(missing, np.iinfo(codes.dtype).max, own.astype(codes.dtype))
        return codes

    def grown(self, gradients: Vector, hessians: Vector, parameters: dict[str, Any]) -> tuple[Tree, Integers]:
        """One tree from these derivatives, and the leaf of each row; the votes of the tree are XGBoost's values."""
        known = self._data.record.next() if self._data.record.has_next else None
        if known is not None:
            return known, self._data.leaves(known)
        tree, leaves = self._grown(gradients, hessians, parameters)
        self._data.record.add(tree)
        return tree, leaves

    def _grown(self, gradients: Vector, hessians: Vector, parameters: dict[str, Any]) -> tuple[Tree, Integers]:
        options = parameters | {"tree_method": "hist", "learning_rate": 1.0, "base_score": 0.0, "verbosity": 0}
        options |= {"max_bin": MORE_BINS, "max_cat_to_onehot": ANY_NUMBER}
        if not self._device.is_memory:
            options |= {"device": self._device.of_xgboost}
        exact = self._exact(gradients, hessians)
        try:
            with self._threads.timed() as number:
                booster = self._xgboost.Booster(options | {"nthread": number}, [self.matrix])
                booster.boost(self.matrix, 0, grad=self._device.shared(exact[0]), hess=self._device.shared(exact[1]))
            model = json.loads(booster.save_raw("json"))
            found = model["learner"]["gradient_booster"]["model"]["trees"][0]
            nodes = self._nodes(booster, found)
        except self._xgboost.core.XGBoostError as failure:
            kind = GrowingError if self._workers.size == 1 else WorkerError
            raise kind(f"XGBoost failed to grow a tree: {failure}") from failure
        return self._converted(found, nodes)

    def _nodes(self, booster: Any, found: dict[str, Any]) -> Integers:
        """The node of XGBoost's tree that each row ends in; on a GPU by following the tree there."""
        if self._device.is_memory:
            nodes: Integers = booster.predict(self.matrix, pred_leaf=True).astype(np.intp).ravel()
            return nodes
        left, right, features = (found[name] for name in ("left_children", "right_children", "split_indices"))
        named = dict(zip(found["categories_nodes"], found["categories_segments"], strict=True))
        nodes = self._device.xp.zeros(len(self._held), dtype=np.intp)
        for node in (node for node in range(len(left)) if left[node] != -1):  # children come after their parents
            codes = self._held[:, features[node]]
            if node in named:
                goes_left = codes != found["categories"][named[node]]
            else:
                goes_left = codes < found["split_conditions"][node]
            goes_left = np.where(codes == self._missing, bool(found["default_left"][node]), goes_left)
            nodes = np.where(nodes == node, np.where(goes_left, left[node], right[node]), nodes)
        return nodes

    def without_features(self, is_excluded: NDArray[np.bool_]) -> dict[str, Any]:
        """Parameters with which a tree has none of these features; an empty array is for none.

        XGBoost draws as many features as are left, features of weight zero last.
        """
        if not is_excluded.any():
            return {}
        self.matrix.set_info(feature_weights=np.where(is_excluded, 0.0, 1.0))
        n_left = np.count_nonzero(~is_excluded)
        return {"colsample_bytree": (n_left + 0.5) / len(is_excluded)}  # XGBoost rounds the number down

    def _exact(self, *vectors: Vector) -> list[NDArray[np.float32]]:
        """Vectors rounded to multiples of one unit each, whose sums over any rows, in any order, are exact.

        So a tree does not depend on how rows are divided among threads and workers.
        """
        largest = self._workers.max(np.array([float(np.abs(values).max()) for values in vectors]))
        digits = min(DIGITS, EXACT_DIGITS - int(np.ceil(np.log2(self._n_rows + 1))))
        units = 2.0 ** (np.frexp(largest)[1] - digits)
        return [(np.rint(values / unit) * unit).astype(np.float32) for values, unit in zip(vectors, units, strict=True)]

    def _converted(self, found: dict[str, Any], nodes: Integers) -> tuple[Tree, Integers]:
        """XGBoost's tree as one of ours, and for each row, given its node, the number of its leaf."""
        left, right = (np.array(found[f"{side}_children"], dtype=np.intp) for side in ("left", "right"))
        is_leaf = left == -1
        values = np.array(found["split_conditions"], dtype=float)
        numbers = np.where(is_leaf, ~(np.cumsum(is_leaf) - 1), np.cumsum(~is_leaf) - 1)
        leaves: Integers = self._device.put(~numbers).take(nodes)
        if len(left) == 1:
            return constant_tree(float(values[0])), leaves
        inner = np.flatnonzero(~is_leaf)
        feature = np.array(found["split_indices"], dtype=np.intp)[inner]
        to_left = np.array(found["default_left"], dtype=bool)[inner]
        by_category = np.array(found["split_type"])[inner] == 1
        # The category that XGBoost names goes right in its trees, and left in ours.
        ours = np.where(by_category, [right[inner], left[inner]], [left[inner], right[inner]])
        threshold = np.array([self._cut(k, value) for k, value in zip(feature, values[inner], strict=True)])
        tree = Tree(
            feature=feature,
            threshold=threshold,
            left=numbers[ours[0]],
            right=numbers[ours[1]],
            # As LightGBM does, a missing number counts as zero if training rows have none.
            missing_left=np.where(by_category, ~to_left, np.where(self._has_missing[feature], to_left, threshold >= 0)),
            categories=_categories(found, numbers),
            gain=np.array(found["loss_changes"], dtype=float)[inner],
            votes=values[is_leaf],
        )
        return tree, leaves

    def _cut(self, feature: int, condition: float) -> float:
        """The cut between the bins below and above XGBoost's condition; a split of missing values has no bin above."""
        if self._is_categorical[feature]:
            return 0.0
        return float(np.append(self._cuts[feature], np.inf)[min(int(np.ceil(condition)) - 1, len(self._cuts[feature]))])


def _categories(found: dict[str, Any], numbers: Integers) -> dict[int, Integers]:
    return {
        int(numbers[node]): np.array(found["categories"][start : start + size], dtype=np.intp)
        for node, start, size in zip(
            found["categories_nodes"], found["categories_segments"], found["categories_sizes"], strict=True
        )
    }


# LightGBM grows the same trees (``cart.py``, ``newton_trees.py``): XGBoost maximises the same sum of G^2/(H +
# ridge). It grows them over the rows of many workers too.


@dataclass
class XGBoostLearner(TreeLearner):
    """Trees that XGBoost grows greedily: ``learner="xgboost"`` with options.

    Numbers are cut as for ``CartLearner``, with at most 254 cuts, and a split by category takes one category only. Of
    several classes, ``CartLearner`` grows the trees.

    Parameters
    ----------
    max_depth : int, default=None
        The greatest depth of a tree; None takes that of the estimator.
    voting : {"hard", "confidence"}, default="hard"
        A leaf votes -1 or +1, or its weighted class balance in [-1, 1]; of several classes, for one of them, or with
        their weighted shares.
    """

    max_depth: int | None = None
    voting: str = "hard"

    name: ClassVar[str] = "xgboost"
    takes_limits: ClassVar[bool] = True
    grows_over_workers: ClassVar[bool] = True
    takes_rows_on_disk: ClassVar[bool] = True
    grows_on_devices: ClassVar[bool] = True

    @property
    def alone(self) -> CartLearner:
        """The learner for the rows of one worker."""
        return CartLearner(max_depth=self.max_depth, voting=self.voting)

    def _pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        return XGBoostPricer(data, self.voting, context)

    def _class_pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        return ClassCartPricer(data, context, self.voting, n_cuts=MOST_CUTS, precision=np.float64)

    def _grower(self, data: TrainingData, context: PricingContext) -> Grower:
        return XGBoostNewtonTrees(data, context)

    def _class_grower(self, data: TrainingData, context: PricingContext) -> Grower:
        return VectorTrees(data, context, np.float64, MOST_CUTS)


class XGBoostPricer(TreePricer):
    """Grows one tree for each call on binned training rows; the leaves vote by their weighted class balance."""

    def __init__(self, data: TrainingData, voting: str, context: PricingContext) -> None:
        super().__init__(data, voting, context)
        self._rows = XGBoostRows(data, context.n_jobs)
        of_leaves = {"reg_lambda": 0.0, "min_child_weight": SMALLEST_LEAVES[0]}
        self._parameters = {"max_depth": context.max_depth} | of_leaves | context.limits.for_xgboost()

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        """Features with the multiplier zero take no part; XGBoost cannot weigh the gains of the others."""
        tree, leaves = self._grown(residual, feature_multiplier)
        return self._priced(tree, residual, leaves)

    def _grown(self, residual: Vector, feature_multiplier: Vector | None) -> tuple[Tree, Integers | None]:
        size = np.abs(residual)
        n_counted, total = self._data.workers.sum(np.array([float((size > 0).sum()), float(size.sum())]))
        excluded = np.zeros(0, dtype=bool) if feature_multiplier is None else np.asarray(feature_multiplier == 0)
        if not self._rows.can_split or not n_counted or (len(excluded) and excluded.all()):
            return constant_tree(-1.0), None
        scale = n_counted / total
        parameters = self._parameters | self._rows.without_features(excluded)
        return self._rows.grown(-scale * residual, scale * size, parameters)


class XGBoostNewtonTrees:
    """Grows trees for leaves that are re-optimised, from the gradient and the curvature of the loss."""

    def __init__(self, data: TrainingData, context: PricingContext) -> None:
        self._data, self._limits = data, context.limits
        self._rows = XGBoostRows(data, context.n_jobs)
        self._parameters = {"max_depth": context.max_depth} | context.limits.for_xgboost()
        self._has_grown, self._n_asked = False, 0

    def grow(self, residual: Vector, curvature: Vector, ridge: float) -> GrownTree | None:
        if not self._rows.can_split:
            return None
        grown = self._grown(residual, curvature, ridge, lightest_leaf(ridge))
        if grown is None and not self._has_grown:
            grown = self._grown(residual, curvature, ridge, LAST_RESORT)
        self._has_grown |= grown is not None
        return grown

    def _grown(self, residual: Vector, curvature: Vector, ridge: float, lightest: float) -> GrownTree | None:
        parameters = self._parameters | {"reg_lambda": ridge, "min_child_weight": lightest}
        self._n_asked += 1
        drawn = {"seed": self._limits.seed + self._n_asked} | self._limits.drawn_for_xgboost(self._data.X.shape[1])
        tree, leaves = self._rows.grown(-residual, curvature, parameters | drawn)
        if tree.n_leaves < 2 and self._limits.n_features is not None:
            tree, leaves = self._rows.grown(-residual, curvature, parameters)
        return self._held_to_limits(tree, leaves)

    def _held_to_limits(self, tree: Tree, leaves: Integers) -> GrownTree | None:
        held = self._data.held_to(self._limits, tree)
        if held.n_leaves < 2:
            return None
        own = leaves if held is tree else self._data.leaves(held)
        grown = GrownTree(held, own.astype(np.min_scalar_type(held.n_leaves - 1)))
        return grown.ordered_by(self._limits.signs)
