"""The commands of the daemon, sent by this project's own client."""

import contextlib
import socket
import threading
import time

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cedar import ad, integer, packet
from control import NotingControl
from daemon_commands import ANN, BOSS, OWN_AD, daemon, sending
from negotiator.plugin import AccountChangeKind as Kind
from negotiator.plugin import AccountRequest, RequestAnswer
from negotiator_live.daemon import account_queries
from negotiator_live.daemon.commands import LEVELS, RESUMABLE
from negotiator_live.daemon.listener import AT_ONCE, WAITING
from negotiator_live.security.errors import AuthorizationError
from negotiator_live.settings import Method
from negotiator_live.wire.ads import quoted
from negotiator_live.wire.commands import DaemonCommand as Command
from negotiator_live.wire.errors import DaemonError


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("command", "value", "kind"),
    [
        (Command.SET_PRIORITY, 7.25, Kind.PRIORITY),
        (Command.SET_PRIORITY, 0.1, Kind.PRIORITY),
        (Command.SET_ACCUMUSAGE, 123456.75, Kind.ACCUMULATED),
        (Command.SET_BEGINTIME, 1_700_000_000, Kind.BEGIN),
        (Command.SET_LASTTIME, 1_700_000_000, Kind.LAST),
        (Command.SET_CEILING, -1, Kind.CEILING),
        (Command.SET_FLOOR, 3, Kind.FLOOR),
        (Command.RESET_USAGE, None, Kind.RESET),
        (Command.DELETE_USER, None, Kind.DELETE),
    ],
)
def test_a_command_with_a_name_and_a_value_requests_the_change(command, value, kind):
    """Reals arrive as they were written, although the wire cuts them."""
    control = NotingControl()
    with daemon(control) as listener:
        with sending(listener, command) as channel:
            channel.put_string(ANN)
            if isinstance(value, float):
                channel.put_real(value)
            elif value is not None:
                channel.put_int(value)
            channel.end_message()
        until(lambda: control.noted)
    assert control.noted == [(BOSS, AccountRequest(kind, ANN, value), False)]


def test_a_factor_is_answered_with_a_code():
    control = NotingControl()
    with daemon(control) as listener:
        for value, code in ((1.0, 0), (0.5, 4)):
            with sending(listener, Command.SET_PRIORITYFACTOR) as channel:
                channel.put_string(ANN)
                channel.put_real(value)
                channel.end_message()
                assert channel.get_ad().integer("ErrorCode") == code
        control.answer = RequestAnswer(ok=False, text="denied: for a reason")
        with sending(listener, Command.SET_PRIORITYFACTOR) as channel:
            channel.put_string(ANN)
            channel.put_real(5)
            channel.end_message()
            assert channel.get_ad().string("ErrorString") == "denied: for a reason"
    assert control.noted[0] == (BOSS, AccountRequest(Kind.FACTOR, ANN, 1.0), True)


@pytest.mark.parametrize(
    ("request_ad", "expected"),
    [
        ({"Action": '"set"', "Ceiling": "5", "Duration": "60"}, AccountRequest(Kind.CEILING, ANN, 5, 60)),
        ({"Action": '"Cancel"'}, AccountRequest(Kind.CANCEL_CEILING, ANN)),
        ({"Action": '"set"', "Ceiling": "x", "Duration": "60"}, "set action requires Ceiling"),
        ({"Action": '"set"', "Ceiling": "5"}, "set action requires Duration"),
        ({"Action": '"set"', "Ceiling": "5", "Duration": "0"}, "lease duration must be positive"),
        ({"Action": '"steal"'}, "unknown Action 'steal'"),
        ({}, "request is missing Action"),
        ({"Submitter": "17"}, "request is missing Submitter"),
    ],
)
def test_a_lease_is_answered_with_its_success(request_ad, expected):
    control = NotingControl()
    with daemon(control) as listener, sending(listener, Command.MANAGE_CEILING) as channel:
        channel.put_ad({"Submitter": quoted(ANN), **request_ad})
        channel.end_message()
        answer = channel.get_ad()
    if isinstance(expected, str):
        assert (answer.boolean("Success"), answer.string("ErrorString")) == (False, expected)
        assert control.noted == []
    else:
        assert answer.boolean("Success")
        assert control.noted == [(BOSS, expected, True)]


