"""
What does each feature do?
==========================

An ensemble of stumps is a sum of one curve for each feature; trees of depth 2 add maps of pairs. So a model is a few
pictures, and nothing in them is approximated.
"""

from sklearn.datasets import load_diabetes

from dualboost import DualBoostRegressor
from dualboost.plots import plot_effects

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X["sex"] = X["sex"].map({1.0: "female", 2.0: "male"}).astype("category")

reg = DualBoostRegressor(max_depth=2, max_trees=20).fit(X, y)
print(f"{reg.n_trees_} trees, {reg.n_leaves_} leaves")

# %%
# How far each value moves the prediction, in the units of y, with the rows below; and what two features do together
# beyond what each does alone.

plot_effects(reg, X)

# %%
# The same as a table. The intercept and the effects of the cells that a row is in add up to its prediction.

print(reg.effects().head(12).to_string(index=False))
