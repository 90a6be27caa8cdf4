"""The interface of base learners, the limits of trees, and trees kept in a folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Features, Integers, Vector
from ..arguments import require_choice
from ..data.files import write_whole
from ..errors import InvalidParameterError
from ..matrix.rows import MEMORY, Device
from ..trees.growing import leaf_votes
from ..trees.tree import DEEPEST, Learner, Tree, without_light_leaves
from ..workers import ALONE, Communicator
from ..workers.base import objects_of_all

# Everything in a fit but the trees follows from them: given the trees in the order in which they were grown, the loop
# takes the same steps as before, and ends where it would have ended. So trees are all that is kept.

NAME = "trees.json"
EVERY = 5
"""After how many new trees the file is written anew."""
INTEGERS = ("feature", "left", "right")
NUMBERS = ("threshold", "gain", "votes")


class NoRecord:
    """Where nothing is kept."""

    has_next = False

    def next(self) -> Tree | None:
        raise AssertionError("nothing is kept")

    def add(self, tree: Tree | None) -> None:
        """Forget it."""


class TreeRecord(NoRecord):
    """The trees grown so far, in a folder that the first worker reads and writes.

    ``fit`` identifies their fit: its rows and its parameters.
    """

    def __init__(self, folder: str, fit: dict[str, Any], workers: Communicator) -> None:
        self._path, self._fit, self._workers = Path(folder) / NAME, fit, workers
        found, refusal = objects_of_all(workers, self._read() if workers.rank == 0 else None)[0]
        if refusal is not None:
            raise InvalidParameterError(refusal)
        self._trees: list[Tree | None] = [_tree(one) for one in found]
        self._n_used, self._n_written = 0, len(self._trees)

    @property
    def has_next(self) -> bool:  # type: ignore[override]
        """Whether the next tree is known already."""
        return self._n_used < len(self._trees)

    def next(self) -> Tree | None:
        """The next tree; None where none was found."""
        self._n_used += 1
        return self._trees[self._n_used - 1]

    def add(self, tree: Tree | None) -> None:
        """Keep a tree that was grown."""
        self._trees.append(tree)
        self._n_used += 1
        if self._workers.rank == 0 and len(self._trees) >= self._n_written + EVERY:
            kept = {"fit": self._fit, "trees": [_described(one) for one in self._trees]}
            write_whole(self._path, json.dumps(kept).encode())
            self._n_written = len(self._trees)

    def _read(self) -> tuple[list[Any], str | None]:
        """The trees, and why they cannot be used, if they cannot."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            kept = json.loads(self._path.read_bytes())
            if kept["fit"] != self._fit:
                return [], (
                    f"checkpoint={str(self._path.parent)!r} holds the trees of another fit, of other rows or with "
                    "other parameters: choose another folder, or remove the file trees.json in it."
                )
            return kept["trees"], None
        except FileNotFoundError:
            return [], None
        except (OSError, ValueError, KeyError, TypeError) as error:
            return [], f"checkpoint={str(self._path.parent)!r} cannot be used: {error}. Choose another folder."


def remove_record(folder: str | None, workers: Communicator) -> None:
    """Remove the trees of a fit that is complete, so that the next one begins anew."""
    if folder is not None and workers.rank == 0:
        (Path(folder) / NAME).unlink(missing_ok=True)


def _described(tree: Tree | None) -> dict[str, Any] | None:
    """A tree as JSON, which holds numbers to the last bit."""
    if tree is None:
        return None
    arrays = {name: getattr(tree, name).tolist() for name in (*INTEGERS, *NUMBERS, "missing_left")}
    return arrays | {"categories": [[node, codes.tolist()] for node, codes in tree.categories.items()]}


def _tree(kept: dict[str, Any] | None) -> Tree | None:
    if kept is None:
        return None
    arrays: dict[str, Any] = {name: np.array(kept[name], dtype=np.intp) for name in INTEGERS}
    arrays |= {name: np.array(kept[name], dtype=float) for name in NUMBERS}
    return Tree(
        **arrays,
        missing_left=np.array(kept["missing_left"], dtype=bool),
        categories={int(node): np.array(codes, dtype=np.intp) for node, codes in kept["categories"]},
    )


