"""A Dask cluster on this machine, for tests: worker processes, or threads of the test's own process."""

import warnings
from contextlib import contextmanager


@contextmanager
def dask_cluster(workers=2, *, processes=True, settings=None, **options):
    """Start a scheduler and workers on loopback, under settings of Dask, and end them.

    :param options: further ones of each worker, such as ``memory_limit``.
    """
    import dask  # noqa: PLC0415 - slow to import, and few tests need it
    from distributed import LocalCluster  # noqa: PLC0415 - slow to import, and few tests need it

    # After the import of distributed, whose own settings would be forgotten at the end of the context otherwise.
    with dask.config.set(settings or {}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries of Dask, at the start of its servers
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=processes,
            dashboard_address=None,
            protocol="tcp://",
            host="127.0.0.1",
            **options,
        )
    with cluster:
        yield cluster
