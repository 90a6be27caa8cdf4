"""
Certificates with optimal stumps
================================

With ``learner="optimal"`` every tree is the best of its whole class under the duals of its moment. That bounds
what any ensemble of the class can reach. The fit ends when the bound meets the objective: a proof.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from dualboost import DualBoostClassifier, SolverOptions

X, y = load_breast_cancer(return_X_y=True)
model = DualBoostClassifier("lp", learner="optimal", max_trees=500, solver=SolverOptions(reoptimize="every")).fit(X, y)

print("stop_reason_ ", model.stop_reason_)
print("objective_   ", model.objective_)
print("bound_       ", model.bound_)
print("gap_         ", model.gap_)

# %%
# The objective falls as stumps enter: it is the optimum over the stumps held. The bound holds for all stumps,
# generated or not, so the optimum over all of them lies in between. A bound of one iteration holds for good; the line
# is the best so far.

history = model.history_
bound = np.fmax.accumulate(history["bound"])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(history["iteration"], history["objective"], color="tab:blue", label="objective over the stumps held")
axes[0].plot(history["iteration"], bound, color="tab:green", label="bound over all stumps")
axes[0].fill_between(history["iteration"], bound, history["objective"], color="0.9")
axes[0].set(xlabel="stumps generated", ylabel="LP-Boost's objective", ylim=(0, 1.05 * history["objective"][0]))
axes[0].legend(frameon=False)
distance = (history["objective"] - bound) / history["objective"]
axes[1].semilogy(history["iteration"], np.maximum(distance, 1e-9), color="0.3")
axes[1].axhline(model.tol, color="tab:red", ls="--", lw=1, label="tol")
axes[1].set(xlabel="stumps generated", ylabel="relative distance to the bound")
axes[1].legend(frameon=False)

# %%
# The same with CART, a heuristic. Its stumps are those with the least Gini impurity. It stops when it finds none that
# improves the ensemble, which proves nothing: ``certified_`` is None, and the objective is larger.

cart = DualBoostClassifier("lp", max_trees=500).fit(X, y)
print("cart   ", cart.stop_reason_, cart.certified_, cart.objective_, cart.n_trees_, "trees")
print("optimal", model.stop_reason_, model.certified_, model.objective_, model.n_trees_, "trees")

plt.show()
