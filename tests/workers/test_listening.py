"""Who listens while workers are connected, and where."""

import os
import sys
import time
from pathlib import Path

import pytest
from xgboost.tracker import RabitTracker

from dualboost.workers.xgboost import connected

LISTENS = "0A"
LOCAL = "0100007F"


def listening():
    """The address and port of every socket of this process that listens, as the kernel writes them."""
    held = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        if descriptor.is_symlink():
            held.add(os.readlink(descriptor))
    found = []
    for kind in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS and f"socket:[{fields[9]}]" in held:
                found.append(fields[1])
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the sockets of this process from /proc")
def test_the_tracker_listens_where_it_was_told_and_nobody_after_the_fit():
    before = listening()
    tracker = RabitTracker(n_workers=1, host_ip="127.0.0.1")
    tracker.start()
    port = int(tracker.worker_args()["dmlc_tracker_port"])
    with connected(**tracker.worker_args(), dmlc_timeout=20) as worker:
        worker.sum(1.0)
        during = [one for one in listening() if one not in before]
    tracker.wait_for()
    assert f"{LOCAL}:{port:04X}" in during
    assert len(during) == 2  # the other one is XGBoost's, on which a worker is told of errors elsewhere
    until = time.monotonic() + 10
    while time.monotonic() < until and set(listening()) - set(before):
        time.sleep(0.01)
    assert set(listening()) <= set(before)
