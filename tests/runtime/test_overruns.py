"""Overruns from cycle to cycle: each begins and ends once, also over a restart, and ends running jobs where the bundle says so."""

import io

import attrs
import pytest

from negotiator.app.cycle_report import CycleReport
from negotiator.cli.event_log import open_log
from negotiator.cli.overruns import print_overrun_changes
from negotiator.cycle.cycle_state import CycleState
from negotiator.plugin import EvictionOutcome, Overrun, Reason, Source, Verdict
from negotiator.records import Provenance, Station
from pools import slot, write_bundle
from queueing import World, app, bundle, limited

LIMIT = "{{limit: l, users: [tester], maxresources: {{vcore: {}}}}}"
POLICY = "policies: [{name: no-big, applies_to: job, expression: MY.RequestMemory > 200%s}]\n"


def running(*memory):
    """Return running jobs of one core, with these requests of memory."""
    return [
        app(1, number, JobStatus="2", RequestCpus="1", RequestMemory=str(size), RemoteHost=f'"s{number}@h"')
        for number, size in enumerate(memory)
    ]


def exceeded(user="ann", used=3000, limit=2000):
    """Return an exceeded limit of a user."""
    where = Provenance(Station.CHARGE, "limits", "1", f"limit of user {user}", Source("queues.yaml", 7))
    why = Reason(Verdict.WAITING, "user_limit", "too much", where)
    numbers = {"used": used, "limit": limit, "counter": ("user", user)}
    return Overrun(reason=why, subject=f"user {user}", since=1.0, resource="vcore", **numbers)


@pytest.fixture
def world(tmp_path):
    """Return a negotiator of a pool of four slots, with a function that sets its policies."""
    made = World(tmp_path, bundle(tmp_path / "first"))
    made.slots = [slot(number, MyAddress=f'"<10.0.0.{number}:9618>"') for number in range(4)]
    count = iter(range(9))

    def use(text):
        made.bundle = made.run.bundle = write_bundle(tmp_path / f"next{next(count)}", text)
        made.run.state_manager.use_bundle(made.bundle, made.now)

    made.use = use
    with made:
        yield made


@pytest.fixture
def printed(world):
    """Return a function that runs a cycle and returns its lines about overruns."""

    def lines():
        out = io.StringIO()
        print_overrun_changes(open_log("text", "info", out), world.run.next_cycle())
        return [line.split(" ", 1)[1] for line in out.getvalue().splitlines()]

    return lines


def changes(world):
    """Return change and subject of the records of the audit log."""
    return [(each["change"], each["subject"].split(" of ")[0]) for each in world.records("overrun")]


def test_what_begins_and_ends_is_recorded_once_also_over_restarts(world):
    world.jobs = running(100, 300)
    world.use(POLICY % "")
    assert [each.job for each in world.cycle().overruns_begun] == ["1.1"]
    began = world.now
    for _ in range(2):
        world.stop()
        world.now += 60
        world.start()
        (lasting,) = world.cycle().overruns
        assert lasting.since == began
    world.stop()
    world.jobs = running(100)
    world.start()
    (ended,) = world.cycle().overruns_ended
    assert (ended.user, ended.slot, str(ended.reason.provenance.source)) == (
        "tester",
        "s1@h",
        "pool.yaml:1:56",
    )
    assert changes(world) == [("begun", "job 1.1"), ("ended", "job 1.1")]
    assert [each["overruns"] for each in world.records("cycle")] == [1, 1, 1, 0]


def test_a_policy_that_is_removed_ends_its_overruns(world):
    world.jobs = running(300)
    world.use(POLICY % "")
    world.cycle()
    world.use("")
    assert [each.job for each in world.cycle().overruns_ended] == ["1.0"]


def test_a_stored_overrun_that_is_damaged_begins_anew(world):
    world.jobs = running(300)
    world.use(POLICY % "")
    world.cycle()
    with world.store.database.writing() as db:
        db.execute("UPDATE overruns SET jobs = '[[1]]'")
    world.stop()
    world.start()
    assert "a row of the table overruns is damaged" in world.run.state_manager.damaged[0]
    assert len(world.cycle().overruns_begun) == 1


def test_a_state_keeps_overruns_in_its_canonical_form_and_one_without_them_is_as_before(world):
    world.jobs = running(300)
    world.use(POLICY % "" + "concurrency_limits: {a: 0}\n")
    world.jobs = [*running(300), app(2, 0, JobStatus="2", ConcurrencyLimits='"a"', RemoteHost='"s1@h"')]
    state = world.cycle().state
    assert len(state.overruns) == 2
    assert CycleState.decode(state.encode()).overruns == state.overruns
    assert b"overruns" not in attrs.evolve(state, overruns=()).encode()


