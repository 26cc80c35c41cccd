"""Exceeded limits from cycle to cycle: their beginning, changes and end, as lines of a bounded number."""

import io

import attrs

from negotiator.app.cycle_report import OverfillChanges
from negotiator.cli.event_log import open_log
from negotiator.cli.overfills import print_overfill_changes
from negotiator.plugin import Overfill, Reason, Source, Verdict
from negotiator.records import Provenance, Station
from negotiator.runtime.overfill_changes import OverfillWatch
from pools import slot
from queueing import World, app, bundle, limited

LIMIT = "{{limit: l, users: [tester], maxresources: {{vcore: {}}}}}"


def running(count):
    """Return running jobs of one core."""
    own = {"JobStatus": "2", "RequestCpus": "1", "RequestMemory": "100"}
    return [app(1, number, RemoteHost=f'"s{number}@h"', **own) for number in range(count)]


def overfill(user="ann", used=3000, limit=2000, plugin="limits"):
    """Return an exceeded limit of a user."""
    where = Provenance(Station.CHARGE, plugin, "1", f"limit of user {user}", Source("queues.yaml", 7))
    why = Reason(Verdict.WAITING, "user_limit", "too much", where)
    return Overfill(f"user {user}", "vcore", used, limit, why, ("user", user))


def names(changes):
    """Return the users of each kind of change."""
    kinds = attrs.asdict(changes, recurse=False)
    return {kind: [each.counter[-1] for each in found] for kind, found in kinds.items() if found}


def printed(changes):
    """Return the lines without their times."""
    out = io.StringIO()
    print_overfill_changes(open_log("text", "info", out), changes)
    return [line.split(" ", 1)[1] for line in out.getvalue().splitlines()]


def test_beginning_growth_decline_and_end_are_told_apart():
    watch = OverfillWatch()
    assert names(watch.next([overfill()])) == {"begun": ["ann"]}
    assert names(watch.next([overfill()])) == {}
    assert names(watch.next([overfill(used=4000), overfill("bob")])) == {"grown": ["ann"], "begun": ["bob"]}
    assert names(watch.next([overfill(used=3000), overfill("bob", limit=1000)])) == {
        "grown": ["bob"],
        "shrunk": ["ann"],
    }
    assert names(watch.next([])) == {"ended": ["ann", "bob"]}
    assert names(watch.next([])) == {}


def test_limits_of_two_plugins_with_the_same_key_are_two():
    watch = OverfillWatch()
    watch.next([overfill()])
    assert names(watch.next([overfill(plugin="mine")])) == {"begun": ["ann"], "ended": ["ann"]}


def test_what_gets_worse_is_a_warning_with_limit_place_and_amounts():
    changes = OverfillChanges(begun=(overfill(),), grown=(overfill("bob", 2500),), ended=(overfill("cy"),))
    rule = 'rule="limits: limit of user {} (queues.yaml:7)"'
    assert printed(changes) == [
        f'warning overfill change=begun of="user ann" resource=vcore used=3 limit=2 {rule.format("ann")}',
        f'warning overfill change=grown of="user bob" resource=vcore used=2500m limit=2 {rule.format("bob")}',
        f'info    overfill change=ended of="user cy" resource=vcore {rule.format("cy")}',
    ]


def test_of_many_changes_eight_are_printed_and_the_others_counted():
    many = tuple(overfill(f"u{number}") for number in range(5000))
    lines = printed(OverfillChanges(begun=many, shrunk=many[:9]))
    assert len(lines) == 9 + 9
    assert lines[8::9] == ["warning overfill other_limits=4992", "info    overfill other_limits=1"]


def test_a_limit_lowered_on_reload_is_reported_until_jobs_end(tmp_path):
    """In the audit log each cycle has it."""
    world = World(tmp_path, bundle(tmp_path / "loose", limited(LIMIT.format(2))))
    world.slots, world.jobs = [slot(0), slot(1)], running(2)
    with world:
        assert names(world.run.next_cycle().overfills) == {}
        strict = bundle(tmp_path / "strict", limited(LIMIT.format(1)))
        world.run.bundle = strict
        world.run.state_manager.use_bundle(strict, world.now)
        assert names(world.run.next_cycle().overfills) == {"begun": ["vcore"]}
        assert names(world.run.next_cycle().overfills) == {}
        world.jobs = running(1)
        assert names(world.run.next_cycle().overfills) == {"ended": ["vcore"]}
    assert [each["overfills"] for each in world.records("cycle")] == [0, 1, 1, 0]
    recorded = [(each["used"], each["limit"], each["resource"]) for each in world.records("overfill")]
    assert recorded == [(2000, 1000, "vcore")] * 2
