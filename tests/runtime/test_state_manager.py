"""Queues and applications over cycles, processes, and bundles."""

import json

import attrs
import numpy as np
import pytest

import queueing
from dying import killed_at_each_step
from negotiator.audit.log import AuditLog
from negotiator.audit.verify import verify
from negotiator.hooks import specs
from negotiator.runtime.cycle_pool import FilePool
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from negotiator.runtime.state_manager import StateManager
from pools import slot, snapshot
from queueing import ME, QUEUES, World, app

WITHOUT_TWO = QUEUES.replace('          - {name: two, adminacl: "deputy"}\n', "")
BELOW_ABOVE = QUEUES.replace(
    "above, parent: true}", "above, parent: true, queues: [{name: new, adminacl: late}]}"
)

OBSERVER = """
import json, pathlib
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_queues_changed(changes):
    with pathlib.Path({path!r}).open("a") as out:
        notices = [(each.queue, each.change, each.owners, each.administrators) for each in changes]
        out.write(json.dumps(notices) + "\\n")
"""

DEADLY = (AuditLog, "append"), (AuditLog, "sync"), (StateStore, "save"), (FilePool, "settle")
REQUESTED = (AdminAction.MOVE, "1", "root.two"), (AdminAction.HOLD, "2", ""), (AdminAction.RELEASE, "2", "")


def test_the_state_of_a_cycle_does_not_change_when_the_manager_does(tmp_path):
    """The audit log has its digest."""
    world = World(tmp_path)
    world.slots, world.jobs = [slot(0)], [app(1)]
    with world:
        world.cycle()
        manager = world.run.state_manager
        state, _ = manager.cycle_state(snapshot(world.slots, world.jobs), world.now)
        before = state.digest
        (application,) = manager.registry
        manager.registry.move(application.id, "root.two", world.now)
        manager.registry.touch(np.array([manager.registry.key(application.id)]), world.now + 60)
        assert state.digest == before
        manager.registry.remove(application.id)
        assert state.digest == before


def cycles_and_requests(folder, note):
    """Run two cycles with requests between them; note each delivery and each request."""
    settle = FilePool.settle

    def noting(self, result, vault, shown):
        for match in result.matches:
            note("delivered", match.id, match.job, match.queue)
        return settle(self, result, vault, shown)

    FilePool.settle = noting
    world = World(folder)
    world.slots = [slot(number) for number in range(9)]
    world.jobs = [app(1), app(2, queue="root.above.made")]
    with world:
        world.cycle()
        for kind, name, queue in REQUESTED:
            note(
                "requested", world.store.request(AdminRequest(0, world.now, ME, (), kind, name, queue)), kind
            )
        world.run.between_cycles()
        world.jobs += [app(3)]
        world.cycle()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def use(world, queues):
    """Replace the queues of the bundle."""
    chosen = queueing.bundle(world.folder / "bundle", queues)
    world.run.bundle = chosen
    return [(each.path, str(each.change)) for each in world.run.state_manager.use_bundle(chosen, world.now)]


def changed(result):
    return [(each.path, str(each.change)) for each in result.changes]


def test_an_application_stays_in_its_queue_over_cycles_restarts_and_other_bundles(world):
    """Later requests of its jobs, or later configurations, apply to later applications."""
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
        world.jobs = [app(1), app(2, queue="root.two")]
        world.cycle()
        use(world, QUEUES.replace("value: root.one", "value: root.above.other, create: true"))
        world.cycle()
        assert world.where() == {"node1#1": "root.two", "node1#2": "root.two"}
    world.jobs = [app(1, queue="root.one"), app(3)]
    with world:
        world.cycle()
        assert world.where() == {"node1#1": "root.two", "node1#2": "root.two", "node1#3": "root.one"}


def test_without_a_store_the_queues_live_as_long_as_the_process(tmp_path):
    chosen = queueing.bundle(tmp_path / "b")
    state_manager = StateManager.begin(chosen, 1.0)
    state_manager.write()
    assert [queue.path for queue in state_manager.queues] == ["root", "root.above", "root.one", "root.two"]


