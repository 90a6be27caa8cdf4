"""What adapters to scikit-learn's regressors share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._typing import Scores
from ...number_base import NumberAdapter
from ..scikit_learn import ScikitLearnModel


class ScikitLearnNumbersAdapter(ScikitLearnModel, NumberAdapter):
    """A fitted regressor, whose raw scores are its predictions or their logarithms."""

    def raw_scores(self, model: Any, X: Any) -> Scores:
        return self.link.inverse(np.asarray(model.predict(X), dtype=float))
