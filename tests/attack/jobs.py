"""The processes of the attack, and the table of what they tell."""

import multiprocessing
import time
from collections import Counter

from .attacks import ATTACKS
from .worker import MOST_SECONDS, Told, run

BUSY_SECONDS = 6 * MOST_SECONDS
"""How long a process may compute without a word before it counts as hanging, in a call that no signal interrupts."""
IDLE_SECONDS = 600.0
"""How long it may do neither: then it waits for what never comes. A busy machine leaves every process some time."""


def attack(table, asked, seed, seconds):
    """Run the processes until all have ended; one that dies or falls silent is a failure of the case it had begun."""
    jobs = [Job(asked, seed, k, seconds) for k in range(asked.jobs)]
    while jobs:
        for job in list(jobs):
            for told in job.news():
                table.note(told)
            if job.has_ended():
                jobs.remove(job)
        time.sleep(0.2)


class Job:
    """A process, and the case that it has begun."""

    def __init__(self, asked, seed, number, seconds):
        context = multiprocessing.get_context("spawn")
        self.begun, self.is_done, self.reported = None, False, False
        self.ours, theirs = context.Pipe(duplex=False)
        cases = None if asked.cases is None else seed + asked.cases
        arguments = (theirs, asked.kinds, seed + number, asked.jobs, cases, seconds)
        self.process = context.Process(target=run, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.silence = Silence(self.process.pid)

    def news(self):
        """What came of the cases since it was asked last."""
        try:
            while self.ours.poll():
                told = self.ours.recv()
                self.silence = Silence(self.process.pid)
                if told is None:
                    self.is_done = True
                elif told.outcome is None and not told.failure:
                    self.begun = told
                else:
                    yield told
        except EOFError:
            pass
        if not self.is_done and not self.reported and (not self.process.is_alive() or self.silence.is_too_long()):
            self.reported = True
            how = "hangs" if self.process.is_alive() else f"the process died with code {self.process.exitcode}"
            begun = self.begun or Told(next(iter(ATTACKS)), 0)
            yield begun._replace(failure=how, code=code_of(begun.attack, begun.seed))

    def has_ended(self):
        if self.is_done or self.reported:
            self.process.join(5)
            if self.process.is_alive():
                self.process.kill()
            return True
        return False


class Silence:
    """Since when a process has said nothing, by its own time, which does not pass while others have the machine."""

    def __init__(self, pid):
        self._clock = (~pid << 3) | 2  # the number by which Linux knows the clock of a process
        self._began = self._last = self._seconds()
        self._moved = time.monotonic()

    def _seconds(self):
        try:
            return time.clock_gettime(self._clock)
        except OSError:  # it has ended
            return 0.0

    def is_too_long(self):
        seconds = self._seconds()
        if seconds != self._last:
            self._last, self._moved = seconds, time.monotonic()
        return seconds - self._began > BUSY_SECONDS or time.monotonic() - self._moved > IDLE_SECONDS


def code_of(name, seed):
    """What draws and judges the case again."""
    return ATTACKS[name].code(ATTACKS[name].draw(seed), name)


class Table:
    """Counts by kind of attack."""

    def __init__(self):
        self.cases, self.refused, self.judged, self.failed = Counter(), Counter(), Counter(), Counter()
        self.slowest = {}
        self.n_failures = 0

    def note(self, told):
        self.cases[told.attack] += 1
        if told.failure:
            self.failed[told.attack] += 1
            self.n_failures += 1
            print(f"\nFAILURE --kinds {told.attack} --seed {told.seed}: {told.failure}\n{told.code[:6000]}", flush=True)
            if told.smallest != told.code:
                print(f"\nsmaller:\n{told.smallest}", flush=True)
            return
        self.refused[told.attack] += told.outcome.refused
        self.judged[told.attack] += told.outcome.judged and not told.outcome.refused
        is_reading = told.outcome.size is not None
        slowest = (told.outcome.seconds, told.outcome.size) if is_reading else (told.took, 0)
        self.slowest[told.attack] = max(self.slowest.get(told.attack, (0.0, 0)), slowest)

    def text(self):
        lines = [f"{'attack':10} {'cases':>8} {'judged':>8} {'refused':>8} {'failures':>8}  slowest"]
        for name in self.cases:
            seconds, size = self.slowest.get(name, (0.0, 0))
            of = f" for {size} bytes" if size else ""
            counts = (self.cases[name], self.judged[name], self.refused[name], self.failed[name])
            lines.append(f"{name:10} " + " ".join(f"{count:8d}" for count in counts) + f"  {seconds:.2f} s{of}")
        return "\n".join(lines)