def test_a_created_queue_is_removed_after_its_last_application_has_left(world):
    """An application has left if it was not seen for ``forget_after`` seconds, 600 by default."""
    world.jobs = [app(1, queue="root.above.made")]
    with world:
        assert changed(world.cycle()) == [("root.above.made", "created")]
        world.jobs = []
        for later in (300, 600):
            world.now = queueing.NOW + later
            assert changed(world.cycle()) == []
        assert world.run.state_manager.queues.get("root.above.made")
        world.now += 1
        assert changed(world.cycle()) == [("root.above.made", "removed")]
        assert world.run.state_manager.queues.get("root.above.made") is None
        assert world.where() == {}
    with world:
        assert world.run.state_manager.queues.get("root.above.made") is None


def test_an_application_that_returns_in_time_has_not_left(world):
    world.jobs = [app(1, queue="root.above.made")]
    with world:
        world.cycle()
        jobs, world.jobs = world.jobs, []
        world.now += 500
        world.cycle()
        world.jobs, world.now = jobs, world.now + 500
        assert changed(world.cycle()) == []
        assert world.where() == {"node1#1": "root.above.made"}


def test_an_application_present_after_a_restart_keeps_its_queue(world):
    world.jobs = [app(1, queue="root.above.made")]
    with world:
        world.cycle()
    world.now += 100_000
    with world:
        assert changed(world.cycle()) == []
        assert world.where() == {"node1#1": "root.above.made"}


@pytest.mark.parametrize("between", [60, 500])
def test_an_application_is_forgotten_even_if_each_cycle_is_its_own_process(world, between):
    """However often processes start: the time when it was last seen counts."""
    world.jobs = [app(1, queue="root.above.made"), app(2)]
    with world:
        world.cycle()
        assert world.ask(AdminAction.HOLD, "1").ok
    world.jobs, gone, there = [app(2)], 0, world.where()
    while gone <= 600:
        assert "node1#1" in there
        gone += between
        world.now = queueing.NOW + gone
        with world:
            world.cycle()
            there = world.where()
    assert there == {"node1#2": "root.one"}
    with world:
        assert world.run.state_manager.queues.get("root.above.made") is None


def test_a_command_between_two_cycles_does_not_renew_applications(world):
    world.jobs = [app(1)]
    with world:
        world.cycle()
    world.now += 400
    with world:
        assert world.ask(AdminAction.HOLD, "1").ok
    world.jobs = []
    world.now += 201
    with world:
        world.cycle()
        assert world.where() == {}


@pytest.mark.parametrize("restart", [False, True])
def test_an_application_is_forgotten_even_if_the_clock_was_ahead(world, restart):
    world.jobs = [app(1)]
    world.now += 10**9
    world.start()
    world.cycle()
    world.now, world.jobs = queueing.NOW, []
    if restart:
        world.stop()
        world.start()
    for later in (0, 600):
        world.now = queueing.NOW + later
        world.cycle()
        assert world.where() == {"node1#1": "root.one"}
    world.now += 1
    world.cycle()
    assert world.where() == {}
    world.stop()


def test_without_placement_plugins_held_applications_stay_held(world):
    """And keep their queues, until a placement plugin is loaded again."""
    world.slots, world.jobs = [slot()], [app(1)]
    with world:
        world.jobs = [app(1, JobStatus="2")]
        world.cycle()
        assert world.ask(AdminAction.HOLD, "1").ok
        world.jobs = [app(1), app(2)]
        world.bundle = world.run.bundle = attrs.evolve(world.bundle, chain=None)
        world.run.state_manager.use_bundle(world.bundle, world.now)
        for _ in range(3):
            world.now += 500
            result = world.cycle()
            held = [each.count for each in result.discarded if each.reason.code == "held_by_admin"]
            assert held == [1]
        assert world.where() == {"node1#1": "root.one"}


def test_a_queue_that_drains_keeps_its_administrators_over_a_restart(tmp_path):
    plugins = {"observer": OBSERVER.format(path=str(tmp_path / "notes"))}
    world = World(tmp_path, queueing.bundle(tmp_path / "one", plugins=plugins))
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
    world.bundle = queueing.bundle(tmp_path / "other", WITHOUT_TWO, plugins=plugins)
    for _ in range(2):
        (tmp_path / "notes").write_text("")
        with world:
            world.cycle()
            assert world.ask(AdminAction.HOLD, "1", by="deputy").ok
            assert not world.ask(AdminAction.HOLD, "1", by="head").ok
        (notices,) = map(json.loads, (tmp_path / "notes").read_text().splitlines())
        assert notices[-1] == ["root.two", "draining", ["tester"], ["deputy"]]


