"""One process of the attack: it draws cases, judges them under a limit of its own time, and tells what came of them."""

import signal
import sys
import time
import traceback
import warnings
from contextlib import contextmanager
from typing import NamedTuple

from .attacks import ATTACKS, Outcome

MOST_SECONDS = 120.0
"""Of the time of a process, after which a case counts as hanging."""

AGAIN = 5.0
"""The signal comes again after so many seconds: what is raised inside a callback of C or a ``__del__`` goes nowhere."""


class Hanging(BaseException):
    """A case took too long."""


class Told(NamedTuple):
    """What a worker tells: that it begins a case, or, with an outcome or a failure, what came of it."""

    attack: str
    seed: int
    outcome: Outcome | None = None
    failure: str = ""
    code: str = ""
    smallest: str = ""
    took: float = 0.0


@contextmanager
def limited(seconds):
    """Raise ``Hanging`` once this process has computed for so long."""

    def stop(number, frame):
        raise Hanging(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def failure_of(attack, case):
    """The outcome, and what is wrong; empty if nothing is."""
    try:
        with warnings.catch_warnings(), limited(MOST_SECONDS):
            warnings.simplefilter("ignore")
            return attack.check(case), ""
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        inside = [frame for frame in frames if "dualboost" in frame.filename] or frames
        where = f"{inside[-1].filename.rpartition('/')[2]}:{inside[-1].lineno}"
        steps = "\n".join(getattr(error, "__notes__", []))  # Hypothesis tells the smallest case so
        return None, f"{type(error).__name__} in {where}: {str(error)[:500]}\n{steps}".rstrip()
    except Hanging as error:
        return None, f"hangs: {error}"


def judged(name, seed):
    """Draw a case, judge it, and if it fails make it smaller."""
    from .minimising import minimised

    attack, started = ATTACKS[name], time.monotonic()
    case = attack.draw(seed)
    outcome, failure = failure_of(attack, case)
    took = time.monotonic() - started
    if not failure:
        return Told(name, seed, outcome, took=took)
    smallest = minimised(attack, case, failure)
    return Told(name, seed, None, failure, attack.code(case, name), attack.code(smallest, name), took)


def work(tell, names, first, step, cases, seconds):
    """Take the kinds of attack in turn, the one that has had the least time first, until time or cases are used up."""
    deadline, spent = time.monotonic() + seconds, dict.fromkeys(names, 0.0)
    numbers = dict.fromkeys(names, first)
    while time.monotonic() < deadline:
        left = [name for name in names if cases is None or numbers[name] < cases]
        if not left:
            break
        name = min(left, key=spent.__getitem__)
        number, numbers[name] = numbers[name], numbers[name] + step
        started = time.monotonic()
        tell(name, number)
        spent[name] += time.monotonic() - started


def run(pipe, names, first, step, cases, seconds):
    """What a process does: it says which case it begins, since it may not live to say what came of it."""

    def tell(name, seed):
        pipe.send(Told(name, seed))
        pipe.send(judged(name, seed))

    sys.unraisablehook = lambda _: None  # an interrupt inside __del__ goes nowhere, and is no news
    work(tell, names, first, step, cases, seconds)
    pipe.send(None)