NO_RECORD = NoRecord()


Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class TreeLimits:
    """The limits of every tree of a fit; by default there are none."""

    fewest_rows: int = 1
    """The fewest training rows in a leaf, equal ones counted one by one."""
    most_leaves: int | None = None
    n_features: int | None = None
    """How many features each split is chosen from, drawn anew for every split; None for all."""
    groups: tuple[frozenset[int], ...] | None = None
    """The sets of features of which one must hold all features on the way to a leaf; None for no such limit."""
    most_together: int | None = None
    """The most features on the way to a leaf; None for no such limit."""
    signs: tuple[int, ...] | None = None
    """For each feature 1 where scores must not fall, -1 where they must not rise, with it; None where no feature is."""
    seed: int = 0

    @property
    def has_few_rows(self) -> bool:
        """Whether leaves need more rows than any leaf has."""
        return self.fewest_rows > 1

    def is_for_later(self, max_depth: int) -> bool:
        """Whether trees of this depth may have too many features on a path, so that LightGBM grows them twice."""
        return self.most_together is not None and max_depth > self.most_together

    def for_second_time(self, tree: Tree) -> dict[str, Any] | None:
        """LightGBM's parameters for this tree with few features on each path; None if it is within the limits already.

        LightGBM takes sets of features that may go together and compares all of them at every node: all pairs of 1,000
        features are too many. But only the pairs on the paths of this tree matter. Where fewer features are above a
        node, the best split is among the first features on these paths; where as many are, they alone are left. So
        the tree is the one that all pairs would give.
        """
        if self.most_together is None:
            return None
        is_small = self.most_leaves is None or tree.n_leaves <= self.most_leaves
        if is_small and tree.most_on_a_path <= self.most_together:
            return None
        found: dict[str, Any] = {} if self.most_leaves is None else {"num_leaves": self.most_leaves}
        groups = sorted(map(sorted, tree.first_on_paths(self.most_together)))
        # Features were drawn when the tree was grown for the first time.
        return found | {"interaction_constraints": groups, "feature_fraction_bynode": 1.0}

    def for_lightgbm(self, n_features: int, rows_each: float) -> dict[str, Any]:
        """The limits as LightGBM's parameters; it estimates how many rows a leaf has, and so only comes near."""
        found: dict[str, Any] = {}
        if self.has_few_rows:
            found["min_data_in_leaf"] = ceil(self.fewest_rows / rows_each)
        if self.n_features is not None:
            found |= {"feature_fraction_bynode": self.n_features / n_features, "feature_fraction_seed": self.seed}
        if self.groups is not None:
            found["interaction_constraints"] = [sorted(group) for group in self.groups]
        if self.signs is not None:
            found |= {"monotone_constraints": list(self.signs), "monotone_constraints_method": "basic"}
        return found

    def for_xgboost(self) -> dict[str, Any]:
        """The limits as XGBoost's parameters, without the rows of a leaf and the features drawn."""
        found: dict[str, Any] = {}
        if self.most_leaves is not None:
            found |= {"grow_policy": "lossguide", "max_leaves": self.most_leaves}
        if self.groups is not None:
            found["interaction_constraints"] = str([sorted(group) for group in self.groups])
        if self.signs is not None:
            found["monotone_constraints"] = f"({','.join(map(str, self.signs))})"
        return found

    def drawn_for_xgboost(self, n_features: int) -> dict[str, Any]:
        """How many features XGBoost draws for each split."""
        if self.n_features is None:
            return {}
        return {"colsample_bynode": min((self.n_features + 0.5) / n_features, 1.0)}  # XGBoost rounds the number down


class AllowedFeatures:
    """The features that a node may be split by: drawn for it, and allowed on a path with the features above it."""

    def __init__(self, limits: TreeLimits, n_features: int) -> None:
        self._n_features, self._n_drawn = n_features, limits.n_features
        self._numbers = np.random.default_rng(limits.seed)
        self._most_together = limits.most_together or n_features
        self._groups = [np.isin(np.arange(n_features), list(group)) for group in limits.groups or ()]
        self.is_limited = any(limit is not None for limit in (limits.groups, limits.most_together, self._n_drawn))

    def after(self, paths: Sequence[frozenset[int]], draws: bool = True) -> Mask:
        """A row for each node, given the features on the way to it, and a column for each feature."""
        allowed = np.array([self._together_with(path) for path in paths])
        if draws and self._n_drawn is not None:
            numbers = np.where(allowed, self._numbers.random(allowed.shape), np.inf)
            allowed &= numbers.argsort(axis=1).argsort(axis=1) < self._n_drawn
        return allowed

    def _together_with(self, path: frozenset[int]) -> Mask:
        """The features of all groups that hold the whole path; only the path where it can have no more."""
        if not self._groups:
            is_full = len(path) >= self._most_together
            return (
                np.isin(np.arange(self._n_features), list(path)) if is_full else np.ones(self._n_features, dtype=bool)
            )
        fitting = [group for group in self._groups if group[list(path)].all()]
        return np.any(fitting, axis=0)


@dataclass(frozen=True)
class PricingContext:
    """The options of a fit that all of its learners share."""

    max_depth: int = 1
    """The depth of trees whose learner has no depth of its own; no tree is deeper than ``DEEPEST``."""
    n_jobs: int = 1
    seed: int = 0
    n_outputs: int = 1
    """How many votes a learner has for a row: one for two classes, else one for each class."""
    leave_out_zeros: bool = False
    """Whether learners are grown without the rows whose dual is zero; worth it if these are many and seldom change."""
    limits: TreeLimits = field(default_factory=TreeLimits)
    """The limits of trees, for learners that take them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_depth", min(self.max_depth, DEEPEST))

    @property
    def has_free_stumps(self) -> bool:
        """Whether trees are stumps, and every stump with enough rows on both sides is allowed at any time."""
        free = replace(self.limits, fewest_rows=1, most_leaves=None, seed=0, most_together=None) == TreeLimits()
        return free and (self.max_depth == 1 or self.limits.most_leaves == 2)

    def with_depth(self, max_depth: int | None) -> PricingContext:
        """The context with the learner's own depth, if it has one."""
        return self if max_depth is None else replace(self, max_depth=int(max_depth))


