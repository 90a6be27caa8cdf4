"""
Tuning C
========

Every formulation has one hyperparameter, C. ``DualBoostClassifierCV`` compares ten values on rows held out. They
share their trees, so that all ten together cost about as much as a few fits.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualboost import DualBoostClassifier, DualBoostClassifierCV
from dualboost.datasets import make_ringnorm

X, y = make_ringnorm(4000, random_state=0)
X_train, X_test, y_train, y_test = X[:2000], X[2000:], y[:2000], y[2000:]

tuned = {
    name: DualBoostClassifierCV(name, select="sparsest", random_state=0).fit(X_train, y_train)
    for name in ("nm", "lp", "qrlp")
}

# %%
# The path
# --------
# ``path_`` holds the validation accuracy, its standard error and the trees used, for every value. ``select="best"``
# takes the highest accuracy, ``"sparsest"`` the fewest trees within one standard error of it.

figure, axes = plt.subplots(2, 3, figsize=(10, 5.2), sharex="col", sharey="row", layout="constrained")
for column, model in zip(axes.T, tuned.values(), strict=True):
    path = model.path_
    best = path["C"][np.argmax(path["score"])]
    column[0].errorbar(path["C"], path["score"], path["standard_error"], fmt="o-", ms=4, capsize=2, color="0.4")
    column[1].plot(path["C"], path["n_trees"], "o-", ms=4, color="0.4")
    for ax in column:
        ax.axvline(best, color="tab:red", lw=9, alpha=0.3, label="the most accurate")
        ax.axvline(model.C_, color="tab:green", lw=2.5, label="the sparsest of about that accuracy")
    column[0].set_title(model.formulation_.title)
    column[1].set(xscale="log", xlabel="C")
axes[0, 0].set_ylabel("validation accuracy")
axes[1, 0].set_ylabel("trees used")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)

# %%
# The chosen value is fitted again on all rows. On the test rows, beside the default C:

for name, model in tuned.items():
    for what, m in ((f"C = {model.C_:.3g}", model), ("C = None", DualBoostClassifier(name).fit(X_train, y_train))):
        print(f"{name:5} {what:10} {m.n_trees_:3} trees, test accuracy {np.mean(m.predict(X_test) == y_test):.3f}")

plt.show()
