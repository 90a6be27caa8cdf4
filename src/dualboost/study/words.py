"""Numbers and names in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from .methods import METHODS

PARTS = {
    "cart": "CART trees",
    "confidence": "confidence-rated",
    "optimal": "optimal",
    "reweight": "reweighted",
    "equal_size": "equal sizes",
}
"""The experiments as readers know them."""


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


def short(name: str) -> str:
    """The title of a method without the ending that the paper's six share."""
    return METHODS[name].title.removesuffix("-Boost")


def figure(value: float) -> str:
    """The value with three digits, never as a power of ten."""
    text = f"{value:.3g}"
    return f"{value:.5f}" if "e-" in text else f"{value:.0f}" if "e" in text else text


def unbroken(text: str) -> str:
    """The text on one line, wherever it stands."""
    return text.replace(" ", "\u00a0")
