"""
Distributions of margins
========================

The margin of a row is the weighted share of votes for its own class minus that for the other: 1 where all trees are
right, negative where the ensemble is wrong. What a formulation optimises shows in how it spreads the margins.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from dualboost import DualBoostClassifier
from dualboost.datasets import make_twonorm
from dualboost.formulations import FORMULATIONS

X, y = make_twonorm(4000, random_state=0)
X_train, X_test, y_train, y_test = X[:2000], X[2000:], y[:2000], y[2000:]

models = {f.title: DualBoostClassifier(name).fit(X_train, y_train) for name, f in FORMULATIONS.items()}
train = {name: model.margins(X_train, y_train) for name, model in models.items()}
test = {name: model.margins(X_test, y_test) for name, model in models.items()}

ada = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=100, random_state=0).fit(X_train, y_train)
# scikit-learn's decision function of two classes is twice the normalised margin.
train["AdaBoost"] = 0.5 * y_train * ada.decision_function(X_train)
test["AdaBoost"] = 0.5 * y_test * ada.decision_function(X_test)

# %%
# Cumulative distributions: at 0 a curve shows the share of mistakes. CG-Boost charges for large weights and MD-Boost
# for the spread of the margins; QRLP-Boost and ERLP-Boost raise the worst margins that they do not give up; NM-Boost
# counts all margins, and the negative ones more.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), sharey=True, layout="constrained")
for ax, margins, title in ((axes[0], train, "training rows"), (axes[1], test, "test rows")):
    for name, values in margins.items():
        ax.plot(
            np.sort(values), np.linspace(0, 1, len(values)), lw=1.5, ls="--" if name == "AdaBoost" else "-", label=name
        )
    ax.axvline(0, color="0.5", lw=1)
    ax.set(title=title, xlabel="margin", xlim=(-0.4, 0.9))
    ax.grid(alpha=0.3)
axes[0].set_ylabel("share of rows with a smaller margin")
axes[1].legend(frameon=False)
figure.suptitle("twonorm, at most 100 stumps")

# %%
# A larger smallest margin, or a larger mean, need not mean a better test accuracy:

print(f"{'':12}{'smallest':>10}{'mean':>8}{'spread':>8}{'trees':>7}{'test accuracy':>15}")
for name, values in train.items():
    trees = models[name].n_trees_ if name in models else len(ada.estimators_)
    print(
        f"{name:12}{values.min():10.2f}{values.mean():8.2f}{values.std():8.2f}{trees:7}{np.mean(test[name] > 0):15.3f}"
    )

plt.show()
