"""What a data set asks for: two classes, several or numbers, each with its methods, sizes and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import equal_trees_numbers as numbers
import numpy as np
from equal_trees_data import Split, n_classes
from equal_trees_extras import EXTRAS
from equal_trees_methods import METHODS, OURS, Run, by_class, log_loss
from sklearn.metrics import roc_auc_score

ALL_METHODS = [*METHODS, *EXTRAS]


class Target(NamedTuple):
    """The methods there are, what is run unless something else is asked for, and the figures of answers."""

    title: str
    methods: dict[str, Run]
    depths: tuple[int, ...]
    our_sizes: tuple[int, ...]
    rival_sizes: tuple[int, ...]
    figures: Callable[[Split, np.ndarray], dict[str, Any]]

    def sizes(self, method: str) -> tuple[int, ...]:
        """Our numbers of trees, or a rival's rounds."""
        return self.our_sizes if method == OURS else self.rival_sizes


def figures_of_classes(split: Split, answers: np.ndarray) -> dict[str, Any]:
    probabilities = by_class(answers)
    return {
        "accuracy": float(np.mean(probabilities.argmax(axis=1) == split.y_test)),
        "log_loss": log_loss(split.y_test, probabilities),
    }


def figures_of_two_classes(split: Split, answers: np.ndarray) -> dict[str, Any]:
    """With the area under the curve; of more classes there is none where a class has no row to score on."""
    area = float(roc_auc_score(split.y_test, by_class(answers)[:, 1]))
    return figures_of_classes(split, answers) | {"auc": area}


_TREES = (5, 10, 20, 40, 100)
_TREES_FOR_NUMBERS = (5, 10, 20, 30, 40, 100)
TWO_CLASSES = Target("two classes", METHODS | EXTRAS, (1, 2, 3, 5), _TREES, _TREES, figures_of_two_classes)
SEVERAL_CLASSES = Target("several classes", METHODS, (3, 4, 5), (10, 20, 40), _TREES, figures_of_classes)
NUMBERS = Target(
    "numbers", numbers.METHODS | numbers.EXTRAS, (1, 2, 3, 5), _TREES_FOR_NUMBERS, _TREES_FOR_NUMBERS, numbers.figures
)


def task_of(folder: Path, name: str) -> Target:
    return {0: NUMBERS, 2: TWO_CLASSES}.get(n_classes(folder, name), SEVERAL_CLASSES)
