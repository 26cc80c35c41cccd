"""Sessions that are stored, and the wishes of a client."""

import pytest

from negotiator_live.security.cipher import SessionKey
from negotiator_live.security.policy import ClientPolicy, Requirement
from negotiator_live.security.sessions import SecuritySession, SessionCache
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.exchange import Deadline

ADDRESS = DaemonAddress.parse("<127.0.0.1:9618>")
CAPABILITY = '<127.0.0.1:9618>#1#2#[Encryption="YES";Integrity="YES";]0123abcd'


def session(**changes):
    return SecuritySession(
        **{"id": "sid", "key": SessionKey(bytes(32)), "commands": frozenset({5, 12}), **changes}
    )


def test_a_session_serves_the_commands_it_is_valid_for_at_its_daemon():
    cache, stored = SessionCache(), session()
    cache.store(ADDRESS, 10, stored)
    assert {command for command in range(100) if cache.find(ADDRESS, command) is stored} == {5, 10, 12}
    assert cache.find(DaemonAddress.parse("<127.0.0.1:9619>"), 5) is None


def test_a_session_that_is_over_or_dropped_is_not_found():
    now = [0.0]
    cache = SessionCache()
    cache.store(ADDRESS, 5, session(lifetime=Deadline(10, clock=lambda: now[0])))
    assert cache.find(ADDRESS, 5) is not None
    now[0] = 10.0
    assert cache.find(ADDRESS, 5) is None
    stored = session()
    cache.store(ADDRESS, 5, stored)
    cache.drop(ADDRESS, stored)
    assert cache.find(ADDRESS, 12) is None
    cache.store(ADDRESS, 5, stored)
    cache.clear()
    assert len(cache) == 0


def test_a_capability_is_a_session_and_shows_nothing():
    found = SecuritySession.of_capability(CAPABILITY)
    assert found.id == "<127.0.0.1:9618>#1#2"
    assert "0123abcd" not in repr(found)
    assert found.id not in repr(found)
    assert repr(SessionCache()) == "<SessionCache of 0 entries>"


@pytest.mark.parametrize("text", ["", "<1>#2#3", "#[]", "a#[", "a#[x]", "a#[x] b", "a\n#[x]b", "x" * 9000])
def test_a_claim_id_without_a_session_is_none(text):
    assert SecuritySession.of_capability(text) is None


def test_a_client_that_never_negotiates_does_so_if_something_is_required():
    assert not ClientPolicy(negotiation=Requirement.NEVER).negotiates
    assert not ClientPolicy(negotiation=Requirement.OPTIONAL).negotiates
    assert ClientPolicy(negotiation=Requirement.NEVER, encryption=Requirement.REQUIRED).negotiates
