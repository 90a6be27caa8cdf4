"""
Accuracy against trees
======================

How many trees does an accuracy cost? Four models grow stumps on ringnorm. A point is the test accuracy after one
more stump; its place to the right is the number of stumps that have a weight then, so that curves of totally
corrective methods may go back.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from dualboost import DualBoostClassifier, SolverOptions
from dualboost.datasets import make_ringnorm

X, y = make_ringnorm(4000, random_state=0)
y = (y > 0).astype(int)
X_train, X_test, y_train, y_test = X[:2000], X[2000:], y[:2000], y[2000:]

# %%
# ``SolverOptions(reoptimize="every")`` solves the master to the end after every tree, so that each stage is an optimum.

every = SolverOptions(reoptimize="every")
ours = {name: DualBoostClassifier(name, solver=every).fit(X_train, y_train) for name in ("nm", "lp")}
ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, random_state=0).fit(X_train, y_train)
xgb = XGBClassifier(n_estimators=100, max_depth=1, n_jobs=1).fit(X_train, y_train)

curves = {
    model.formulation_.title: (
        model.history_["n_trees"],
        [np.mean(stage == y_test) for stage in model.staged_predict(X_test)],
    )
    for model in ours.values()
}
curves["AdaBoost"] = np.arange(1, 101), [np.mean(stage == y_test) for stage in ada.staged_predict(X_test)]
curves["XGBoost"] = (
    np.arange(1, 101),
    [np.mean(xgb.predict(X_test, iteration_range=(0, t)) == y_test) for t in range(1, 101)],
)

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, (trees, accuracies) in curves.items():
    ax.plot(trees, accuracies, ".-", lw=1, ms=5, label=f"{name}: {accuracies[-1]:.3f} with {trees[-1]} trees")
    ax.plot(trees[-1], accuracies[-1], "o", ms=9, color=ax.lines[-1].get_color())
ax.set(xlabel="trees with a weight", ylabel="test accuracy", title="ringnorm, at most 100 stumps, nothing tuned")
ax.grid(alpha=0.3)
ax.legend(frameon=False)

# %%
# Where the trees went
# --------------------
# AdaBoost gives a tree its weight when it enters, and never looks back: all its trees stay. A totally corrective
# method weighs all trees again after each one. A tree that later ones have made superfluous gets weight zero, and the
# fit ends by itself when no tree improves the optimum.

X, y = load_breast_cancer(return_X_y=True)
ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, random_state=0).fit(X, y)
weights = {
    "AdaBoost": ada.estimator_weights_,
    "NM-Boost, CART": DualBoostClassifier("nm").fit(X, y).weights_,
    "NM-Boost, optimal stumps": DualBoostClassifier("nm", learner="optimal").fit(X, y).weights_,
}

figure, axes = plt.subplots(3, 1, figsize=(7, 5.5), sharex=True, layout="constrained")
for ax, (name, w) in zip(axes, weights.items(), strict=True):
    shares = w / w.sum()
    order = np.arange(1, len(w) + 1)
    ax.bar(order, shares, color="tab:blue")
    ax.plot(order[shares == 0], np.zeros(np.sum(shares == 0)), "x", color="tab:red", label="weight zero")
    ax.set_title(f"{name}: {len(w)} trees generated, {np.count_nonzero(w)} with a weight", fontsize=10)
    ax.set(ylabel="share", xlim=(0, 101), ylim=(-0.06 * shares.max(), 1.1 * shares.max()))
axes[1].legend(frameon=False)
axes[2].set_xlabel("trees, in the order in which they came")
figure.suptitle("The trees' shares of the weight: breast cancer, stumps")

plt.show()
