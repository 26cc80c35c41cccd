"""Access to moving, holding and releasing applications and to changing the configuration; all requests are recorded."""

import pytest

from negotiator.audit.verify import verify
from negotiator.cycle.place import place
from negotiator.hooks.records import Cycle
from negotiator.runtime.state import AdminAction, AdminRequest
from pools import slot, snapshot
from queueing import ME, World, app, bundle, changed_queues, drain

MOVE, HOLD, RELEASE, RELOAD = AdminAction.MOVE, AdminAction.HOLD, AdminAction.RELEASE, AdminAction.RELOAD
CHANGE, CHANGE_QUEUES = AdminAction.CHANGE, AdminAction.CHANGE_QUEUES
SCHEDULER = [ME, "boss"]
"""The owner of the process, and who is on the ``scheduleracl``."""


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.slots = [slot(0)]
    world.jobs = [app(1), app(2, queue="root.two"), app(3, user="ann"), app(3, user="bob", queue="root.two")]
    world.jobs += [app(4, schedd="node1"), app(4, schedd="node2")]
    with world:
        world.cycle()
        yield world


@pytest.mark.parametrize(
    ("by", "of_one", "of_two"),
    [
        (ME, True, True),
        ("boss", False, False),
        ("head", True, False),
        ("deputy", False, True),
        ("tester", False, False),
        ("", False, False),
        ("root.one", False, False),
    ],
)
def test_administrators_of_the_queue_and_the_owner_of_the_process_may_act_on_an_application(
    world, by, of_one, of_two
):
    """Neither the owner of the application nor an administrator of the scheduler may."""
    for name, may in (("1", of_one), ("2", of_two)):
        answer = world.ask(HOLD, name, by=by)
        assert answer.ok is may
        assert may or answer.text.startswith("denied: no adminacl of root.")
        assert bool(world.run.state_manager.held) is may
        if may:
            assert world.ask(RELEASE, name, by=by).ok


def test_a_key_lets_administrators_of_the_scheduler_act_on_all_applications(tmp_path):
    """It is off by default; those of queues keep their rights."""
    pool = "scheduleracl: boss\nscheduleracl_administers_queues: true\n"
    world = World(tmp_path, bundle(tmp_path / "b", pool=pool))
    world.jobs = [app(1), app(2, queue="root.two")]
    with world:
        world.cycle()
        for by, name, may in (
            ("boss", "1", True),
            ("boss", "2", True),
            ("head", "1", True),
            ("head", "2", False),
        ):
            answer = world.ask(HOLD, name, by=by)
            assert answer.ok is may
            assert world.records("admin")[-1]["rule"] == {"boss": "scheduleracl"}.get(
                by, "adminacl of root.one" if may else "acl"
            )


def test_queues_and_static_settings_are_changed_under_separate_rights(tmp_path):
    """With ``queueconfigacl``; a reload, which changes neither, needs one of the two."""
    lists = "scheduleracl: boss\nqueueconfigacl: operator\n"
    world = World(tmp_path, bundle(tmp_path / "b", pool=lists))
    with world:
        world.cycle()
        for by, of_queues, of_settings in (
            ("boss", False, True),
            ("operator", True, False),
            (ME, True, True),
        ):
            assert world.ask(CHANGE_QUEUES, by=by).ok is of_queues
            assert world.ask(CHANGE, by=by).ok is of_settings
            assert world.ask(RELOAD, by=by).ok
        assert not world.ask(RELOAD, by="head").ok


@pytest.mark.parametrize("by", ["boss", "head", "deputy", "tester", ""])
def test_only_administrators_of_the_scheduler_may_change_the_configuration(world, by):
    answer = world.ask(RELOAD, by=by)
    assert answer.ok is (by in SCHEDULER)
    assert answer.ok or "denied: scheduleracl does not have" in answer.text


def test_a_cluster_of_several_users_needs_access_to_all_their_queues(world):
    for by, may in (("head", False), ("deputy", False), (ME, True)):
        assert world.ask(HOLD, "3", by=by).ok is may
        assert len(world.run.state_manager.held) == (2 if may else 0)


