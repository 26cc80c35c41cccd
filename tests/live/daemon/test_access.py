"""Patterns of users, the settings of the daemon, and what its administrators may do elsewhere."""

import pytest

from negotiator.plugin import PEER_GROUP, AccessDecision, AccessKind, AccessQuestion, ScalarText, Source
from negotiator_live.daemon.daemon import command_access
from negotiator_live.hooks import negotiator_access
from negotiator_live.security.policy import is_pattern
from negotiator_live.security.server.peer import Level, Peer
from negotiator_live.settings import SECTION, CondorPool, ConfiguredPool, LivePoolSettings
from negotiator_live.wire.commands import DaemonCommand


@pytest.mark.parametrize(
    ("pattern", "users"),
    [
        ("*", {"", "ann@a.org", "bob@a.org", "bob@b.org"}),
        ("*@*", {"ann@a.org", "bob@a.org", "bob@b.org"}),
        ("*@A.org", {"ann@a.org", "bob@a.org"}),
        ("bob@*", {"bob@a.org", "bob@b.org"}),
        ("Ann@a.org", {"ann@a.org"}),
        ("*@*/10.0.0.0/8", set()),
        ("*@*/192.168.7.*", {"ann@a.org", "bob@a.org", "bob@b.org"}),
    ],
)
def test_a_pattern_of_a_key_has_users(pattern, users):
    access = command_access(ConfiguredPool(CondorPool(administrators=(pattern,))))
    found = {
        each
        for each in ("", "ann@a.org", "bob@a.org", "bob@b.org")
        if access.allows(Peer(each, host="192.168.7.1"), DaemonCommand.SET_PRIORITY)
    }
    assert found == users


@pytest.mark.parametrize("text", ["", "ann", "a*@b", "@b", "a@", "a b@c", "**", "*@a.*", "a@b@c", "a@b c"])
def test_anything_else_is_no_pattern(text):
    assert not is_pattern(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"listen": "9618"}, "htcondor: listen: 9618: invalid, expected host:port"),
        ({"listen": "h:70000"}, "htcondor: listen: h:70000: invalid, expected host:port"),
        ({"administrators": ("root",)}, "htcondor: administrators: invalid user 'root'"),
        ({"readers": ("a b",)}, "htcondor: readers: invalid user 'a b'"),
        ({"daemons": ("*@*/",)}, "htcondor: daemons: invalid user '*@*/'"),
        ({"daemons": ("*@",)}, "htcondor: daemons: invalid user '*@'"),
    ],
)
def test_invalid_settings_are_named(settings, message):
    (problem,) = SECTION.check(LivePoolSettings(CondorPool(**settings)))
    assert problem.message == message


@pytest.mark.parametrize("listen", ["", "127.0.0.1:0", "[::1]:9614", "cm.example.org:9614"])
def test_a_port_is_written_with_its_host(listen):
    assert SECTION.check(LivePoolSettings(CondorPool(listen=listen))) == []


def test_administrators_of_the_pool_may_configure_and_local_users_are_not_meant():
    settings = LivePoolSettings(CondorPool(administrators=("condor@example.org", "*")))
    asked = [
        AccessQuestion("condor@example.org", (), AccessKind.CONFIGURE),
        AccessQuestion("unauthenticated@unmapped", (PEER_GROUP,), AccessKind.CONFIGURE),
        AccessQuestion("condor", (), AccessKind.CONFIGURE),
        AccessQuestion("condor@example.org", (), AccessKind.CONFIGURE_QUEUES),
        AccessQuestion("condor@example.org", (), AccessKind.ADMINISTER, "root.a"),
    ]
    answers = [each.decision for each in negotiator_access(asked, settings)]
    assert answers == [AccessDecision.GRANT] * 2 + [AccessDecision.ABSTAIN] * 3


@pytest.mark.parametrize(
    ("allowed", "denied", "anywhere"),
    [
        ("10.0.0.1", "", False),
        ("*", "", False),
        ("*@example.org", "", False),
        ("ann@*", "", False),
        ("ann@example.org/10.0.0.1", "", False),
        ("ann@example.org, 10.0.0.1", "", True),
        ("ann@example.org", "ann@*/10.0.0.2", False),
    ],
)
def test_a_user_who_did_not_come_through_the_port_administrates_only_by_name(allowed, denied, anywhere):
    """The name of a token of the web service, or of a user of this host, may look like one of the pool; it has no host."""
    lists = {"ALLOW_ADMINISTRATOR": allowed, "DENY_ADMINISTRATOR": denied}
    knobs = {name: ScalarText(text, Source("pool", 1)) for name, text in lists.items() if text}
    asked = [AccessQuestion("ann@example.org", each, AccessKind.CONFIGURE) for each in ((PEER_GROUP,), ())]
    answers = [each.decision for each in negotiator_access(asked, LivePoolSettings(knobs=knobs))]
    assert answers == [AccessDecision.GRANT, AccessDecision.GRANT if anywhere else AccessDecision.ABSTAIN]


def test_the_scopes_of_a_token_limit_an_administrator():
    access = command_access(ConfiguredPool(CondorPool(administrators=("boss@a.org",), daemons=())))
    boss = Peer("boss@a.org", "IDTOKENS")
    reading = boss.limited_to([Level.READ])
    assert access.allows(boss, DaemonCommand.SET_PRIORITY)
    assert not access.allows(reading, DaemonCommand.SET_PRIORITY)
    assert access.allows(reading, DaemonCommand.GET_PRIORITY)
    assert "is not good for ADMINISTRATOR" in access.hint(reading, DaemonCommand.SET_PRIORITY)
    assert "nobody has NEGOTIATOR" in access.hint(boss, DaemonCommand.DC_NOP_NEGOTIATOR)
    assert "add * (which allows it to anybody) to daemons" in access.hint(Peer(), DaemonCommand.RESCHEDULE)
