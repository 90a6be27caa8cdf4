"""A smaller case that fails in the same way."""

import time

from .case import Case
from .worker import failure_of

SECONDS = 60.0


def kind_of(failure):
    """What makes two failures the same: the type of the error, and where a message has words, the first of them."""
    first, _, words = failure.partition(":")
    return first, words.split()[:2]


def minimised(attack, case, failure, seconds=SECONDS):
    """Leave out rows, columns and options one after the other, as long as the case still fails likewise."""
    deadline, smallest, wanted = time.monotonic() + seconds, case, kind_of(failure)
    if not isinstance(case, Case):
        return case
    was_smaller = True
    while was_smaller and time.monotonic() < deadline:
        was_smaller = False
        for one in smallest.smaller():
            if time.monotonic() >= deadline:
                break
            found = failure_of(attack, one)[1]
            if found and kind_of(found) == wanted:
                smallest, was_smaller = one, True
                break
    return smallest
