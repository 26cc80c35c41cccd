"""Reloading: a new bundle replaces the active one as a whole between two cycles, or is refused and recorded."""

import hashlib
import os
from itertools import count

import pytest

import queueing
from negotiator.audit.errors import AuditError
from negotiator.audit.verify import verify
from negotiator.bundle import examine_bundle
from negotiator.runtime.reload import Reloader
from negotiator.runtime.state import AdminAction
from pools import slot
from queueing import QUEUES, World, app

OTHER = QUEUES.replace("two, adminacl", "three, adminacl")
BROKEN = QUEUES.replace("parent: true", "parent: true, nonsense: [, 7")

FILTER = """
from negotiator.plugin import Filter, hookimpl
@hookimpl
def negotiator_filter_slots(slots):
    yield Filter(rule="r", allow=slots.numbers("Cpus", default=0) {sign} 99, code="no", text="no")
"""


@pytest.fixture
def folder(tmp_path):
    return queueing.write(tmp_path / "bundle")


def reloader(folder, *, watch=True, examine=None, stable=1):
    """A second passes between two polls."""
    examine = examine or (lambda: examine_bundle(folder))
    found = Reloader(folder, examine, watch=watch, stable_seconds=stable, clock=count().__next__)
    found.use(examine().bundle)
    return found


def later(path, seconds=1):
    """Set another modification time of a file, independent of the clock of the file system."""
    found = path.stat()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + seconds * 10**9))


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.reloader = reloader(tmp_path / "bundle", watch=False)
    with world:
        yield world


def between(world, how="signal"):
    world.reloader.request(how)
    (found,), _ = world.run.between_cycles()
    return found


def test_without_a_request_nothing_is_read(folder):
    found = reloader(folder, watch=False)
    queueing.write(folder, OTHER)
    assert found.poll() is None
    found.request("signal")
    assert found.poll().bundle.partition.root.children[1].path == "root.three"
    assert found.poll() is None


def test_a_request_is_answered_even_if_nothing_changed(folder):
    found = reloader(folder)
    found.request("command by boss")
    reload = found.poll()
    assert (reload.trigger, reload.bundle.digest) == ("command by boss", examine_bundle(folder).digest)
    assert reload.errors == ()


def test_changed_files_are_read_once_they_are_stable(folder):
    found = reloader(folder)
    assert found.poll() is None
    for number in range(3):
        queueing.write(folder, f"{OTHER}# {number}\n")
        later(folder / "queues.yaml", number + 1)
        assert found.poll() is None
    reload = found.poll()
    assert (reload.trigger, reload.bundle is not None) == ("watch", True)
    assert found.poll() is None


@pytest.mark.parametrize("what", ["touched", "written anew", "hidden", "copy", "cache"])
def test_files_outside_the_bundle_cause_no_reload(folder, what):
    found = reloader(folder)
    match what:
        case "touched":
            later(folder / "queues.yaml")
        case "written anew":
            (folder / "queues.yaml").unlink()
            queueing.write(folder)
        case "hidden" | "copy":
            (folder / {"hidden": ".queues.yaml.swp", "copy": "queues.yaml~"}[what]).write_text("x")
        case "cache":
            (folder / "__pycache__").mkdir()
            (folder / "__pycache__" / "x.pyc").write_text("x")
    assert [found.poll() for _ in range(4)] == [None] * 4


def test_an_added_file_is_a_change(folder):
    found = reloader(folder)
    (folder / "below").mkdir()
    (folder / "below" / "site.txt").write_text("x")
    assert found.poll() is None
    assert found.poll().bundle


def test_a_change_counts_after_the_whole_time_without_another_one(folder):
    found = reloader(folder, stable=4)
    for number in (1, 2):
        queueing.write(folder, f"{OTHER}# {number}\n")
        later(folder / "queues.yaml", number)
        assert [found.poll() for _ in range(4)] == [None] * 4
    assert found.poll().bundle


@pytest.mark.parametrize("what", ["missing", "empty"])
def test_a_watched_bundle_that_lost_a_file_is_rejected_once(folder, what):
    """A half-written bundle is valid: without queues.yaml every queue would be open."""
    found = reloader(folder)
    (folder / "queues.yaml").unlink()
    if what == "empty":
        (folder / "queues.yaml").write_text("")
    assert found.poll() is None
    reload = found.poll()
    assert reload.bundle is None
    (error,) = reload.errors
    assert (error.source.file, f"this file of the active bundle is {what}" in error.message) == (
        "queues.yaml",
        True,
    )
    assert [found.poll() for _ in range(4)] == [None] * 4
    queueing.write(folder, OTHER)
    assert found.poll() is None
    assert found.poll().bundle


