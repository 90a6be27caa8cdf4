"""One fit, as data that can be made smaller and printed as code."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import dualboost
from dualboost import formulations

NAMES = {name: getattr(module, name) for module in (dualboost, formulations) for name in module.__all__}
NAMES |= {"LogisticRegression": LogisticRegression, "DecisionTreeClassifier": DecisionTreeClassifier}
"""What the source text of an option may name."""

HEADER = "from numpy import inf, nan\nfrom tests.attack.attacks import ATTACKS\nfrom tests.attack.case import Case\n"


@dataclass(frozen=True)
class Case:
    """An estimator with options as source text, a table by columns, a target, and weights."""

    estimator: str
    options: dict[str, str]
    columns: dict[str, list[Any]]
    y: list[Any]
    weights: list[float] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """What an attack needs beside the fit, such as the point of an interrupt."""

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def has_text(self) -> bool:
        return any(isinstance(value, str) for column in self.columns.values() for value in column)

    def X(self) -> Any:
        """A table if a column has text, and an array of numbers otherwise."""
        table = pd.DataFrame(self.columns)
        return table if self.has_text else table.to_numpy(dtype=float)

    def target(self) -> np.ndarray:
        return np.array(self.y)

    def sample_weight(self) -> np.ndarray | None:
        return None if self.weights is None else np.array(self.weights, dtype=float)

    def counts(self) -> np.ndarray:
        """The multiplicities of the rows."""
        return np.ones(self.n_rows) if self.weights is None else np.array(self.weights, dtype=float)

    def model(self) -> Any:
        """The estimator, not fitted."""
        options = {name: eval(source, dict(NAMES)) for name, source in self.options.items()}
        return NAMES[self.estimator](**options)

    def fit(self, model: Any = None) -> Any:
        """The estimator, fitted without its warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return (model or self.model()).fit(self.X(), self.target(), self.sample_weight())

    def warnings(self) -> list[str]:
        """What the estimator says while it is fitted."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self.model().fit(self.X(), self.target(), self.sample_weight())
        return [str(one.message) for one in told]

    def code(self, attack: str) -> str:
        """What reproduces the case, from the root of the repository."""
        parts = {"estimator": self.estimator, "options": self.options, "columns": self.columns, "y": self.y}
        parts |= {"weights": self.weights, "more": self.more}
        inside = "".join(f"    {name}={value!r},\n" for name, value in parts.items() if value or name == "options")
        return f"{HEADER}ATTACKS[{attack!r}].check(Case(\n{inside}))"

    def of_rows(self, rows: list[int]) -> "Case":
        columns = {name: [column[i] for i in rows] for name, column in self.columns.items()}
        weights = None if self.weights is None else [self.weights[i] for i in rows]
        return replace(self, columns=columns, y=[self.y[i] for i in rows], weights=weights)

    def smaller(self):
        """Cases with less: half of the rows, a column, an option or the weights left out, then single rows."""
        half, n = self.n_rows // 2, self.n_rows
        if n > 3:
            yield self.of_rows(list(range(half)))
            yield self.of_rows(list(range(half, n)))
            yield self.of_rows(list(range(0, n, 2)))
        for name in self.columns if len(self.columns) > 1 else ():
            yield replace(self, columns={key: column for key, column in self.columns.items() if key != name})
        for name in self.options:
            yield replace(self, options={key: source for key, source in self.options.items() if key != name})
        if self.weights is not None:
            yield replace(self, weights=None)
        for k in range(n if n <= 40 else 0):
            yield self.of_rows([i for i in range(n) if i != k])
