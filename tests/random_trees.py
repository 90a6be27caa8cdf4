"""Trees that no one would grow, to try what must hold for all."""

import numpy as np

from dualboost.trees.tree import Tree


def random_tree(rng, n_outputs, numbers=(0, 1), codes=2):
    """Any tree at all: some splits by codes, empty sets and infinite cuts included, and gaps to either side.

    ``numbers`` are the features that may be compared, ``codes`` is the one that holds codes from 0 to 3.
    """
    n = int(rng.integers(1, 7))
    left, right, free = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp), iter(range(n + 1))
    left[:], right[:] = -1, -1
    for node in range(1, n):  # a node is the left or the right child of one before it
        open_sides = [(side, k) for k in range(node) for side in (left, right) if side[k] == -1]
        side, parent = open_sides[rng.integers(len(open_sides))]
        side[parent] = node
    for side in (left, right):
        for node in np.flatnonzero(side == -1):
            side[node] = ~next(free)
    coded = {k: np.flatnonzero(rng.random(4) < 0.4) for k in range(n) if rng.random() < 0.4}
    feature = np.where(np.isin(np.arange(n), list(coded)), codes, rng.choice(numbers, n))
    cuts = rng.choice([-np.inf, np.inf, *rng.normal(size=6)], n)
    votes = rng.normal(size=(n + 1, n_outputs)) if n_outputs > 1 else rng.normal(size=n + 1)
    missing_left = (rng.random(n) < 0.5) & (feature != codes)  # a missing code is in no set
    return Tree(feature, cuts, left, right, missing_left, coded, np.zeros(n), votes)
