"""
Thinning an XGBoost model
=========================

``thin`` weighs the trees of a model that you already have anew. Most weights become zero, and those trees go. What
comes back is an ``XGBClassifier``.
"""

import matplotlib.pyplot as plt
from xgboost import XGBClassifier

from dualboost import thin
from dualboost.datasets import make_ringnorm

X, y = make_ringnorm(8000, random_state=0)
y = (y > 0).astype(int)
model = XGBClassifier(n_estimators=100, max_depth=3, learning_rate=0.3, n_jobs=1).fit(X[:4000], y[:4000])

# %%
# Pass rows that the model has not seen as ``validation_data``: on its own training rows it looks better than it is.

result = thin(model, X[:4000], y[:4000], tolerance=0.005, validation_data=(X[4000:6000], y[4000:6000]))
print(result.summary())

# %%
# Each point is an ensemble that was tried. The smallest one within the tolerance is taken.

ax = result.plot()
ax.set_title("XGBoost on ringnorm, half a point of accuracy to lose")

# %%
# On rows that took no part in either:

for name, m in (("as it was", model), ("thinned", result.model)):
    print(f"{name:9} {m.get_booster().num_boosted_rounds():3} trees, test accuracy {m.score(X[6000:], y[6000:]):.4f}")

plt.show()