class TestEvictions:
    """Running jobs that are to end, once they have broken a rule for longer than its grace time."""

    @pytest.fixture
    def asked(self, world, monkeypatch):
        """Return the evictions that the pool was asked for, cycle by cycle."""
        found = []

        def evict(evictions):
            found.append(evictions)
            return [EvictionOutcome(each, accepted=True) for each in evictions]

        monkeypatch.setattr(type(world.run.pool), "evict", lambda _, evictions: evict(evictions))
        monkeypatch.setattr(type(world.run.pool), "can_evict", True)
        return found

    def test_they_come_after_the_grace_time_and_are_recorded_before_and_after(self, world, asked):
        world.jobs = running(100, 300)
        world.use(POLICY % "" + "overruns: vacate\noverrun_grace: 60\n")
        for seconds in (0, 59, 1):
            world.now += seconds
            world.cycle()
        assert [len(each) for each in asked] == [0, 0, 1]
        ((ending,),) = asked[2:]
        assert (ending.overrun.job, ending.startd, ending.fast) == ("1.1", "<10.0.0.1:9618>", False)
        assert changes(world) == [("begun", "job 1.1"), ("evict", "job 1.1")]
        *_, last = world.records("outcome")
        assert last["evicted"] == [
            {"schedd": "node1", "job": "1.1", "slot": "s1@h", "accepted": True, "text": ""}
        ]

    def test_a_policy_has_an_action_and_a_grace_time_of_its_own(self, world, asked):
        world.jobs = running(300)
        world.use(POLICY % ", overruns: remove, overrun_grace: 0")
        world.cycle()
        (ending,) = asked[0]
        assert ending.fast

    def test_of_several_rules_one_request_is_made_the_fastest(self, world, asked):
        world.jobs = running(300)
        text = (POLICY % "")[
            :-2
        ] + ", {name: other, applies_to: startd, expression: 'true', overruns: remove}]\n"
        world.use(f"{text}overruns: vacate\noverrun_grace: 0\n")
        world.cycle()
        ((ending,),) = asked
        assert (ending.overrun.reason.provenance.rule, ending.fast) == ("other", True)

    @pytest.mark.parametrize(("grace", "interval"), [(0, 60), (100, 100)])
    def test_an_end_is_requested_again_after_a_minute_or_the_grace_time_also_over_restarts(
        self, world, asked, grace, interval
    ):
        """Each request is recorded once; one that was not needed any more would be the second of a job that retires."""
        world.jobs = running(300)
        world.use(POLICY % f", overruns: vacate, overrun_grace: {grace}")
        world.cycle()
        world.now += grace
        first = world.now
        for seconds in (0, 1, interval - 2, 1, 1, interval - 1):
            world.now += seconds
            state = world.cycle().state
            assert CycleState.decode(state.encode()).overruns == state.overruns
            world.stop()
            world.start()
        times = [each[0].overrun.asked - first for each in asked if each]
        assert times == [0, interval, 2 * interval]
        assert [change for change, _ in changes(world)].count("evict") == len(times)

    def test_a_rule_that_ends_jobs_at_once_waits_for_no_request_to_vacate(self, world, asked):
        world.jobs = running(300)
        also = (
            ", {name: other, applies_to: startd, expression: 'true', overruns: remove, overrun_grace: 10}]\n"
        )
        world.use((POLICY % ", overruns: vacate, overrun_grace: 0")[:-2] + also)
        for seconds in (0, 10, 10, 49, 1):
            world.now += seconds
            world.cycle()
        assert [[each.fast for each in ends] for ends in asked] == [[False], [True], [], [], [True]]

    def test_a_pool_of_files_is_asked_for_nothing_and_nothing_is_recorded_as_asked(self, world):
        world.jobs = running(300)
        world.use(POLICY % ", overruns: remove, overrun_grace: 0")
        assert world.cycle().evictions == ()
        assert changes(world) == [("begun", "job 1.0")]
        assert "evicted" not in world.records("outcome")[-1]

    def test_nothing_ends_by_default(self, world, asked):
        world.jobs = running(300)
        world.use(POLICY % "")
        world.cycle()
        world.now += 100_000
        world.cycle()
        assert asked == [(), ()]


def test_limits_that_begin_grow_shrink_and_end_are_lines_of_the_log(world, printed):
    world.stop()
    world.bundle = bundle(world.folder / "strict", limited(LIMIT.format(2)))
    world.start()
    found = []
    for jobs in (2, 3, 4, 4, 3, 2):
        world.jobs = running(*[100] * jobs)
        found += printed()
    rule = 'rule="limits: limit of user tester at root (queues.yaml:7:18)"'
    of = 'of="user tester in root" resource=vcore'
    assert found == [
        f"warning overrun change=begun {of} used=3 limit=2 {rule}",
        f"warning overrun change=grown {of} used=4 limit=2 {rule}",
        f"info    overrun change=shrunk {of} used=3 limit=2 {rule}",
        f"info    overrun change=ended {of} {rule}",
    ]


def test_running_jobs_that_begin_and_end_are_lines_of_the_log(world, printed):
    world.use(POLICY % "")
    world.jobs = running(300)
    rule = 'rule="expressions: no-big (pool.yaml:1:56)"'
    assert printed() == [f'warning overrun change=begun of="job 1.0 of tester on s0@h" {rule}']
    assert printed() == []
    world.jobs = []
    assert printed() == [f'info    overrun change=ended of="job 1.0 of tester on s0@h" {rule}']


def test_of_many_changes_eight_are_printed_and_the_others_counted(world):
    report = world.run.next_cycle()
    many = tuple(exceeded(f"u{number}") for number in range(5000))
    report = attrs.evolve(
        report, result=attrs.evolve(report.result, overruns_begun=many, overruns_ended=many[:9])
    )
    assert type(report) is CycleReport
    out = io.StringIO()
    print_overrun_changes(open_log("text", "info", out), report)
    lines = [line.split(" ", 1)[1] for line in out.getvalue().splitlines()]
    assert len(lines) == 9 + 9
    assert lines[8::9] == ["warning overrun others=4992", "info    overrun others=1"]
