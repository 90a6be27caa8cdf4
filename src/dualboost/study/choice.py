"""Which value of the hyperparameter is chosen: the one with the best validation accuracy; and what is made of it."""

from __future__ import annotations

import pandas as pd

from .methods import METHODS
from .protocol import Cell

CELL = list(Cell._fields)


def chosen_fits(fits: pd.DataFrame) -> pd.DataFrame:
    """Of the fits that differ only in the hyperparameter, the one with the best validation accuracy.

    Among equals the fit with the fewest trees is taken, then the smaller value.
    """
    succeeded = fits[fits["error"].isna()] if "error" in fits else fits
    order = succeeded.sort_values(
        ["validation_accuracy", "trees", "value"], ascending=[False, True, True], kind="stable"
    )
    return order.drop_duplicates(CELL[:-1]).sort_values(CELL[:-1]).reset_index(drop=True)


def keys_of(fits: pd.DataFrame) -> list[str]:
    return [Cell(*row).key for row in fits[CELL].itertuples(index=False)]


def tuned(key: str) -> str:
    """What the key of a cell says without its value: fits that agree in it are those that one is chosen of."""
    return key.rpartition("/")[0]


def chosen_cells(fits: pd.DataFrame) -> list[Cell]:
    return [Cell(*row) for row in chosen_fits(fits)[CELL].itertuples(index=False)]


def has_optimal_stages(cell: Cell) -> bool:
    """Whether the cell, if it is chosen, is fitted once more with every stage optimal."""
    return METHODS[cell.method].has_optimal_stages(cell.experiment)


def of_stages(key: str) -> str:
    """The key of the fit that is made once more."""
    return f"{key}/stages"