def test_a_change_that_waits_for_a_cycle_counts_as_done():
    """It is in the state, and no crash loses it."""
    control = NotingControl(answer=RequestAnswer(ok=None, text="the request waits"))
    with daemon(control) as listener, sending(listener, Command.MANAGE_FLOOR) as channel:
        channel.put_ad({"Submitter": quoted(ANN), "Action": '"set"', "Floor": "5", "Duration": "60"})
        channel.end_message()
        assert channel.get_ad().boolean("Success")


@pytest.mark.parametrize(
    ("command", "noted"),
    [
        (Command.RESCHEDULE, "cycle"),
        (Command.DC_RECONFIG, ("reload", BOSS, 0.0)),
        (Command.DC_OFF_GRACEFUL, "stop"),
        (Command.RESET_ALL_USAGE, (BOSS, AccountRequest(Kind.RESET_ALL), False)),
    ],
)
def test_commands_without_a_message_need_none(command, noted):
    control = NotingControl()
    with daemon(control) as listener:
        with sending(listener, command):
            pass
        until(lambda: control.noted)
    assert control.noted == [noted]
    assert command not in RESUMABLE or command is Command.RESCHEDULE


def test_accounts_are_sent_as_one_ad_with_numbered_attributes():
    control = NotingControl()
    with daemon(control) as listener:
        for command, rollup in ((Command.GET_PRIORITY, False), (Command.GET_PRIORITY_ROLLUP, True)):
            with sending(listener, command, "") as channel:
                found = channel.get_ad(types=False)
                channel.end_received()
            assert control.noted[-1] == ("accounts", rollup)
    assert (found["Name2"], found["Priority2"], found["NumSubmittors"]) == ('"ann@example.org"', "500.5", "3")
    assert found.string("Name3") == 'b"b@example.org'
    assert found["LastUpdate"] == "1700000000"


def queried(listener, command, query):
    """Return the ads of an answer."""
    with sending(listener, command, "") as channel:
        channel.put_ad({"MyType": '"Query"', **query})
        channel.end_message()
        found = []
        while channel.get_int():
            found.append(dict(channel.get_ad()))
        channel.end_received()
        return found


def test_the_negotiator_ad_can_be_queried():
    with daemon() as listener:
        assert queried(listener, Command.QUERY_NEGOTIATOR_ADS, {}) == [OWN_AD]
        query = {"Projection": '"Name"', "Requirements": "false"}
        assert queried(listener, Command.QUERY_NEGOTIATOR_ADS, query) == [{"Name": '"negotiator"'}]


def test_a_query_selects_accounts_and_attributes():
    def names(**query):
        with daemon() as listener:
            return queried(listener, Command.QUERY_ACCOUNTING_ADS, query)

    assert len(names()) == len(names(Requirements="true")) == 3
    assert names(Requirements="Priority > 5", Projection='"Name,priority"') == [
        {"Name": '"ann@example.org"', "Priority": "500.5"}
    ]
    assert len(names(Requirements="IsAccountingGroup == false", LimitResults="1")) == 1
    with pytest.raises(DaemonError):
        names(Requirements="(((")


def test_a_constraint_is_evaluated_for_a_limited_time(monkeypatch):
    monkeypatch.setattr(account_queries, "MOST_SECONDS", -1.0)
    control = NotingControl()
    with daemon(control) as listener, sending(listener, Command.QUERY_ACCOUNTING_ADS, "") as channel:
        channel.put_ad({"Requirements": "Priority > 5"})
        channel.end_message()
        with pytest.raises(DaemonError):
            channel.get_int()
        until(lambda: control.notices)
    assert "the constraint of the query takes more than" in control.notices[0]


