"""The trees of a fit, kept in a folder while it runs, so that a fit that was interrupted goes on from them.

Everything in a fit but the trees follows from them: given the trees in the order in which they were grown, the loop
takes the same steps as before, and ends where it would have ended. So trees are all that is kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..data.whole_files import write_whole
from ..errors import InvalidParameterError
from ..trees.tree import Tree
from ..workers import Communicator
from ..workers.exchange import objects_of_all

NAME = "trees.json"
EVERY = 5
"""After how many new trees the file is written anew."""
INTEGERS = ("feature", "left", "right")
NUMBERS = ("threshold", "gain", "votes")


class NoRecord:
    """Where nothing is kept."""

    has_next = False

    def next(self) -> Tree | None:
        raise AssertionError("nothing is kept")

    def add(self, tree: Tree | None) -> None:
        """Forget it."""


class TreeRecord(NoRecord):
    """The trees grown so far, in a folder that the first worker reads and writes.

    ``fit`` says which fit they are of: its rows and its parameters.
    """

    def __init__(self, folder: str, fit: dict[str, Any], workers: Communicator) -> None:
        self._path, self._fit, self._workers = Path(folder) / NAME, fit, workers
        found, refusal = objects_of_all(workers, self._read() if workers.rank == 0 else None)[0]
        if refusal is not None:
            raise InvalidParameterError(refusal)
        self._trees: list[Tree | None] = [_tree(one) for one in found]
        self._n_used, self._n_written = 0, len(self._trees)

    @property
    def has_next(self) -> bool:  # type: ignore[override]
        """Whether the next tree is known already."""
        return self._n_used < len(self._trees)

    def next(self) -> Tree | None:
        """The next tree; None where none was found."""
        self._n_used += 1
        return self._trees[self._n_used - 1]

    def add(self, tree: Tree | None) -> None:
        """Keep a tree that was grown."""
        self._trees.append(tree)
        self._n_used += 1
        if self._workers.rank == 0 and len(self._trees) >= self._n_written + EVERY:
            kept = {"fit": self._fit, "trees": [_described(one) for one in self._trees]}
            write_whole(self._path, json.dumps(kept).encode())
            self._n_written = len(self._trees)

    def _read(self) -> tuple[list[Any], str | None]:
        """The trees, and why they cannot be used, if they cannot."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            kept = json.loads(self._path.read_bytes())
            if kept["fit"] != self._fit:
                return [], (
                    f"checkpoint={str(self._path.parent)!r} holds the trees of another fit, of other rows or with "
                    "other parameters: choose another folder, or remove the file trees.json in it."
                )
            return kept["trees"], None
        except FileNotFoundError:
            return [], None
        except (OSError, ValueError, KeyError, TypeError) as error:
            return [], f"checkpoint={str(self._path.parent)!r} cannot be used: {error}. Choose another folder."


def remove_record(folder: str | None, workers: Communicator) -> None:
    """Remove the trees of a fit that is complete, so that the next one begins anew."""
    if folder is not None and workers.rank == 0:
        (Path(folder) / NAME).unlink(missing_ok=True)


def _described(tree: Tree | None) -> dict[str, Any] | None:
    """A tree as JSON, which holds numbers to the last bit."""
    if tree is None:
        return None
    arrays = {name: getattr(tree, name).tolist() for name in (*INTEGERS, *NUMBERS, "missing_left")}
    return arrays | {"categories": [[node, codes.tolist()] for node, codes in tree.categories.items()]}


def _tree(kept: dict[str, Any] | None) -> Tree | None:
    if kept is None:
        return None
    arrays: dict[str, Any] = {name: np.array(kept[name], dtype=np.intp) for name in INTEGERS}
    arrays |= {name: np.array(kept[name], dtype=float) for name in NUMBERS}
    return Tree(
        **arrays,
        missing_left=np.array(kept["missing_left"], dtype=bool),
        categories={int(node): np.array(codes, dtype=np.intp) for node, codes in kept["categories"]},
    )


NO_RECORD = NoRecord()
