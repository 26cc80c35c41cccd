"""A Dask cluster on this machine, for tests: worker processes, or threads of the test's own process."""

import warnings
from contextlib import contextmanager


@contextmanager
def dask_cluster(workers=2, *, processes=True):
    """Start a scheduler and workers on loopback, and end them."""
    from distributed import LocalCluster  # noqa: PLC0415 - slow to import, and few tests need it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries of Dask, at the start of its servers
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=None,
            protocol="tcp://",
            host="127.0.0.1",
        )
    with cluster:
        yield cluster
