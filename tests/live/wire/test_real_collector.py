"""Queries to a real collector."""

import time

import attrs
import pytest

from cedar import IN_THE_CLEAR
from negotiator_live.collector import SLOTS, AdQuery, Collector
from negotiator_live.security.client import SecureClient
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.errors import UnreachableError

NAMES = attrs.evolve(SLOTS, projection=("Name", "MyType"))
CLIENTS = pytest.mark.parametrize("client", [IN_THE_CLEAR, SecureClient()], ids=["clear", "encrypted"])


@pytest.fixture(scope="module")
def address_of_1000_slots(open_pool):
    """Advertise 1,000 slots; return the collector's address when it has all of them."""
    pool, address = open_pool
    pool.advertise(1000)
    for _ in range(100):
        if "".join(Collector(address, IN_THE_CLEAR).query(NAMES)).count("\n\n") == 1000:
            return address
        time.sleep(0.2)
    pytest.fail("the collector does not have all slots")


@CLIENTS
def test_a_real_collector_answers_a_query_with_all_its_slots(address_of_1000_slots, client):
    text = "".join(Collector(address_of_1000_slots, client).query(NAMES))
    assert text.count("\n\n") == 1000
    assert len(set(text.splitlines())) == 1000 + 2  # the names, the type and the blank line


@CLIENTS
def test_a_real_collector_applies_the_requirements(address_of_1000_slots, client):
    one = attrs.evolve(SLOTS, requirements='Name == "slot1@wn00000.example.org"')
    text = "".join(Collector(address_of_1000_slots, client).query(one))
    assert (text.count("\n\n"), text.count("\n") > 150) == (1, True)


@CLIENTS
def test_a_negotiator_ad_that_is_sent_is_found_by_a_query(open_pool, client):
    _, address = open_pool
    collector = Collector(address, client)
    ad = {
        "MyType": '"Negotiator"',
        "Name": '"ours"',
        "MyAddress": '"<127.0.0.1:9>"',
        "Machine": '"here"',
        "Big": "1 + 2",
    }
    collector.update(DaemonCommand.UPDATE_NEGOTIATOR_AD, ad)
    for _ in range(50):
        found = "".join(collector.query(AdQuery(DaemonCommand.QUERY_NEGOTIATOR_ADS, "Negotiator")))
        if found:
            break
        time.sleep(0.1)
    assert 'Name = "ours"\n' in found
    assert "Big = 1 + 2\n" in found


def test_a_daemon_that_does_not_run_is_named_with_its_address(playing):
    with playing(b"") as (address, _):
        pass
    with pytest.raises(UnreachableError, match=r"collector cm at <127\.0\.0\.1:\d+>.*Connection refused"):
        list(Collector(address, IN_THE_CLEAR, name="cm").query(SLOTS))
