"""Sessions with daemons that share a port."""

from real_sessions import requests_of


def test_a_daemon_behind_a_shared_port_is_spoken_to_as_any_other(shared_port_pool):
    schedd, rounds = requests_of(*shared_port_pool)
    assert schedd.shared_port_id
    assert [[ad.integer("_condor_RESOURCE_COUNT") for ad in each] for each in rounds] == [[3], [3]]
