"""Fixtures of tests on clusters."""

import dask
import pytest

from eigenlabel.datasets import make_shared_subspace


@pytest.fixture(autouse=True)
def synchronous():
    """Run tasks in this thread unless a test has a cluster."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def data():
    return make_shared_subspace(120, 9, 6, 2, prevalence=0.3, random_state=0)


@pytest.fixture
def cluster(tmp_path):
    from distributed import LocalCluster

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=str(tmp_path),
        ) as made,
    ):
        yield made