def test_the_slots_of_a_submitter_are_sent_with_the_addresses_of_their_startds():
    with daemon() as listener, sending(listener, Command.GET_RESLIST, "") as channel:
        channel.put_string(ANN)
        channel.end_message()
        found = channel.get_ad(types=False)
    assert dict(found) == {
        "Name1": '"slot1@h@"',
        "StartTime1": "1700000000",
        "Name2": '"slot2@h@<1.2.3.4:5>"',
        "StartTime2": "1700000000",
    }


@pytest.mark.parametrize("command", sorted(LEVELS))
def test_who_has_no_name_only_reads(command):
    """Without a word in the settings nobody else changes anything either, and all may start a cycle who have a name."""
    anonymous = {level.name for level in (LEVELS[command],)} <= {"READ", "ALLOW"}
    with daemon(administrators=()) as listener:
        for user, allowed in (
            ("", anonymous),
            (ANN, anonymous or LEVELS[command].name in ("WRITE", "DAEMON", "ADVERTISE_SCHEDD")),
        ):
            try:
                with sending(listener, command, user):
                    outcome = True
            except DaemonError:
                outcome = False
            assert outcome == allowed


def test_a_denied_command_is_logged_with_who_sent_it_and_what_to_allow():
    control = NotingControl()
    with daemon(control) as listener:
        with pytest.raises(AuthorizationError), sending(listener, Command.SET_PRIORITY, ANN):
            pass
        until(lambda: control.notices)
    (text,) = control.notices
    assert text.startswith(f"client {ANN} at <127.0.0.1:")
    assert (
        "command SET_PRIORITY: PERMISSION DENIED; add ann@example.org to administrators of htcondor:" in text
    )


def test_the_address_tells_schedds_not_to_use_udp():
    with daemon() as listener:
        assert str(listener.address).endswith("?noUDP>")
    with daemon(listen="0.0.0.0:0") as listener:
        assert listener.address.primary.host == "127.0.0.1"


def test_a_look_whether_the_port_is_open_is_not_logged():
    control = NotingControl()
    with daemon(control) as listener:
        socket.create_connection((listener.address.primary.host, listener.address.primary.port)).close()
        with sending(listener, Command.DC_NOP, ""):
            pass
    assert control.notices == []


def test_peers_that_stall_cost_their_threads_for_one_timeout_and_others_wait():
    control = NotingControl()
    with daemon(control, timeout=0.5) as listener, contextlib.ExitStack() as stack:
        endpoint = (listener.address.primary.host, listener.address.primary.port)
        for _ in range(AT_ONCE):
            stack.enter_context(socket.create_connection(endpoint)).sendall(b"\1")
        with sending(listener, Command.RESCHEDULE):
            pass
        until(lambda: control.noted)
        until(lambda: len(control.notices) == AT_ONCE)
    assert all("no answer within 0.5 s" in text for text in control.notices)


def test_connections_beyond_the_limit_are_closed_at_once():
    with daemon(timeout=60) as listener, contextlib.ExitStack() as stack:
        endpoint = (listener.address.primary.host, listener.address.primary.port)
        stalled = [
            stack.enter_context(socket.create_connection(endpoint)) for _ in range(AT_ONCE + WAITING + 1)
        ]
        stalled[-1].settimeout(20)
        assert stalled[-1].recv(1) == b""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(LEVELS)),
    st.lists(st.binary(max_size=40) | st.integers(-(2**63), 2**63 - 1).map(integer), max_size=4),
)
def test_no_bytes_harm_the_daemon(running, command, parts):
    """In the clear, so that they are read as messages."""
    listener, control = running
    with socket.create_connection((listener.address.primary.host, listener.address.primary.port), 20) as peer:
        peer.sendall(packet(integer(command) + b"".join(parts)))
        peer.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionError):
            while peer.recv(1 << 16):
                pass
    assert not any("internal error" in text for text in control.notices)


