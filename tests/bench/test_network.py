"""``make bench-network``: the figures of a small pool."""

import pytest
from click.testing import CliRunner

from negotiator_bench.network import network
from network_hosts import NoNetworkError
from network_hosts import network as hosts


def test_a_small_run_prints_the_ratio_of_each_delay():
    try:
        with hosts():
            pass
    except NoNetworkError as error:
        pytest.skip(str(error))
    words = ("--slots", "50", "--classes", "4", "--delays", "1", "--rounds", "1")
    done = CliRunner().invoke(network, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    rows = [line.split() for line in done.stdout.splitlines() if " ms " in line or "local" in line]
    assert [row[:-3] for row in rows] == [["local"], ["dask,", "0", "ms"], ["dask,", "1", "ms"]]
    assert rows[1][-1] == "1.00"
