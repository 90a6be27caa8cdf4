"""Make the model you already have smaller: train XGBoost, thin it, save it, load it, and compare.

Run as ``make thin``; it needs no network. Writes ``out/thinning.png`` and ``out/thinned.json``.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from dualboost import thin
from dualboost.datasets import make_ringnorm

OUT = Path("out")


def main(n_rows: int = 10_000) -> None:
    X, y = make_ringnorm(n_rows, random_state=0)
    y = (y > 0).astype(int)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

    model = XGBClassifier(n_estimators=100, max_depth=3, learning_rate=0.3, n_jobs=1).fit(X_train, y_train)
    result = thin(model, X_train, y_train, tolerance=0.005, validation_data=(X_val, y_val), verbose=1)

    OUT.mkdir(exist_ok=True)
    result.model.save_model(OUT / "thinned.json")  # XGBoost's own file: deploy it as you deployed the other
    smaller = XGBClassifier()
    smaller.load_model(OUT / "thinned.json")

    print(result.summary())
    for name, m in (("as it was", model), ("thinned", smaller)):
        accuracy = np.mean(m.predict(X_test) == y_test)
        print(f"on {len(y_test)} test rows, {name:9}: accuracy {accuracy:.4f}, ", end="")
        print(f"log loss {log_loss(y_test, m.predict_proba(X_test)):.4f}")

    ax = result.plot()
    ax.set_title("XGBoost on ringnorm: the smallest ensemble within half a point")
    ax.figure.savefig(OUT / "thinning.png", dpi=130)
    print(f"picture: {OUT / 'thinning.png'}")


if __name__ == "__main__":
    main()