def test_plugins_look_up_groups_of_valid_user_names_only(tmp_path):
    """A plugin that answers for every given name would give wrong answers, and all users would be rejected."""
    knows = """
from negotiator.plugin import UserGroups, hookimpl
@hookimpl
def negotiator_user_groups(users):
    return [UserGroups(user, ("staff",)) for user in users]
"""
    world = World(tmp_path, queueing.bundle(tmp_path / "one", plugins={"knows": knows}))
    world.jobs = [app(1), app(2, user="x" * 201), app(3, user="a\tb")]
    with world:
        result = world.cycle()
        assert result.failures == ()
        assert world.where() == {"node1#1": "root.one"}


def test_a_discarded_job_keeps_its_queue(world):
    """Held and running applications are present too."""
    world.jobs = [app(1, queue="root.above.made")]
    with world:
        world.cycle()
        world.jobs = [app(1, queue="root.above.made", JobStatus="2")]
        for _ in range(3):
            world.now += 500
            assert changed(world.cycle()) == []


def test_a_queue_removed_from_the_configuration_drains_until_its_last_application_leaves(world):
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
        world.now += 1
        assert use(world, WITHOUT_TWO) == [("root.two", "draining")]
        world.jobs += [app(2, queue="root.two")]
        result = world.cycle()
        assert changed(result) == [("root.two", "draining")]
        assert world.where() == {"node1#1": "root.two", "node1#2": "root.one"}
        world.jobs = [app(2)]
        world.now += 601
        assert changed(world.cycle()) == [("root.two", "removed")]


def test_the_draining_time_of_a_queue_survives_restarts(world):
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
        use(world, WITHOUT_TWO)
        world.cycle()
    world.bundle = queueing.bundle(world.folder / "bundle", WITHOUT_TWO)
    world.now += 7000
    with world:
        queue = world.run.state_manager.queues.get("root.two")
        assert (queue.draining, queue.since) == (True, queueing.NOW)
        assert changed(world.cycle()) == []


@pytest.mark.parametrize("restart", [False, True])
def test_a_draining_queue_that_is_configured_again_takes_applications_again(world, restart):
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
        use(world, WITHOUT_TWO)
        world.cycle()
        if restart:
            world.stop()
            world.bundle = queueing.bundle(world.folder / "bundle", QUEUES)
            world.start()
        else:
            use(world, QUEUES)
        world.jobs += [app(2, queue="root.two")]
        assert changed(world.cycle()) == [("root.two", "restored")]
        assert set(world.where().values()) == {"root.two"}


@pytest.mark.parametrize("restart", [False, True])
def test_a_queue_created_by_a_rule_can_become_configured(world, restart):
    """Then it stays when it is empty, and its access lists apply."""
    world.jobs = [app(1, queue="root.above.new")]
    with world:
        world.cycle()
        if restart:
            world.stop()
            world.bundle = queueing.bundle(world.folder / "bundle", BELOW_ABOVE)
            world.start()
        else:
            use(world, BELOW_ABOVE)
        assert changed(world.cycle()) == [("root.above.new", "managed")]
        queue = world.run.state_manager.queues.get("root.above.new")
        assert (queue.managed, queue.config.admin.users) == (True, frozenset({"late"}))
        world.jobs = []
        world.now += 601
        assert changed(world.cycle()) == []
        assert world.where() == {}


def test_changes_while_no_process_ran_are_recorded_by_the_first_cycle(world):
    """Even if a command changed the state in between."""
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.cycle()
    world.bundle = queueing.bundle(world.folder / "bundle", WITHOUT_TWO)
    with world:
        assert world.ask(AdminAction.HOLD, "1").ok
    with world:
        assert changed(world.cycle()) == [("root.two", "draining")]
    assert world.records("queue_change")[-1]["change"] == "draining"


def test_plugins_get_changed_and_draining_queues_with_owners_and_administrators(tmp_path):
    plugins = {"observer": OBSERVER.format(path=str(tmp_path / "notes"))}
    world = World(tmp_path, queueing.bundle(tmp_path / "one", plugins=plugins))
    other = queueing.bundle(
        tmp_path / "other", QUEUES.replace("two, adminacl: ", "three, adminacl: "), plugins=plugins
    )
    world.jobs = [app(1, user="ann", queue="root.two"), app(2, user="bob", queue="root.two")]
    with world:
        world.cycle()
        world.run.bundle = other
        world.run.state_manager.use_bundle(other, world.now)
        world.cycle()
        world.cycle()
    drains = ["root.two", "draining", ["ann", "bob"], ["deputy"]]
    notices = [json.loads(line) for line in (tmp_path / "notes").read_text().splitlines()]
    assert notices == [[["root.three", "created", [], ["deputy"]], drains], [drains]]


