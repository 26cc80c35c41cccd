"""A plugin in a worker process: it answers like any other, and a hang, a crash or a hostile answer is a failed call."""

import os
import signal
import time

import pytest

from negotiator.hooks import specs
from negotiator.hooks.access import AccessKind, AccessQuestion
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.isolation import plugin
from negotiator.testing import cycle_record, match, queues, request, summary, table

SLOTS = table('OpSys = "LINUX"\n\nOpSys = "WINDOWS"')

ONLY_LINUX = """
__version__ = "1.2"
@hookimpl
def negotiator_filter_slots(request, slots):
    linux = np.array([each == "LINUX" for each in slots.strings("OpSys")])
    yield Filter(rule="linux", allow=linux, code="not_linux", text=str(os.getpid()), source=Source("p.py", 3))
"""

HEADER = "import os, sys, time\nimport numpy as np\nfrom negotiator.plugin import *\n"

FILTER = "@hookimpl\ndef negotiator_filter_slots(slots):\n    "


def load(plugins, source, seconds=30.0):
    plugins.write("p.py", source, header=HEADER)
    return plugins.load(isolate={"p": seconds})


def filtered(manager, slots=SLOTS, of=None, cycle=None):
    return manager.ask(
        specs.negotiator_filter_slots,
        request=of or request(),
        slots=slots,
        settings={},
        cycle=cycle or cycle_record(),
    )


def failure(manager):
    answers = filtered(manager)
    (found,) = answers.failures
    assert (answers.records, found.source) == ((), None)  # a line of the program would mislead
    return found.message


def test_the_answer_comes_from_another_process(plugins):
    manager = load(plugins, ONLY_LINUX)
    assert plugins.problems == ()
    for _ in range(2):
        (answer,) = filtered(manager).records
        assert (answer.plugin, answer.version.split("+")[0]) == ("p", "1.2")
        assert answer.record.allow.tolist() == [True, False]
        assert str(answer.record.source) == "p.py:3"
        assert int(answer.record.text) != os.getpid()


POLICY = """
begun = []

class Linux:
    def begin_cycle(self, slots, cycle):
        begun.append(cycle.number)
        return np.array([each == "LINUX" for each in slots.strings("OpSys")])

@hookimpl
def negotiator_policy(queues): return Linux()
@hookimpl
def negotiator_filter_slots(policy, request):
    if request.user == "crash": os._exit(1)
    yield Filter(rule="linux", allow=policy, code="not_linux", text=str(len(begun)))
"""


def test_the_object_of_negotiator_policy_stays_in_the_worker(plugins):
    """It is made of the slots once a cycle there, and anew in the next worker."""
    manager = load(plugins, POLICY)
    assert manager.make_policies(queues(), {}) == ()
    for number, calls in ((1, "1"), (1, "1"), (2, "2")):
        (answer,) = filtered(manager, cycle=cycle_record(number=number)).records
        assert (answer.record.allow.tolist(), answer.record.text) == ([True, False], calls)
    assert "ended" in filtered(manager, of=request('Owner = "crash"')).failures[0].message
    (answer,) = filtered(manager).records
    assert answer.record.text == "1"


def test_another_table_is_sent_anew(plugins):
    manager = load(plugins, ONLY_LINUX)
    filtered(manager)
    (answer,) = filtered(manager, table('OpSys = "LINUX"')).records
    assert answer.record.allow.tolist() == [True]


def test_the_code_is_not_executed_in_the_program(plugins):
    load(plugins, "import builtins\nbuiltins.executed = True\n" + ONLY_LINUX)
    assert not hasattr(__builtins__, "executed")


def test_a_call_beyond_its_deadline_fails_and_the_next_one_has_a_new_process(plugins, tmp_path):
    mark = tmp_path / "mark"
    hanging = f"if not os.path.exists({str(mark)!r}):\n        open({str(mark)!r}, 'w').close()\n        time.sleep(10**6)\n    "
    manager = load(
        plugins,
        FILTER + hanging + "yield Filter(rule='r', allow=np.ones(len(slots), bool), code='c', text='t')",
        2.0,
    )
    begun = time.monotonic()
    assert "no answer within 2 s: its worker process was ended" in failure(manager)
    assert time.monotonic() - begun < 60
    assert len(filtered(manager).records) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("os._exit(0)", "its worker process ended"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ValueError('no such calendar')", "ValueError: no such calendar"),
        ("return 7", "expected an iterable of records, got int"),
        ("return [7]", "a plugin in a worker process cannot return int"),
        ("yield Filter(rule='r', allow=np.ones(1, bool), code='c', text='t')", "expected 2 elements"),
        ("yield Filter(rule='r', allow=np.ones(2), code='c', text='t')", "got a 1-d array of float64"),
    ],
)
def test_what_a_plugin_does_wrong_is_a_failure_of_the_call(plugins, body, message):
    assert message in failure(load(plugins, FILTER + body))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\\x80\\x04cos\\nsystem\\n(S'true'\\ntR.",
        b"[" * 200_000,
        b"[]",
        b"{}",
        b'{"records": 7}',
        b'{"records": ["x"]}',
        b'{"records": [{"type": "Filter"}]}',
        b'{"records": [{"type": "Popen", "args": "true"}]}',
        b'{"records": [{"type": "Filter", "rule": "r", "allow": "AQE=", "code": "c", "text": [], "mode": "enforce"}]}',
        b'{"records": [{"type": "Filter", "rule": "r", "allow": "?", "code": "c", "text": "t"}]}',
        b'{"records": [{"type": "Filter", "rule": "r", "allow": "AQE=", "code": "c", "text": "t", "verdict": {}}]}',
    ],
)
def test_a_hostile_answer_is_a_failure_of_the_call(plugins, answer):
    """The plugin writes to the pipe of its worker itself."""
    body = f"""content = {answer!r}
    for number in range(3, 64):
        try:
            os.write(number, len(content).to_bytes(8, 'big') + content)
        except OSError:
            pass
    time.sleep(10**6)"""
    assert failure(load(plugins, FILTER + body))


