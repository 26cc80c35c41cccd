"""Queries to a real collector."""

import attrs
import pytest

from negotiator_live.collector import SLOTS, Collector
from negotiator_live.wire.errors import UnreachableError


def test_a_real_collector_answers_a_query_with_all_its_slots(open_pool):
    pool, address = open_pool
    pool.advertise(1000)
    names = attrs.evolve(SLOTS, projection=("Name", "MyType"))
    text = b"".join(Collector(address).query(names))
    assert text.count(b"\n\n") == 1000
    assert len(set(text.splitlines())) == 1000 + 2  # the names, the type and the blank line


def test_a_real_collector_applies_the_requirements(open_pool):
    pool, address = open_pool
    pool.advertise(1000)
    one = attrs.evolve(SLOTS, requirements='Name == "slot1@wn00000.example.org"')
    assert b"".join(Collector(address).query(one)).count(b"\n\n") == 1


def test_a_daemon_that_does_not_run_is_named_with_its_address(playing):
    with playing(b"") as (address, _):
        pass
    with pytest.raises(UnreachableError, match=r"collector cm at <127\.0\.0\.1:\d+>.*Connection refused"):
        list(Collector(address, name="cm").query(SLOTS))