def test_in_shadow_mode_plugins_get_no_changes_of_queues(tmp_path):
    """They would notify people, whom the pool's own negotiator serves."""
    plugins = {"observer": OBSERVER.format(path=str(tmp_path / "notes"))}
    world = World(tmp_path, queueing.bundle(tmp_path / "one", plugins=plugins))
    other = queueing.bundle(tmp_path / "other", WITHOUT_TWO, plugins=plugins)
    world.jobs = [app(1, queue="root.two")]
    with world:
        world.run.pool.is_shadow = True
        world.cycle()
        world.run.bundle = other
        world.run.state_manager.use_bundle(other, world.now)
        world.cycle()
    assert not (tmp_path / "notes").exists()


def test_without_an_implementing_plugin_there_are_no_notices(world):
    """They would need all applications after each cycle."""
    world.jobs = [app(1, queue="root.two")]
    with world:
        use(world, WITHOUT_TWO)
        result = world.cycle()
        assert not world.bundle.hooks.implements(specs.negotiator_queues_changed)
        assert world.run.state_manager.notices(result) == ()


def test_a_name_that_is_not_utf8_does_not_end_the_cycles(world):
    """The name of a schedd in a job ad can have any bytes."""
    world.jobs = [app(1, schedd="node\udcff"), app(2)]
    with world:
        world.cycle()
    with world:
        world.cycle()
        assert sorted(world.where()) == ["node1#2", "node\udcff#1"]


def test_nothing_is_handed_out_if_the_state_cannot_be_written(world):
    world.slots, world.jobs = [slot()], [app(1)]
    with world:
        world.store.database._db.execute("PRAGMA query_only = ON")
        with pytest.raises(Exception, match="cannot write the state"):
            world.cycle()
    kinds = [record["kind"] for record in world.records()]
    assert (kinds.count("match"), kinds.count("outcome")) == (1, 0)


def test_a_process_killed_at_any_point_loses_nothing_recorded(tmp_path):
    """Killed before and after each record, each write of the state and each delivery."""
    folders = killed_at_each_step(tmp_path, DEADLY, cycles_and_requests, most=79, after=True)
    for folder in folders:
        _is_whole(folder, [line.split() for line in (folder / "notes").read_text().splitlines()])
    assert len(folders) > 20


def _is_whole(folder, notices):
    world = World(folder)
    world.jobs = [app(1), app(2, queue="root.above.made"), app(3)]
    with world:
        assert verify(folder / "audit").fault is None
        recorded = {record["id"]: record for record in world.records("match")}
        before = world.where()
        for word, name, job, queue in (each for each in notices if each[0] == "delivered"):
            assert (word, recorded[name]["job"], recorded[name]["queue"]) == ("delivered", job, queue)
            moved = "root.two" if job == "1.0" else queue
            assert before[f"node1#{job.partition('.')[0]}"] in {queue, moved}
        placed = {each["first_job"].partition(".")[0] for each in world.records("placement")}
        assert {name.partition("#")[2] for name in before} <= placed, "a placement that nobody recorded"
        done = {each["request"]: each for each in world.records("admin")}
        world.run.between_cycles()
        for _, number, kind in (each for each in notices if each[0] == "requested"):
            assert world.store.answered(int(number)).ok, (number, kind)
            assert done.get(int(number), {"ok": True})["ok"]
            assert [each["ok"] for each in world.records("admin") if each["request"] == int(number)][-1]
        world.cycle()
        requested = {each[2] for each in notices if each[0] == "requested"}
        one = "root.two" if "move" in requested else "root.one"
        assert world.where() == {"node1#1": one, "node1#2": "root.above.made", "node1#3": "root.one"}
        assert bool(world.run.state_manager.held) == ("hold" in requested and "release" not in requested)
        assert verify(folder / "audit").fault is None
        assert world.ask(AdminAction.HOLD, "1", by=ME).ok