def test_a_held_application_is_not_matched_until_it_is_released(world):
    assert (
        world.ask(HOLD, "NODE1#1", by="head", note="full disk").text == "node1#1 is held: it is not matched"
    )
    held = [each for each in world.cycle().discarded if each.reason.code == "held_by_admin"]
    assert [(each.count, each.reason.text) for each in held] == [
        (1, "its application was taken out of matching by head: full disk")
    ]
    assert world.ask(RELEASE, "1", by=ME).text == "node1#1 is released"
    assert [each for each in world.cycle().discarded if each.reason.code == "held_by_admin"] == []


def test_a_hold_survives_a_restart_and_ends_with_its_application(world):
    world.ask(HOLD, "2")
    earlier_jobs, world.jobs = world.jobs, []
    world.stop()
    world.start()
    world.now += 500
    world.cycle()
    world.jobs = earlier_jobs
    assert "held_by_admin" in {each.reason.code for each in world.cycle().discarded}
    world.jobs = []
    world.now += 601
    world.cycle()
    assert (world.where(), world.run.state_manager.held, world.store.load(world.now).held) == ({}, {}, {})
    world.jobs = earlier_jobs
    assert "held_by_admin" not in {each.reason.code for each in world.cycle().discarded}


@pytest.mark.parametrize(("by", "ok"), [("deputy", False), (ME, True)])
def test_a_held_application_in_no_queue_is_released_by_administrators_of_the_root(world, by, ok):
    world.ask(HOLD, "2")
    ((held, _),) = world.run.state_manager.held.items()
    world.run.state_manager.registry.remove(held)
    assert not world.ask(MOVE, "2", "root.one").ok
    assert world.ask(RELEASE, "2", by=by).ok is ok
    assert bool(world.run.state_manager.held) is not ok


def test_the_name_of_a_schedd_ignores_case(world):
    """For ASCII letters only."""
    world.jobs = [app(5, schedd="NÖDE")]
    world.cycle()
    assert world.ask(HOLD, "nÖde#5").text == "nÖde#5 is held: it is not matched"
    assert not world.ask(HOLD, "nöde#5").ok


def test_running_jobs_of_a_held_application_continue_and_are_charged(world):
    world.ask(HOLD, "1")
    world.jobs = [app(1, JobStatus="2"), app(1, 1)]
    held = [each for each in world.cycle().discarded if each.reason.code == "held_by_admin"]
    assert [each.count for each in held] == [1]
    chosen, at = world.bundle, Cycle(1, world.now, world.bundle.digest)
    state, _ = world.run.state_manager.cycle_state(snapshot([], world.jobs), world.now)
    assert len(place(snapshot([], world.jobs), None, chosen, at, state).running.jobs) == 1


def test_a_cluster_is_released_even_if_users_were_added_after_the_hold(world):
    world.ask(HOLD, "1")
    world.jobs += [app(1, 7, user="late")]
    world.cycle()
    assert world.ask(RELEASE, "1").ok
    assert world.run.state_manager.held == {}


def test_a_moved_application_stays_in_its_new_queue(world):
    assert world.ask(MOVE, "1", "ROOT.Two").text == "node1#1 was moved from root.one to root.two"
    world.cycle()
    assert world.where()["node1#1"] == "root.two"
    world.stop()
    world.start()
    assert world.where()["node1#1"] == "root.two"


def test_moving_needs_administration_of_the_source_and_submission_to_the_target(world):
    """Here everybody may submit; who administers the target only may not move out of the other."""
    assert world.ask(MOVE, "1", "root.two", by="head").ok
    assert not world.ask(MOVE, "2", "root.one", by="head").ok


@pytest.mark.parametrize(("by", "ok"), [("head", False), ("boss", False), (ME, True)])
def test_without_submit_access_only_the_owner_of_the_process_may_move_into_a_queue(tmp_path, by, ok):
    from queueing import QUEUES  # noqa: PLC0415 - of this test alone

    closed = QUEUES.replace('submitacl: "*"', "submitacl: tester")
    world = World(tmp_path, bundle(tmp_path / "b", closed))
    world.jobs = [app(1)]
    with world:
        world.cycle()
        answer = world.ask(MOVE, "1", "root.two", by=by)
        assert answer.ok is ok
        assert ok or answer.text.startswith(("no access to root.two: ", "denied: no adminacl of root.one"))
        assert world.where() == {"node1#1": "root.two" if ok else "root.one"}


