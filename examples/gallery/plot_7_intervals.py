"""
How far off may a prediction be?
================================

A single number hides how sure a model is. Several quantiles in one set of trees give an interval for every row: wide
where the data are noisy, narrow where they are not. Rows that are set aside see to it that it covers what it promises.
"""

import matplotlib.pyplot as plt
import numpy as np

from dualboost import DualBoostRegressor
from dualboost.plots import plot_intervals

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 10, 2000))[:, None]
y = 3 * np.sin(X[:, 0]) + rng.normal(size=len(X)) * (0.3 + 0.2 * X[:, 0])

reg = DualBoostRegressor(
    "quantile", quantiles=[0.05, 0.5, 0.95], interval_calibration="conformal", max_depth=3, max_trees=10, random_state=0
)
reg.fit(X, y)

# %%
# Ten trees, and the noise grows to the right: so does the interval.

grid = np.linspace(0, 10, 500)[:, None]
low, high = reg.predict_interval(grid).T

figure, ax = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
ax.scatter(X[:, 0], y, 5, color="0.6", linewidths=0, label="rows")
ax.fill_between(grid[:, 0], low, high, color="#56B4E9", alpha=0.4, label="90 % interval")
ax.plot(grid[:, 0], reg.predict(grid), color="#0072B2", label="median")
ax.plot(grid[:, 0], 3 * np.sin(grid[:, 0]), color="0.2", ls=":", label="true median")
ax.set(xlabel="x", ylabel="y", title=f"{reg.n_trees_} trees, {reg.n_leaves_} leaves, gap {reg.gap_:.0e}")
ax.legend(frameon=False, ncols=2)

# %%
# New rows, in the order of their predictions: about one in ten is outside.

X_new = rng.uniform(0, 10, 1000)[:, None]
y_new = 3 * np.sin(X_new[:, 0]) + rng.normal(size=len(X_new)) * (0.3 + 0.2 * X_new[:, 0])
plot_intervals(reg, X_new, y_new)
