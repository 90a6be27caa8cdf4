"""
Duals in pictures
=================

What a fit does between two trees, on a set that can be drawn: the master gives each row a dual, and pricing looks for
the stump with the largest edge under these duals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from dualboost import DualBoostClassifier, SolverOptions

X, y = make_moons(200, noise=0.3, random_state=0)
sign = np.where(y == 1, 1, -1)


def fit(n_trees):
    """LP-Boost after so many stumps, each the best one under the duals of its moment."""
    return DualBoostClassifier(
        "lp", learner="optimal", max_trees=n_trees, solver=SolverOptions(reoptimize="every")
    ).fit(X, y)


last = fit(100)
stages = {n: fit(n) for n in (1, 4, 10)} | {last.n_generated_: last}
print(last.stop_reason_, "with", last.n_generated_, "stumps, of which", last.n_trees_, "have a weight")

# %%
# The dual of a row
# -----------------
# The size of a dot is the row's dual u (``duals_``): how much the objective would gain if the row's margin could be
# raised a little for free. A row whose margin exceeds one has a dual of zero. A row below one has the largest, C: it is
# wrong, or the ensemble is unsure of it. With so few stumps many rows are exactly at one, with a dual in between.

xx, yy = np.meshgrid(*(np.linspace(X[:, k].min() - 0.3, X[:, k].max() + 0.3, 200) for k in (0, 1)))
grid = np.column_stack([xx.ravel(), yy.ravel()])

figure, axes = plt.subplots(2, 2, figsize=(8, 7), sharex=True, sharey=True, layout="constrained")
for ax, (n, model) in zip(axes.flat, stages.items(), strict=True):
    margin = model.decision_function(grid).reshape(xx.shape)
    ax.contourf(xx, yy, margin, levels=np.linspace(-1, 1, 11), cmap="RdBu", alpha=0.45)
    ax.contour(xx, yy, margin, levels=[0], colors="0.3", linewidths=1)
    duals = model.duals_ / model.formulation_.C
    for label, colour in ((0, "tab:red"), (1, "tab:blue")):
        mine = y == label
        ax.scatter(*X[mine].T, s=2, color=colour)
        ax.scatter(*X[mine].T, s=60 * duals[mine], color=colour, edgecolor="white", linewidth=0.5)
    settled = np.mean(duals < 1e-3)
    ax.set_title(f"{n} stump{'s' * (n > 1)}: {settled:.0%} of the rows have a dual of zero", fontsize=10)
figure.suptitle("LP-Boost: the margin (background) and the duals of the rows (sizes)")

# %%
# Pricing
# -------
# A stump asks whether a feature exceeds a cut. Its edge is the sum of the duals of the rows that it gets right, minus
# that of the rows that it gets wrong. A unit of weight costs 1 in LP-Boost, so a stump with an edge above 1 is worth
# its cost, and the highest point of the curves is the next stump. In the end no curve is above the line: no stump at
# all, generated or not, can improve the ensemble. The stumps that are used touch the line.


def edges(duals, feature):
    """The edge of the stump at each cut of a feature, with the better of its two directions."""
    order = np.argsort(X[:, feature])
    below = np.cumsum((duals * sign)[order])
    return X[order, feature], np.abs(below[-1] - 2 * below)


figure, axes = plt.subplots(2, 2, figsize=(8, 5), sharex="col", sharey="row", layout="constrained")
for row, n in zip(axes, (4, last.n_generated_), strict=True):
    model = stages[n]
    for ax, feature in zip(row, (0, 1), strict=True):
        ax.step(*edges(model.duals_, feature), where="post", color="tab:purple")
        ax.axhline(1.0, color="0.3", lw=1, ls="--", label="the threshold")
        for tree, weight in zip(model.estimators_, model.weights_, strict=True):
            if tree.feature[0] == feature and weight > 0:
                ax.axvline(tree.threshold[0], color="tab:green", alpha=0.5, lw=1 + 3 * weight / model.weights_.max())
    row[0].set_ylabel(f"edge, after {n} stumps")
for ax, feature in zip(axes[1], (0, 1), strict=True):
    ax.set_xlabel(f"cut of feature {feature}")
axes[0, 0].legend(frameon=False)
figure.suptitle("The edge of every stump (purple), and the stumps in use (green, thicker with more weight)")

plt.show()
