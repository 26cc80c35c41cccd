"""Who has which level by HTCondor's lists of users and hosts. Source: ``condor_ipverify.cpp``; the manual, "Security"."""

import socket

import pytest

from negotiator_live.configured import PoolConfiguration
from negotiator_live.security.server.authorization import AuthorizationEntry, network
from negotiator_live.security.server.peer import Level

ANN, BOSS, ROOT = "ann@example.org", "boss@example.org", "root@cm.example.org"
HERE, THERE = "10.1.2.3", "192.168.7.9"


def allows(level, user, address, **lists):
    """Return whether a user at an address has a level by these lists, in a pool without name service."""
    settings = {"NO_DNS": "True", "DEFAULT_DOMAIN_NAME": "example.org", **lists}
    return PoolConfiguration(settings).authorization().allows(user, address, level)


@pytest.mark.parametrize(
    ("text", "user", "host"),
    [
        ("*", "*", "*"),
        (ANN, ANN, "*"),
        ("cm.example.org", "*", "cm.example.org"),
        ("10.1.2.3", "*", "10.1.2.3"),
        ("10.0.0.0/8", "*", "10.0.0.0/8"),
        ("10.0.0.0/255.0.0.0", "*", "10.0.0.0/255.0.0.0"),
        ("fd00::/8", "*", "fd00::/8"),
        ("*/cm.example.org", "*", "cm.example.org"),
        ("*/10.1.2.*", "*", "10.1.2.*"),
        ("ann@example.org/cm.example.org", ANN, "cm.example.org"),
        ("ann@example.org/10.0.0.0/8", ANN, "10.0.0.0/8"),
        ("*@example.org/10.1.*", "*@example.org", "10.1.*"),
        ("strange/cm.example.org", "strange", "cm.example.org"),
    ],
)
def test_an_entry_has_users_and_hosts(text, user, host):
    assert AuthorizationEntry.parse(text) == AuthorizationEntry(user, host)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
        ("10.1.2.*", "10.1.2.200", "10.1.3.1"),
        ("10.1.*", "10.1.9.9", "10.2.0.1"),
        ("10.1.", "10.1.9.9", "10.2.0.1"),
        ("10.1", "10.1.9.9", "10.2.0.1"),
        ("10.1.2.3/16", "10.1.200.1", "10.2.0.1"),
        ("10.1.0.0/255.255.0.0", "10.1.200.1", "10.2.0.1"),
        ("0.0.0.0/0", "8.8.8.8", "fd00::1"),
        ("::1", "::1", "::2"),
        ("[::1]", "::1", "127.0.0.1"),
        ("fd00::/16", "fd00::9", "fd01::9"),
        ("fd00:*", "fd00::9", "fd01::9"),
    ],
)
def test_a_network_has_addresses(text, inside, outside):
    assert network(text) is not None
    for address, expected in ((inside, True), (outside, False)):
        assert allows(Level.READ, ANN, address, ALLOW_READ=text) is expected


@pytest.mark.parametrize(
    "text", ["cm.example.org", "*.example.org", "10.1.2.3.4", "10.1.*.3", "a/b", "fd00::*"]
)
def test_other_texts_are_no_network(text):
    assert network(text) is None