@pytest.fixture(scope="module")
def running():
    control = NotingControl()
    with daemon(control, administrators=("*",), daemons=("*",)) as listener:
        yield listener, control


def test_an_ad_without_end_is_no_command(running):
    listener, control = running
    with socket.create_connection((listener.address.primary.host, listener.address.primary.port), 20) as peer:
        peer.sendall(packet(integer(Command.QUERY_ACCOUNTING_ADS) + ad(*([b"A = 1"] * 200_000))))
        peer.settimeout(20)
        with contextlib.suppress(ConnectionError):
            assert peer.recv(1) == b""
    until(lambda: any("attributes" in text or "bytes" in text for text in control.notices))


def test_commands_are_served_where_the_machine_refuses_further_threads():
    """No thread can have a stack of 64 TB."""
    with daemon() as listener:
        before = threading.stack_size(1 << 46)
        try:
            with pytest.raises(RuntimeError):
                threading.Thread(target=print).start()
            for _ in range(3):
                with sending(listener, Command.GET_PRIORITY, "") as channel:
                    assert channel.get_ad(types=False).integer("NumSubmittors") == 3
        finally:
            threading.stack_size(before)


@attrs.define
class BusyControl(NotingControl):
    """Counts the threads that read the accounts at the same time."""

    inside: int = 0
    most: int = 0
    lock: threading.Lock = attrs.field(factory=threading.Lock)

    def accounts(self, *, rollup=False):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.05)
        with self.lock:
            self.inside -= 1
        return super().accounts(rollup=rollup)


def test_queries_of_many_peers_are_computed_one_after_the_other():
    """They compete with the cycle for the processor."""
    control, found = BusyControl(), []
    with daemon(control) as listener:
        threads = [
            threading.Thread(target=lambda: found.append(queried(listener, Command.QUERY_ACCOUNTING_ADS, {})))
            for _ in range(8)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert [len(each) for each in found] == [3] * 8
    assert control.most == 1


def test_a_peer_that_stalls_in_a_query_delays_no_other():
    with daemon() as listener, sending(listener, Command.QUERY_ACCOUNTING_ADS, ""):
        assert len(queried(listener, Command.QUERY_ACCOUNTING_ADS, {})) == 3


@attrs.define
class ManyAccounts(NotingControl):
    """Has ten thousand accounts."""

    def accounts(self, *, rollup=False):  # noqa: ARG002 - as the control of the runtime
        return [{"Name": f"user{number}@d", "Priority": float(number)} for number in range(10_000)]


def test_the_steps_of_a_constraint_are_limited_over_all_accounts(monkeypatch):
    monkeypatch.setattr(account_queries, "MOST_SECONDS", 600.0)
    control = ManyAccounts()
    with daemon(control) as listener:
        cheap = {"Requirements": 'Priority >= 5000 && regexp("user", Name)'}
        assert len(queried(listener, Command.QUERY_ACCOUNTING_ADS, cheap)) == 5_000
        numbers = "{" + ",".join(["Priority"] * 900) + "}"
        with pytest.raises(DaemonError):
            queried(listener, Command.QUERY_ACCOUNTING_ADS, {"Requirements": f"sum({numbers}) < 0"})
        until(lambda: control.notices)
    assert "the constraint of the query takes more than 2,000,000 steps" in control.notices[0]


def test_signing_keys_that_cannot_be_used_are_named(tmp_path):
    """Without them no token is accepted, of which a client learns nothing."""
    control = NotingControl()
    with daemon(control, methods=(Method.IDTOKENS,), signing_keys=str(tmp_path / "none")):
        pass
    (notice,) = control.notices
    assert notice.startswith(
        f"htcondor: signing_keys: {tmp_path / 'none'}: no signing key that only its owner"
    )
    assert notice.endswith("no token is accepted")
