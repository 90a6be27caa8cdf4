"""Question 19, which the paper did not ask: who is ahead at equal numbers of trees, and of leaves."""

from __future__ import annotations

import pandas as pd

from ..protocol import EQUAL_SIZE
from ..results import Results
from ..sizes import ANY_DEPTH, size_means
from .accuracy import SHALLOW
from .base import HEURISTIC, NOT_ENOUGH, OURS, Verdict, observation

TREES = [5, 10, 20, 40]
LEAVES = [20, 40, 80, 160]
OVER_LEAVES = "logistic"


@observation(
    19,
    "At equal numbers of trees, and of leaves, totally corrective methods are more accurate than the heuristics.",
    "The best of the six has a higher mean accuracy than the best heuristic within 5, 10, 20 and 40 trees at each "
    "depth from 1 to 5, and within 20, 40, 80 and 160 leaves of any depth; C and learning rates are chosen from as "
    "many values, on validation rows.",
    (EQUAL_SIZE,),
)
def ahead_at_equal_size(results: Results) -> Verdict:
    means = _compared(results)
    if means.empty or not {*OURS, *HEURISTIC} <= set(means):
        return NOT_ENOUGH
    leads = means[OURS].max(axis=1) - means[HEURISTIC].max(axis=1)
    figures = {f"{cell}, the six": lead for cell, lead in leads.items()}
    sentence = f"The best of the six is ahead in {int((leads > 0).sum())} of {len(leads)} comparisons."
    if OVER_LEAVES in means:
        over_leaves = means[OVER_LEAVES] - means[HEURISTIC].max(axis=1)
        figures |= {f"{cell}, over leaves": lead for cell, lead in over_leaves.items()}
        sentence += f" Logistic over leaves is ahead of the heuristics in {int((over_leaves > 0).sum())}, and best of "
        sentence += f"all in {int((means[OVER_LEAVES] >= means.max(axis=1)).sum())}."
    return Verdict((leads > 0).all(), f"{sentence} The figures are leads over the best heuristic.", figures)


def _compared(results: Results) -> pd.DataFrame:
    """Mean accuracies, a row for each comparison that the criterion names."""
    trees, leaves = size_means(results.sizes, "trees"), size_means(results.sizes, "leaves")
    rows = {
        f"depth {depth}, {budget} trees": trees.loc[(depth, budget)]
        for depth in SHALLOW
        for budget in TREES
        if (depth, budget) in trees.index
    }
    rows |= {
        f"{budget} leaves": leaves.loc[(ANY_DEPTH, budget)] for budget in LEAVES if (ANY_DEPTH, budget) in leaves.index
    }
    return pd.DataFrame(rows).T
