"""Warns users, once a call, of what holds for many of its fits.

Python shows a warning once for each place and text, but forgets what it has shown whenever filters change, and
scikit-learn changes them before every fit of a search. So what was told is kept here, without its figures, which differ
from fold to fold, until users call from another place.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from types import CodeType, FrameType

from .errors import DualBoostWarning

ONCE = ("default", "once", "module")
"""The actions of filters that show a warning once, in Python's own ways."""
SEARCHERS = ("sklearn", "joblib")
"""Packages that fit many models in one call."""
FIGURE = re.compile(r"\d[\d.,]*(e[+-]?\d+)?")

Place = tuple[CodeType, int]
_places: list[Place] = []
"""Where the user's call stands, outwards."""
_told: set[tuple[type[DualBoostWarning], str]] = set()
"""What was told in this call."""


def warn_user(message: str, category: type[DualBoostWarning]) -> None:
    """Warn, and point to the call by which the user came into this package."""
    level, caller = 1, sys._getframe(0)
    while _package(caller) == "dualboost" and caller.f_back is not None:
        level, caller = level + 1, caller.f_back
    if _action(message, category, caller) not in ONCE or _is_news(message, category, caller):
        warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def _is_news(message: str, category: type[DualBoostWarning], caller: FrameType) -> bool:
    """Whether this call of the user was not told the same, but for figures; from now on it was."""
    places, told = list(_outwards(caller)), (category, FIGURE.sub("#", message))
    is_same_call = len(places) == len(_places) and all(
        code is other and line == other_line for (code, line), (other, other_line) in zip(places, _places, strict=True)
    )
    if not is_same_call:
        _places[:] = places
        _told.clear()
    is_news = told not in _told
    _told.add(told)
    return is_news


def _outwards(caller: FrameType) -> Iterator[Place]:
    """The places of the call, without those of packages that fit many models."""
    frame: FrameType | None = caller
    while frame is not None:
        if _package(frame) not in SEARCHERS:
            yield frame.f_code, frame.f_lineno
        frame = frame.f_back


def _action(message: str, category: type[DualBoostWarning], caller: FrameType) -> str:
    """What Python's filters say of such a warning."""
    module = caller.f_globals.get("__name__", "")
    filters = getattr(warnings, "_get_filters", lambda: warnings.filters)()  # the former from Python 3.14 on
    for action, text, kind, place, line in filters:
        if (
            issubclass(category, kind)
            and (text is None or text.match(message))
            and (place is None or place.match(module))
            and line in (0, caller.f_lineno)
        ):
            return str(action)
    return str(getattr(warnings, "defaultaction", "default"))