class TrainingData(NamedTuple):
    """The rows that a pricer grows its learners on."""

    X: Features
    categorical: list[int]
    """The features that hold codes of categories."""
    rows_each: float = 1.0
    """How many of the user's rows a row stands for, on average."""
    n_each: Vector | None = None
    """How many of the user's rows each row stands for; None for one."""
    workers: Communicator = ALONE
    """The workers that hold the other rows."""
    record: NoRecord = NO_RECORD
    """Where the trees of growers that work over workers are kept."""
    device: Device = MEMORY
    """Where residuals, votes and leaves of rows are; X is in memory."""

    @property
    def n_cells(self) -> int:
        """The number of entries of X; of stored entries if it is sparse."""
        return int(getattr(self.X, "nnz", self.X.shape[0] * self.X.shape[1]))

    @property
    def n_merged(self) -> Vector:
        """How many of the user's rows each row stands for."""
        return np.ones(self.X.shape[0]) if self.n_each is None else self.n_each

    def leaves(self, tree: Tree) -> Integers:
        """The leaf of each row, where the residuals are."""
        leaves: Integers = self.device.put(tree.leaves(self.X))
        return leaves

    def sums_by_leaf(self, leaves: Integers, values: Vector, n_leaves: int) -> Vector:
        """The sum of a vector over the rows of each leaf, of all workers and in memory."""
        own = self.device.host(np.bincount(leaves, weights=values, minlength=n_leaves))
        return self.workers.sum(np.asarray(own, dtype=float))

    def held_to(self, limits: TreeLimits, tree: Tree) -> Tree:
        """The tree without the leaves that have too few rows."""
        if not limits.has_few_rows:
            return tree
        return without_light_leaves(tree, self.X, self.n_merged, limits.fewest_rows, self.workers)


class PricedColumn(NamedTuple):
    """A learner with its votes on the training rows."""

    learner: Learner
    votes: Vector
    is_proven: bool = False
    """Whether no learner of the pricer's class has a larger edge."""


class Pricer(Protocol):
    """Looks for a learner with a large edge: the sum over the rows of the residual times the learner's vote.

    The residual is T'u of the target (``dualboost.targets``). For two classes it is the dual of each row times its
    label: its sign is the class of the row, its size the importance of the row. For several classes it has a column
    for each: positive for the class of the row, negative for the others, and zero in sum.
    """

    is_exact: bool
    """Whether the pricer can prove that its columns have the largest edge of its class of learners."""
    n_learners: float
    """An upper bound on how many learners of the class have different votes; infinity if none is known."""

    def price(self, residual: Vector, feature_multiplier: Vector | None) -> PricedColumn:
        """A learner with a large edge, given the residual of each row.

        ``feature_multiplier``, unless None, has a factor for the edges of splits on each feature. A pricer may take it
        into account; then nothing is proven.
        """

    def others(self, residual: Vector, feature_multiplier: Vector | None) -> Iterator[PricedColumn]:
        """Columns to take where the column of ``price`` is held already; a pricer may be without this method.

        Where one of them is proven, so are all, and no learner that is left out, or comes later, has a larger edge.
        """
        return iter(())


class LearnerSpec(Protocol):
    """A learner with its options: it makes the pricer that finds its columns.

    A learner may also have:

    - ``grower(data, context) -> Grower``, if it grows trees whose leaves can be optimised;
    - ``affordable_depth``, a default depth, if deep trees take long;
    - ``takes_limits = True``, if it respects ``TreeLimits``;
    - ``grows_over_workers = True``, if it grows trees over the rows of all workers, and ``alone``, a learner that finds
      the same kind of trees on the rows of one worker;
    - ``takes_rows_on_disk = True``, if X may be on disk;
    - ``grows_on_devices = True``, if it grows trees from residuals on a GPU.
    """

    def check(self) -> None:
        """Raise ``InvalidParameterError`` for an option that is out of its range."""

    def pricer(self, data: TrainingData, context: PricingContext) -> Pricer:
        """The pricer that finds columns of this learner on these rows.

        Where ``context.n_outputs`` is above one, learners have a vote for each class.
        """


def require_voting(voting: Any) -> None:
    require_choice("voting", voting, ["hard", "confidence"])


def priced(
    tree: Tree,
    data: TrainingData,
    residual: Vector,
    voting: str,
    is_proven: bool = False,
    leaves: Integers | None = None,
) -> PricedColumn:
    """The tree as a column, with the votes of its leaves for the residual; ``leaves`` has the leaf of each row."""
    leaves = data.leaves(tree) if leaves is None else leaves
    balance = data.sums_by_leaf(leaves, residual, tree.n_leaves)
    weight = data.sums_by_leaf(leaves, np.abs(residual), tree.n_leaves)
    learner = tree.with_votes(leaf_votes(balance, weight, voting))
    return PricedColumn(learner, data.device.put(learner.votes).take(leaves), is_proven)
