"""Addresses of daemons."""

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_live.settings import CondorPool, ConfiguredPool, LivePoolSettings, at_collector
from negotiator_live.wire.addresses import AddressError, DaemonAddress, Endpoint

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
PARAMETERS = st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=4)
HOSTS = st.sampled_from(["10.0.0.1", "::1", "fe80::1%eth0", "host.example.org"])


@given(HOSTS, st.integers(1, 65535), PARAMETERS)
def test_an_address_reads_back_as_it_was_printed(host, port, parameters):
    address = DaemonAddress(Endpoint(host, port), parameters)
    assert DaemonAddress.parse(str(address)) == address


def test_an_address_of_a_shared_port_has_its_other_endpoints_and_the_name_of_the_daemon():
    address = DaemonAddress.parse(
        "<10.0.0.1:9618?addrs=10.0.0.1-9618+[2001-db8--1]-9618&alias=a.example.org&noUDP&sock=schedd_12_ab>"
    )
    assert address.endpoints == (Endpoint("10.0.0.1", 9618), Endpoint("2001:db8::1", 9618))
    assert address.shared_port_id == "schedd_12_ab"
    assert address.parameters["noUDP"] == ""
    assert address.shown == "<10.0.0.1:9618?sock=schedd_12_ab>"


def test_a_host_and_a_port_are_an_address():
    assert DaemonAddress.parse("cm.example.org:9618").endpoints == (Endpoint("cm.example.org", 9618),)
    assert DaemonAddress.parse("[::1]:9618").primary == Endpoint("::1", 9618)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<>",
        "host",
        "<host>",
        "<host:0>",
        "<host:99999>",
        "<host:1",
        "a:1\nb",
        "<a:1?x>y>",
        "<[::1:1>",
        "x" * 5000,
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(AddressError, match="invalid address of a daemon"):
        DaemonAddress.parse(text)


@given(st.text(max_size=60))
def test_no_text_is_more_than_refused(text):
    for each in (text, f"<{text}>", f"<h:1?{text}>"):
        with contextlib.suppress(AddressError):
            assert DaemonAddress.parse(each).endpoints


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("cm.example.org", "<cm.example.org:9618>"),
        ("cm.example.org:9620", "<cm.example.org:9620>"),
        ("cm.example.org?sock=collector", "<cm.example.org:9618?sock=collector>"),
        ("10.0.0.1", "<10.0.0.1:9618>"),
        ("fd00::1", "<[fd00::1]:9618>"),
        ("[fd00::1]", "<[fd00::1]:9618>"),
        ("[fd00::1]:9620", "<[fd00::1]:9620>"),
        ("<10.0.0.1:9620?addrs=10.0.0.1-9620>", "<10.0.0.1:9620?addrs=10.0.0.1-9620>"),
    ],
)
def test_a_collector_may_be_named_without_its_port(monkeypatch, text, address):
    """On the command line, in the bundle, and in the environment."""
    assert str(at_collector(LivePoolSettings(), text).pool.find_collector()) == address
    assert str(ConfiguredPool(CondorPool(collector=text)).find_collector()) == address
    monkeypatch.setenv("_CONDOR_COLLECTOR_HOST", text)
    assert str(ConfiguredPool().find_collector()) == address


@pytest.mark.parametrize("text", ["a b", "cm:port", "cm:0", ":9618", "<cm>", "[fd00::1", "cm:1:2:x"])
def test_an_invalid_collector_is_shown_as_it_was_written(text):
    with pytest.raises(
        AddressError, match=r"^" + re.escape(f"{text}: invalid address, expected host, host:port")
    ):
        at_collector(LivePoolSettings(), text)
