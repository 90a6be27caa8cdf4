"""Numbers and names in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from .methods import METHODS


def listed(items: Iterable[object]) -> str:
    """Words such as "1, 3 and 5"."""
    *first, last = map(str, items)
    return f"{', '.join(first)} and {last}" if first else last


def counted(n: int, word: str) -> str:
    """Words such as "1 seed" and "5 seeds"."""
    return f"{n} {word}{'s' * (n != 1)}"


def titles(names: Iterable[str]) -> str:
    """The titles of methods, in the order of the registry."""
    return listed(METHODS[name].title for name in sorted(names, key=list(METHODS).index))