@pytest.mark.parametrize(
    ("lists", "allowed"),
    [
        ({}, set()),
        ({"ALLOW_ADMINISTRATOR": "*"}, {(BOSS, HERE), (BOSS, THERE), (ANN, HERE), ("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": "*/*"}, {(BOSS, HERE), (BOSS, THERE), (ANN, HERE), ("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": BOSS}, {(BOSS, HERE), (BOSS, THERE)}),
        ({"ALLOW_ADMINISTRATOR": "BOSS@Example.*"}, {(BOSS, HERE), (BOSS, THERE)}),
        ({"ALLOW_ADMINISTRATOR": f"{BOSS}/{HERE}, root@*"}, {(BOSS, HERE)}),
        ({"ALLOW_ADMINISTRATOR": "*@example.org/10.0.0.0/8"}, {(BOSS, HERE), (ANN, HERE)}),
        ({"ALLOW_ADMINISTRATOR": HERE}, {(BOSS, HERE), (ANN, HERE), ("", HERE)}),
        (
            {"ALLOW_ADMINISTRATOR": f" {THERE},10-1-2-3.example.org "},
            {(BOSS, HERE), (BOSS, THERE), (ANN, HERE), ("", HERE)},
        ),
        ({"ALLOW_ADMINISTRATOR": "*.example.org"}, {(BOSS, HERE), (BOSS, THERE), (ANN, HERE), ("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": "*/10-1-*"}, {(BOSS, HERE), (ANN, HERE), ("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": "other.example.org"}, set()),
        ({"ALLOW_ADMINISTRATOR": "*", "DENY_ADMINISTRATOR": ANN}, {(BOSS, HERE), (BOSS, THERE), ("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": "*", "DENY_ADMINISTRATOR": f"*/{HERE}"}, {(BOSS, THERE)}),
        ({"ALLOW_ADMINISTRATOR": BOSS, "DENY_ADMINISTRATOR": "192.168.0.0/16"}, {(BOSS, HERE)}),
        ({"ALLOW_ADMINISTRATOR": "*", "DENY_ADMINISTRATOR": "*"}, set()),
        ({"ALLOW_ADMINISTRATOR": BOSS, "DENY_ADMINISTRATOR": "10-1-2-3.example.org"}, {(BOSS, THERE)}),
        ({"DENY_ADMINISTRATOR": ANN}, set()),
        ({"ALLOW_ADMINISTRATOR": "unauthenticated@unmapped"}, {("", HERE)}),
        ({"ALLOW_ADMINISTRATOR": ANN, "ALLOW_ADMINISTRATOR_NEGOTIATOR": BOSS}, {(BOSS, HERE), (BOSS, THERE)}),
        ({"ALLOW_ADMINISTRATOR": "", "ALLOW_DEFAULT": BOSS}, {(BOSS, HERE), (BOSS, THERE)}),
        ({"ALLOW_ADMINISTRATOR": "+admins"}, set()),
        ({"ALLOW_ADMINISTRATOR": "*", "DENY_ADMINISTRATOR": "+visitors"}, set()),
        ({"ALLOW_WRITE": "*", "ALLOW_DAEMON": "*", "ALLOW_CONFIG": "*"}, set()),
    ],
)
def test_administrators_are_those_of_the_lists(lists, allowed):
    asked = {(BOSS, HERE), (BOSS, THERE), (ANN, HERE), ("", HERE)}
    assert {each for each in asked if allows(Level.ADMINISTRATOR, *each, **lists)} == allowed


@pytest.mark.parametrize(
    ("lists", "levels"),
    [
        ({}, set()),
        ({"ALLOW_READ": BOSS}, {"READ"}),
        ({"ALLOW_WRITE": BOSS}, {"WRITE", "READ"}),
        ({"ALLOW_ADMINISTRATOR": BOSS}, {"ADMINISTRATOR", "WRITE", "READ"}),
        ({"ALLOW_DAEMON": BOSS}, {"DAEMON", "ADVERTISE_STARTD", "ADVERTISE_SCHEDD", "ADVERTISE_MASTER", "WRITE", "READ"}),
        ({"ALLOW_DAEMON": BOSS, "ALLOW_ADVERTISE_STARTD": ANN, "ALLOW_ADVERTISE_MASTER": ANN, "ALLOW_ADVERTISE_SCHEDD": ANN}, {"DAEMON", "WRITE", "READ"}),
        ({"ALLOW_NEGOTIATOR": BOSS}, {"NEGOTIATOR", "READ"}),
        ({"ALLOW_CONFIG": BOSS}, {"CONFIG", "READ"}),
        ({"ALLOW_ADMINISTRATOR": BOSS, "DENY_READ": BOSS}, {"ADMINISTRATOR", "WRITE"}),
        ({"ALLOW_ADMINISTRATOR": BOSS, "ALLOW_WRITE": ANN, "ALLOW_READ": ANN}, {"ADMINISTRATOR", "WRITE", "READ"}),
        ({"ALLOW_WRITE": BOSS, "LEGACY_ALLOW_SEMANTICS": "True"}, {"WRITE", "READ", "DAEMON", "ADVERTISE_STARTD", "ADVERTISE_SCHEDD", "ADVERTISE_MASTER"}),
        ({"DENY_DEFAULT": BOSS, "ALLOW_READ": "*"}, set()),
    ],
)  # fmt: skip
def test_a_level_includes_others(lists, levels):
    given = {level for level in Level if level is not Level.ALLOW and allows(level, BOSS, HERE, **lists)}
    assert given == {Level[each] for each in levels}
    assert allows(Level.ALLOW, "", THERE, **lists)


@pytest.mark.parametrize(("setting", "expected"), [("", True), ("True", True), ("False", False)])
def test_htcondors_user_and_that_of_the_pool_password_are_the_same(setting, expected):
    lists = {"ALLOW_DAEMON": "condor@example.org", "USE_POOL_USERNAME_EQUIVALENT": setting}
    assert allows(Level.DAEMON, "condor@example.org", HERE, **lists)
    assert allows(Level.DAEMON, "condor_pool@example.org", HERE, **lists) is expected


def test_an_address_of_ipv4_within_ipv6_is_that_of_ipv4():
    assert allows(Level.READ, ANN, "::ffff:10.1.2.3", ALLOW_READ="10.1.2.3")


def test_addresses_of_this_host_have_a_name_of_their_own():
    assert allows(Level.READ, ANN, "127.0.0.1", ALLOW_READ="{:local_ips:}")
    assert not allows(Level.READ, ANN, "192.0.2.77", ALLOW_READ="{:local_ips:}")


@pytest.fixture
def name_service(monkeypatch):
    """Play a name service: cm.example.org has an alias; the name of 10.9.9.9 is a lie. Return what was asked."""
    asked = []
    addresses = {"cm.example.org": HERE, "pool.example.org": HERE, "liar.example.org": THERE}

    def forward(name, *_args, **_kwargs):
        asked.append(name)
        if name not in addresses:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (addresses[name], 0))]

    def backward(address):
        asked.append(address)
        names = {
            HERE: ("cm.example.org", ["pool.example.org"], [HERE]),
            "10.9.9.9": ("liar.example.org", [], []),
        }
        if address not in names:
            raise socket.herror(1, "unknown")
        return names[address]

    monkeypatch.setattr(socket, "getaddrinfo", forward)
    monkeypatch.setattr(socket, "gethostbyaddr", backward)
    return asked


@pytest.mark.parametrize(
    ("host", "address", "expected"),
    [
        ("cm.example.org", HERE, True),
        ("CM.Example.Org", HERE, True),
        ("pool.example.org", HERE, True),
        ("*.example.org", HERE, True),
        ("cm.example.org", THERE, False),
        ("liar.example.org", "10.9.9.9", False),
        ("unknown.example.org", HERE, False),
        ("-bad-.example.org", HERE, False),
    ],
)
def test_a_host_is_found_by_the_name_service_both_ways(name_service, host, address, expected):
    table = PoolConfiguration({"ALLOW_ADMINISTRATOR": host}).authorization()
    assert table.allows(BOSS, address, Level.ADMINISTRATOR) is expected
    before = len(name_service)
    assert table.allows(BOSS, address, Level.ADMINISTRATOR) is expected
    assert len(name_service) == before


def test_lists_without_names_of_hosts_ask_no_name_service(name_service):
    lists = {"ALLOW_ADMINISTRATOR": f"{BOSS}, root@*/10.0.0.0/8", "DENY_ADMINISTRATOR": THERE}
    table = PoolConfiguration(lists).authorization()
    assert not table.allows(ROOT, THERE, Level.ADMINISTRATOR)
    assert table.allows(ROOT, HERE, Level.ADMINISTRATOR)
    assert name_service == []
