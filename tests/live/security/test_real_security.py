"""Sessions with the daemons of a real pool."""

import attrs
import pytest

from negotiator_live.collector import SCHEDDS, SLOT_CLAIMS, SLOTS, Collector
from negotiator_live.security.client import SecureClient
from negotiator_live.security.errors import AuthenticationError, AuthorizationError
from negotiator_live.security.policy import ClientPolicy, Requirement
from negotiator_live.wire.errors import ConnectionClosedError
from real_sessions import ads_of, by_filesystem, by_token, requests_of


def test_the_file_system_proves_who_this_is_and_the_session_is_used_again(secure_pool):
    pool, address = secure_pool
    pool.advertise(100)
    client = by_filesystem(pool)
    collector = Collector(address, client)
    claims = ads_of("".join(collector.query(SLOT_CLAIMS)))
    assert claims
    assert all(each["ClaimId"] for each in claims)
    session = client.sessions.find(address, SLOT_CLAIMS.command)
    assert session.user == "condor@example.org"
    assert list(collector.query(SLOT_CLAIMS))
    assert client.sessions.find(address, SLOT_CLAIMS.command) is session
    assert not list((pool.root / "tmp").glob("FS_*"))


def test_a_token_proves_who_this_is(secure_pool, tmp_path):
    pool, address = secure_pool
    client = by_token(pool, tmp_path, "negotiator@example.org")
    list(Collector(address, client).query(SLOT_CLAIMS))
    assert client.sessions.find(address, SLOT_CLAIMS.command).user == "negotiator@example.org"


def test_a_token_of_somebody_else_is_denied_with_what_to_allow(secure_pool, tmp_path):
    pool, address = secure_pool
    client = by_token(pool, tmp_path, "somebody@example.org")
    assert "".join(Collector(address, client).query(SCHEDDS)).count("\n\n") == 1
    with pytest.raises(AuthorizationError, match=r"add somebody@example\.org to ALLOW_NEGOTIATOR"):
        list(Collector(address, client).query(SLOT_CLAIMS))


def test_a_token_with_a_wrong_signature_is_refused_and_shown_nowhere(secure_pool, tmp_path):
    pool, address = secure_pool
    client = by_token(pool, tmp_path, "negotiator@example.org")
    text = (tmp_path / "token").read_text().strip()
    signed, _, signature = text.rpartition(".")
    (tmp_path / "token").write_text(f"{signed}.{signature[:-2][::-1]}AA\n")
    with pytest.raises(AuthenticationError, match="IDTOKENS") as caught:
        list(Collector(address, client).query(SLOTS))
    assert signed not in str(caught.value)


def test_a_client_in_the_clear_is_told_what_may_be_missing(secure_pool):
    _, address = secure_pool
    plain = SecureClient(ClientPolicy(negotiation=Requirement.NEVER))
    with pytest.raises(ConnectionClosedError, match="the command needs NEGOTIATOR authorization"):
        list(Collector(address, plain).query(SLOT_CLAIMS))


def test_a_session_that_the_collector_forgot_is_replaced(secure_pool):
    pool, address = secure_pool
    client = by_filesystem(pool)
    collector = Collector(address, client)
    list(collector.query(SLOTS))
    known = client.sessions.find(address, SLOTS.command)
    client.sessions.store(address, SLOTS.command, attrs.evolve(known, id="host:1:2:3"))
    list(collector.query(SLOTS))
    assert client.sessions.find(address, SLOTS.command).id not in {"host:1:2:3", known.id}


def test_a_capability_is_all_that_a_schedd_asks_for(secure_pool):
    schedd, rounds = requests_of(*secure_pool)
    assert schedd.shared_port_id == ""
    assert [[ad.integer("_condor_RESOURCE_COUNT") for ad in each] for each in rounds] == [[3], [3]]