def test_a_file_is_compared_with_the_active_bundle_not_with_a_rejected_one(folder):
    found = reloader(folder)
    (folder / "queues.yaml").unlink()
    found.poll()
    assert found.poll().bundle is None
    (folder / "pool.yaml").write_text("scheduleracl: other\n")
    assert found.poll() is None
    assert [error.source.file for error in found.poll().errors] == ["queues.yaml"]


def test_on_request_a_bundle_may_lose_files(folder):
    found = reloader(folder)
    (folder / "queues.yaml").unlink()
    found.request("signal")
    assert found.poll().bundle
    (folder / "more.conf").write_text("")
    assert found.poll() is None
    assert found.poll().bundle


def test_a_file_that_was_empty_before_may_stay_empty(folder):
    (folder / "empty.conf").write_text("")
    found = reloader(folder)
    queueing.write(folder, OTHER)
    assert found.poll() is None
    assert found.poll().bundle


def test_with_a_manifest_a_watched_bundle_may_lose_files(folder):
    found = reloader(folder)
    (folder / "queues.yaml").unlink()
    digest = hashlib.sha256((folder / "pool.yaml").read_bytes()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  pool.yaml\n")
    assert found.poll() is None
    assert found.poll().bundle


def test_a_file_that_becomes_readable_is_a_change(folder):
    """Its mode is the only thing that changes."""
    found = reloader(folder)
    (folder / "pool.yaml").chmod(0o600)
    checked = []
    found.examine = lambda: checked.append(examine_bundle(folder)) or checked[-1]
    assert [found.poll() for _ in range(3)] == [None] * 3
    assert len(checked) == 1


def test_a_replaced_file_of_the_same_size_and_time_is_a_change(folder):
    found = reloader(folder)
    before = (folder / "queues.yaml").stat()
    beside = folder / ".new"
    beside.write_text(QUEUES.replace("one", "uno"))
    os.utime(beside, ns=(before.st_atime_ns, before.st_mtime_ns))
    beside.replace(folder / "queues.yaml")
    assert (folder / "queues.yaml").stat().st_size == before.st_size
    assert found.poll() is None
    assert found.poll().bundle


def changing(folder):
    """Read the bundle while somebody writes to it, until the queue is called fourth."""

    def examine():
        found = examine_bundle(folder)
        if "three" in (folder / "queues.yaml").read_text():
            queueing.write(folder, OTHER.replace("three", "fourth"))
        return found

    return examine


def test_a_bundle_that_changes_while_it_is_read_is_read_again_once_it_is_stable(folder):
    found = reloader(folder, examine=changing(folder))
    queueing.write(folder, OTHER)
    assert [found.poll() for _ in range(3)] == [None] * 3
    assert found.poll().bundle.partition.root.children[1].path == "root.fourth"


def test_a_request_during_a_change_is_rejected(folder):
    """What was read may be a mixture of the old and the new files."""
    found = reloader(folder, watch=False, examine=changing(folder))
    queueing.write(folder, OTHER)
    found.request("signal")
    reload = found.poll()
    assert (reload.bundle, [error.message for error in reload.errors]) == (
        None,
        ["the files of the bundle changed while they were read"],
    )
    found.request("signal")
    assert found.poll().bundle.partition.root.children[1].path == "root.fourth"


def test_a_missing_or_unreadable_folder_is_an_error_and_no_crash(folder, tmp_path):
    found = reloader(folder)
    folder.rename(tmp_path / "away")
    assert found.poll() is None
    reload = found.poll()
    assert (reload.bundle, bool(reload.errors)) == (None, True)
    assert found.poll() is None
    (tmp_path / "away").rename(folder)
    assert found.poll() is None
    assert found.poll().bundle


def test_a_broken_bundle_is_reported_once_and_the_repaired_one_replaces_it(folder):
    found = reloader(folder)
    queueing.write(folder, BROKEN)
    assert found.poll() is None
    reload = found.poll()
    assert reload.bundle is None
    assert all(problem.source.file == "queues.yaml" for problem in reload.errors)
    assert [found.poll() for _ in range(3)] == [None] * 3
    queueing.write(folder)
    assert found.poll() is None
    assert found.poll().bundle


def test_the_next_cycle_uses_the_new_bundle_and_records_its_digest(world):
    world.jobs = [app(1)]
    world.cycle()
    before = world.run.bundle.digest
    queueing.write(world.folder / "bundle", OTHER)
    reload = between(world)
    world.cycle()
    assert [record["bundle"] for record in world.records("cycle")] == [before, reload.digest]
    (record,) = world.records("reload")
    assert (record["trigger"], record["accepted"], record["bundle"]) == ("signal", True, before)
    assert (record["new_bundle"], record["problems"]) == (reload.digest, [])
    assert [(each["queue"], each["change"]) for each in world.records("queue_change")] == [
        ("root.three", "created"),
        ("root.two", "draining"),
        ("root.two", "removed"),  # it is empty
    ]
    assert verify(world.folder / "audit").fault is None


def test_a_broken_bundle_leaves_the_active_one_in_place_and_is_recorded_with_every_problem(world):
    world.jobs = [app(1, queue="root.two")]
    world.cycle()
    active = world.run.bundle
    queueing.write(world.folder / "bundle", BROKEN, "scheduleracl: boss\nnonsense: 1\n")
    assert between(world).bundle is None
    assert world.run.bundle is active
    world.jobs.append(app(2, queue="root.two"))
    world.cycle()
    assert set(world.where().values()) == {"root.two"}
    assert {record["bundle"] for record in world.records("cycle")} == {active.digest}
    (record,) = world.records("reload")
    assert (record["accepted"], record["bundle"]) == (False, active.digest)
    warning = " ".join(record["problems"])
    assert "queues.yaml:" in warning
    assert "pool.yaml:2:1" in warning


@pytest.mark.parametrize(
    ("queue", "old", "new", "warning"),
    [
        (
            "root.above.made",
            "above, parent: true",
            "above",
            "root.above was a parent queue and becomes a leaf, with 1 application below it",
        ),
        (
            "root.two",
            'two, adminacl: "deputy"',
            "two, parent: true",
            "root.two was a leaf and becomes a parent queue, with 1 application in it",
        ),
    ],
)
def test_turning_a_queue_in_use_into_another_kind_is_a_warning(world, queue, old, new, warning):
    for jobs, warnings in (([], []), ([app(1, queue=queue)], [warning])):
        queueing.write(world.folder / "bundle")
        between(world)
        world.jobs = jobs
        world.cycle()
        queueing.write(world.folder / "bundle", QUEUES.replace(old, new))
        reload = between(world)
        found = [each for each in reload.problems if "becomes" in each.message]
        assert [each.message for each in found] == warnings
        assert all(each.source.file == "queues.yaml" for each in found)
        assert [warning in each for each in world.records("reload")[-1]["problems"]] == [True] * len(warnings)


def test_one_error_rejects_the_whole_bundle(world):
    """Nothing is applied in part: valid queues beside an invalid knob change nothing."""
    queueing.write(world.folder / "bundle", OTHER, "nonsense: 1\n")
    between(world)
    assert world.run.state_manager.queues.get("root.three") is None


def test_at_most_50_problems_are_recorded_and_the_others_counted(world):
    queueing.write(world.folder / "bundle", OTHER, "".join(f"nonsense{n}: 1\n" for n in range(80)))
    between(world)
    (record,) = world.records("reload")
    assert (len(record["problems"]), record["problems_left_out"]) == (50, 30)


def test_plugins_and_knobs_change_with_the_queues(tmp_path):
    folder = tmp_path / "bundle"
    chosen = queueing.bundle(folder, plugins={"mine": FILTER.format(sign="<")})
    world = World(tmp_path, chosen)
    world.slots, world.jobs = [slot(n) for n in range(4)], [app(1)]
    world.reloader = reloader(folder)
    with world:
        assert len(world.cycle().matches) == 1
        world.jobs = [app(2)]
        (folder / "plugins" / "mine.py").write_text(FILTER.format(sign=">"))
        assert world.run.between_cycles()[0] == ()
        assert world.run.between_cycles()[0][0].bundle
        assert len(world.cycle().matches) == 0
        (folder / "pool.yaml").write_text("audit: {denials: none}\n")
        between(world)
        assert len(world.cycle().matches) == 1
    assert [record["matches"] for record in world.records("cycle")] == [1, 0, 1]


def test_a_change_by_command_is_loaded_at_once_and_both_are_recorded(world):
    queueing.write(world.folder / "bundle", OTHER)
    assert world.ask(AdminAction.CHANGE, note="queues.yaml was written").ok
    act, reload = world.records("admin", "reload")
    assert (act["action"], act["note"]) == ("change", "queues.yaml was written")
    assert reload["trigger"] == f"command by {queueing.ME}"
    assert world.run.bundle.digest == reload["new_bundle"]


def test_a_request_for_a_reload_is_answered_with_its_outcome(world):
    """With the digest of the new bundle, or with the errors of the rejected one; the active one stays."""
    active = world.run.bundle
    queueing.write(world.folder / "bundle", BROKEN)
    for action, subject in ((AdminAction.RELOAD, "the bundle"), (AdminAction.CHANGE, "the changed bundle")):
        answer = world.ask(action)
        first, error, *_ = answer.text.splitlines()
        assert (answer.ok, first) == (False, f"{subject} was rejected, the active one stays:")
        assert error.startswith("  queues.yaml:")
        assert ": error: " in error
    assert world.run.bundle is active
    queueing.write(world.folder / "bundle", OTHER)
    answer = world.ask(AdminAction.RELOAD)
    assert answer.ok
    assert answer.text == f"the bundle was reloaded (digest {world.run.bundle.digest})"


def test_a_request_is_not_answered_before_its_reload_is_recorded(world):
    """After a log that cannot be written it waits, and is repeated."""
    world.cycle()
    queueing.write(world.folder / "bundle", OTHER)
    folder = world.folder / "audit" / "bundles"
    folder.rename(folder.with_name("moved"))
    folder.write_text("in the way")
    with pytest.raises(AuditError):
        world.ask(AdminAction.RELOAD)
    assert [request.action for request in world.store.waiting()] == [AdminAction.RELOAD]


def test_a_denied_request_causes_no_reload(world):
    queueing.write(world.folder / "bundle", OTHER)
    assert not world.ask(AdminAction.RELOAD, by="deputy").ok
    assert world.records("reload") == []


def test_an_accepted_bundle_is_stored_before_its_reload_is_recorded(world):
    """Without a cycle; a rejected bundle is not stored."""
    before = world.run.bundle.digest
    queueing.write(world.folder / "bundle", OTHER)
    reload = between(world)
    queueing.write(world.folder / "bundle", BROKEN)
    rejected = between(world)
    copies = {file.stem for file in (world.folder / "audit" / "bundles").iterdir()}
    assert (copies, rejected.bundle) == ({before, reload.digest}, None)
    found = verify(world.folder / "audit")
    assert (found.fault, found.warnings, found.bundles) == (None, (), 2)


def test_a_bundle_that_cannot_be_stored_does_not_become_active(world):
    """Nothing is recorded either."""
    active = world.run.bundle
    world.cycle()
    queueing.write(world.folder / "bundle", OTHER)
    folder = world.folder / "audit" / "bundles"
    folder.rename(folder.with_name("moved"))
    folder.write_text("in the way")
    world.reloader.request("signal")
    with pytest.raises(AuditError, match="store the policy bundle"):
        world.run.between_cycles()
    assert world.run.bundle is active
    assert world.records("reload") == []


def test_a_reload_that_cannot_be_recorded_does_not_happen(world):
    active = world.run.bundle
    queueing.write(world.folder / "bundle", OTHER)
    world.log.close()
    world.reloader.request("signal")
    with pytest.raises(Exception, match=r"audit|closed"):
        world.run.between_cycles()
    assert world.run.bundle is active


@pytest.mark.parametrize("action", [AdminAction.RELOAD, AdminAction.CHANGE_QUEUES])
def test_a_request_to_a_running_negotiator_is_recorded_before_the_reload_that_answers_it(world, action):
    """Its record says that the reload follows, not that no negotiator runs."""
    answer = world.ask(action)
    (admin,), (reload,) = world.records("admin"), world.records("reload")
    assert admin["text"].endswith("is reloaded now: the next reload record has the outcome")
    assert (reload["seq"], reload["accepted"]) == (admin["seq"] + 1, True)
    assert f"was reloaded (digest {reload['new_bundle']})" in answer.text