@pytest.mark.parametrize(
    ("queue", "text"),
    [
        ("root.nowhere", "unknown queue root.nowhere"),
        ("", "unknown queue "),
        ("root", "root is a parent queue: it accepts no applications"),
        ("root.above", "root.above is a parent queue: it accepts no applications"),
        ("root.two", "root.two is draining: it accepts no applications"),
    ],
)
def test_the_target_of_a_move_must_be_an_active_leaf(world, queue, text):
    with changed_queues(world.run.state_manager) as queues:
        drain(queues, "root.two", world.now)
    answer = world.ask(MOVE, "1", queue)
    assert (answer.ok, answer.text) == (False, text)
    assert world.where()["node1#1"] == "root.one"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "9",
        "node1#9",
        "node9#1",
        "#",
        "node1#",
        "node1#x",
        "-1",
        "1.0",
        "²",
        "9" * 18,
        "9" * 40,
        "node1#1#1",
    ],
)
@pytest.mark.parametrize("kind", [MOVE, HOLD, RELEASE])
def test_an_unknown_application_is_an_error(world, kind, name):
    answer = world.ask(kind, name, "root.two")
    assert not answer.ok
    assert answer.text.startswith(f"unknown application {name}")


def test_a_cluster_that_two_schedds_have_must_be_named_with_its_schedd(world):
    answer = world.ask(HOLD, "4")
    assert (answer.ok, answer.text) == (False, "4 is ambiguous: node1#4, node2#4")
    assert world.ask(HOLD, "node2#4").ok
    assert [str(each) for each in world.run.state_manager.held] == ["node2#4"]


def test_releasing_an_application_that_is_not_held_is_an_error(world):
    assert world.ask(RELEASE, "1").text == "node1#1 is not held"


def test_every_request_is_in_the_audit_log_with_user_action_note_and_rule(world):
    world.ask(HOLD, "1", by="head", note="why")
    world.ask(HOLD, "1", by="nobody")
    world.ask(MOVE, "9", "root.two", by="boss")
    done, denied, wrong = world.records("admin")
    wanted = {"action": "hold", "user": "head", "application": "1", "note": "why", "ok": True, "request": 1}
    assert {key: done[key] for key in wanted} == wanted
    assert (done["rule"], done["bundle"]) == ("adminacl of root.one", world.bundle.digest)
    assert (denied["ok"], denied["user"], denied["rule"]) == (False, "nobody", "acl")
    assert denied["text"].startswith("denied: ")
    assert (wrong["ok"], wrong["queue"]) == (False, "root.two")
    assert verify(world.folder / "audit").fault is None


def test_texts_of_any_length_and_bytes_can_be_recorded(world):
    world.ask(HOLD, "1", note="x" * 100_000 + "\udcff\x00\n")
    (record,) = world.records("admin")
    assert len(record["note"]) == 500
    world.ask(HOLD, "1", by="\udcff\n")
    assert world.records("admin")[-1]["user"] == "\udcff\n"


def test_a_request_that_cannot_be_recorded_waits_until_it_can(world):
    number = world.store.request(AdminRequest(0, 1.0, ME, (), HOLD, "1"))
    world.log.close()
    with pytest.raises(Exception, match=r"closed|audit"):
        world.run.between_cycles()
    assert world.store.load(1.0).held == {}
    assert world.store.answered(number) is None
    world.stop()
    world.start()
    world.run.between_cycles()
    assert (len(world.store.load(1.0).held), world.store.answered(number).ok) == (1, True)


def test_requests_are_carried_out_in_their_order(world):
    for kind, queue in ((HOLD, ""), (MOVE, "root.two"), (RELEASE, ""), (MOVE, "root.one")):
        world.store.request(AdminRequest(0, 1.0, ME, (), kind, "1", queue))
    _, done = world.run.between_cycles()
    assert [(each.request.action, each.answer.ok) for each in done] == [
        (kind, True) for kind in (HOLD, MOVE, RELEASE, MOVE)
    ]
    assert world.where()["node1#1"] == "root.one"
    assert world.run.between_cycles() == ((), ())
