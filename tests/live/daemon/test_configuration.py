"""What tools read of HTCondor's configuration and logs from the daemon, sent by this project's own client."""

import pytest

from daemon_commands import ANN, BOSS, daemon, sending
from negotiator_live.daemon import configuration
from negotiator_live.daemon.configuration import Setting, parse_settings
from negotiator_live.wire.commands import DaemonCommand as Command
from negotiator_live.wire.errors import DaemonError

#: As condor_config_val -dump -v prints.
DUMP = """# Configuration from machine: h
NEGOTIATOR_INTERVAL = 5
 # at: /etc/condor/condor_config, line 79
 # expanded: 5
 # default: 60
NEGOTIATOR_LOG = $(LOG)/NegotiatorLog
 # at: <Default>
 # expanded: {log}
 # default: $(LOG)/NegotiatorLog
NEGOTIATOR.SPECIAL = own
 # at: /etc/condor/condor_config, line 80
 # expanded: own
SPECIAL = of all
 # at: /etc/condor/condor_config, line 81
 # expanded: of all
"""


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return the path of the daemon's log; the daemon has the settings of ``DUMP``."""
    path = tmp_path / "NegotiatorLog"
    known = {each.name.upper(): each for each in parse_settings(DUMP.format(log=path))}
    monkeypatch.setattr(configuration, "settings", lambda: known)
    return path


def test_the_settings_are_those_that_condor_config_val_prints():
    found = {each.name: each for each in parse_settings(DUMP.format(log="/log/N"))}
    assert found["NEGOTIATOR_INTERVAL"] == Setting(
        "NEGOTIATOR_INTERVAL", "5", "5", "/etc/condor/condor_config, line 79", "60"
    )
    assert found["NEGOTIATOR_LOG"].value == "/log/N"
    assert found["SPECIAL"].default is None
    assert (
        list(found)[-1] == "SPECIAL"
    )  # without a value the line has no second blank: no setting of this form


def asked(listener, name, command=Command.DC_CONFIG_VAL):
    """Return the strings of the answer to a question about a setting, None for the null string."""
    found = []
    with sending(listener, command) as channel:
        channel.put_string(name)
        channel.end_message()
        while not found or channel.has_more:
            raw = channel.get_bytes(channel.get_int(), 10_000)
            found.append(None if raw == b"\xad" else raw.removesuffix(b"\0").decode())
        channel.end_received()
    return found


def test_a_setting_is_sent_with_its_assignment_place_and_default(log):
    with daemon() as listener:
        assert asked(listener, "negotiator_log") == [
            str(log),
            "NEGOTIATOR_LOG = $(LOG)/NegotiatorLog",
            "<Default>",
            "$(LOG)/NegotiatorLog",
            "0",
        ]
        assert asked(listener, "NEGOTIATOR_LOG", Command.CONFIG_VAL) == [str(log)]


@pytest.mark.usefixtures("log")
def test_a_setting_of_this_daemon_goes_before_that_of_all():
    with daemon() as listener:
        place = "/etc/condor/condor_config, line 80"
        assert asked(listener, "SPECIAL") == ["own", "NEGOTIATOR.SPECIAL = own", place, None, "0"]


@pytest.mark.usefixtures("log")
def test_an_unknown_setting_is_not_defined():
    with daemon() as listener:
        assert asked(listener, "NO_SUCH") == [None]
        assert asked(listener, "NO_SUCH", Command.CONFIG_VAL) == ["Not defined"]
        assert asked(listener, "?steal") == ["!error:unsup:1: '?steal' is not supported"]
        with pytest.raises(DaemonError):
            asked(listener, "x" * 2_000)


@pytest.mark.parametrize("command", [Command.DC_CONFIG_PERSIST, Command.DC_CONFIG_RUNTIME])
def test_no_setting_can_be_changed(command):
    with daemon() as listener, sending(listener, command) as channel:
        channel.put_string("NEGOTIATOR_INTERVAL")
        channel.put_string("NEGOTIATOR_INTERVAL = 1")
        channel.end_message()
        assert channel.get_int() == -1


def fetched(listener, name, kind=0, user=BOSS):
    """Return the result, and the content of a log."""
    with sending(listener, Command.DC_FETCH_LOG, user) as channel:
        channel.put_int(kind)
        channel.put_string(name)
        channel.end_message()
        if result := channel.get_int():
            return result, b""
        size, most = channel.get_int(), channel.get_int()
        channel.end_received()
        content = b""
        while len(content) < size:
            content += channel.get_bytes(min(most, size - len(content)), most)
            channel.end_received()
        return (0, content) if size else (channel.get_int(), b"")


@pytest.mark.parametrize("size", [1, 262_144, 600_000])
def test_a_log_is_sent_whole(log, size):
    log.write_bytes(b"x" * size)
    log.with_name("NegotiatorLog.old").write_bytes(b"before")
    with daemon() as listener:
        assert fetched(listener, "NEGOTIATOR") == (0, b"x" * size)
        assert fetched(listener, "NEGOTIATOR.old") == (0, b"before")


def test_an_empty_log_is_sent_as_htcondor_sends_empty_files(log):
    log.touch()
    with daemon() as listener:
        assert fetched(listener, "NEGOTIATOR") == (666, b"")


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("name", "kind", "result"),
    [
        ("NO_SUCH", 0, 1),
        ("NEGOTIATOR", 0, 2),  # it does not exist
        ("NEGOTIATOR./../../etc/passwd", 0, 2),
        ("NEGOTIATOR", 1, 3),
    ],
)
def test_what_is_no_log_is_not_sent(name, kind, result):
    with daemon() as listener:
        assert fetched(listener, name, kind) == (result, b"")


def test_logs_are_for_administrators(log):
    log.write_text("lines")
    with daemon() as listener, pytest.raises(DaemonError):
        fetched(listener, "NEGOTIATOR", user=ANN)
