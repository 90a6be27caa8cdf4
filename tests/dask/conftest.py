"""Two workers on this machine, each a process."""

import pytest
from distributed import Client, LocalCluster


def cluster(n_workers=2):
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None)


@pytest.fixture(scope="package")
def client():
    with cluster() as workers, Client(workers) as client:
        yield client