def test_an_answer_without_end_is_refused(plugins):
    body = "open('/dev/null')\n    return (Filter(rule='r', allow=np.ones(len(slots), bool), code='c', text='t') for _ in iter(int, 1))"
    assert "expected at most" in failure(load(plugins, FILTER + body))


def test_a_plugin_with_a_hook_that_cannot_be_isolated_is_refused(plugins):
    plugins.write("p.py", "@hookimpl\ndef negotiator_commands(): return []\n", header=HEADER)
    (message,) = plugins.refusals(isolate={"p": 1.0})
    assert "negotiator_commands cannot be called in a worker process" in message


@pytest.mark.parametrize("seconds", [0.0, -1.0, 10.0**9, float("nan")])
def test_a_deadline_without_sense_is_refused(plugins, seconds):
    plugins.write("p.py", ONLY_LINUX, header=HEADER)
    assert "plugins: isolate: needs seconds above 0" in plugins.refusals(isolate={"p": seconds})[0]


def test_a_plugin_that_does_not_import_is_refused(plugins):
    plugins.write("p.py", "raise ValueError('no')\n", header=HEADER)
    assert "ValueError: no" in plugins.refusals(isolate={"p": 1.0})[0]


def test_an_unknown_name_is_a_warning(plugins):
    plugins.load(isolate={"p": 1.0})
    assert [str(each) for each in plugins.problems] == ["plugins: isolate: warning: unknown plugin p"]


def test_the_arguments_of_all_hooks_cross_the_boundary(plugins):
    manager = load(
        plugins,
        """
        @hookimpl
        def negotiator_gate_ads(kind, ads, cycle):
            yield Gate(rule=kind.value, discard=np.zeros(len(ads), bool), code="c", text=str(cycle.number))
        @hookimpl
        def negotiator_access(questions, queues):
            return [Access(AccessDecision.GRANT, "r", f"{question.user} {len(list(queues))}") for question in questions]
        @hookimpl
        def negotiator_user_groups(users, now):
            return [UserGroups(user, ("g",)) for user in users]
        @hookimpl
        def negotiator_application_groups(applications): return ["g" for _ in applications]
        @hookimpl
        def negotiator_job_attributes(): return ["Owner"]
        @hookimpl
        def negotiator_matches_made(matches): assert matches[0].job_ad.string("Owner") == "alice"
        @hookimpl
        def negotiator_cycle_ended(summary): assert summary.pairs == (("1.0", "slot1@a"),)
        """,
    )
    assert plugins.problems == ()
    cycle, made = cycle_record(), (match(),)
    answers = [
        manager.ask(specs.negotiator_gate_ads, kind=AdKind.JOB, ads=SLOTS, settings={}, cycle=cycle),
        manager.ask(
            specs.negotiator_access,
            questions=(AccessQuestion("sue", (), AccessKind.SUBMIT, "root.a"),),
            queues=queues({"root.a": "*"}),
            settings={},
        ),
        manager.ask(specs.negotiator_user_groups, users=("sue",), settings={}, now=1.0),
        manager.ask(specs.negotiator_job_attributes, settings={}),
        manager.ask(specs.negotiator_matches_made, matches=made, settings={}, cycle=cycle),
        manager.ask(specs.negotiator_cycle_ended, summary=summary(made), settings={}, cycle=cycle),
    ]
    assert [each.failures for each in answers] == [()] * len(answers)


def test_the_worker_ends_with_its_manager(plugins, monkeypatch):
    """A reloaded bundle leaves no processes behind."""
    started = []
    start = plugin.subprocess.Popen
    monkeypatch.setattr(
        plugin.subprocess,
        "Popen",
        lambda *given, **named: started.append(start(*given, **named)) or started[-1],
    )
    manager = load(plugins, ONLY_LINUX)
    assert started[0].poll() is None
    del manager
    assert started[0].returncode == -signal.SIGKILL


def test_what_a_worker_prints_goes_to_standard_error(plugins, capfd):
    """Also what it writes to descriptor 1: standard output is the program's own."""
    source = FILTER + "os.write(1, b'by descriptor'); print('by name', flush=True); return ()"
    assert filtered(load(plugins, source)).failures == ()
    shown = capfd.readouterr()
    assert (shown.out, "by descriptor" in shown.err, "by name" in shown.err) == ("", True, True)
