"""``negotiator admin``, as it is called, where no negotiator is running: the command does it itself."""

import os
import re
import shutil
import subprocess
import sys

import pytest

import queueing
from negotiator.audit.verify import verify
from negotiator.runtime.state import StateStore
from queueing import ME, NOW, QUEUES, World, app, records

OTHER = QUEUES.replace("name: two", "name: three")
SOMEBODY = 65534
BECOMING = """
import os, sys
from negotiator.cli import main

somebody = int(sys.argv.pop(1))
os.setgroups([])
os.setgid(somebody)
os.setuid(somebody)
main()
"""
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


@pytest.fixture
def site(tmp_path):
    """A state with an application in root.one; its bundle, and its audit log."""
    world = World(tmp_path)
    world.jobs = [app(1)]
    with world:
        world.cycle()
    return tmp_path


def admin(site, *words, stdin=None, more=("--audit-log", "audit", "--state", "state"), **options):
    command = [sys.executable, "-m", "negotiator", "admin", *map(str, words), "--bundle", "bundle", *more]
    return subprocess.run(
        command, cwd=site, input=stdin, capture_output=True, text=True, check=False, **options
    )


def acts(site):
    return [(each["action"], each["user"], each["ok"]) for each in records(site / "audit", "admin")]


def state(site):
    with StateStore.open(site / "state") as store:
        found = store.load(NOW)
        queues = {str(each.id): each.queue for each in found.applications}
        return queues, {str(each): hold.note for each, hold in found.held.items()}, len(store.waiting())


def test_an_application_is_moved_held_and_released(site):
    done = [
        admin(site, "move", "1", "root.two"),
        admin(site, "hold", "NODE1#1", "--note", "full disk"),
        admin(site, "release", "node1#1"),
    ]
    assert [(each.returncode, each.stdout, each.stderr) for each in done] == [
        (0, "node1#1 was moved from root.one to root.two\n", ""),
        (0, "node1#1 is held: it is not matched\n", ""),
        (0, "node1#1 is released\n", ""),
    ]
    assert state(site) == ({"node1#1": "root.two"}, {}, 0)
    assert acts(site) == [(act, ME, True) for act in ("move", "hold", "release")]
    assert records(site / "audit", "admin")[1]["note"] == "full disk"
    assert verify(site / "audit").fault is None


def test_what_is_not_done_is_told_on_standard_error_and_recorded(site):
    done = admin(site, "hold", "7")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("unknown application 7: ")
    assert acts(site) == [("hold", ME, False)]


def test_what_somebody_asked_for_before_is_done_too_in_its_order(site):
    admin(site, "hold", "1", "--wait", "0", more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    with StateStore.open(site / "state") as store:
        store.request(queueing.AdminRequest(0, NOW, "head", (), "hold", "1", note="by head"))
    assert admin(site, "move", "1", "root.two").returncode == 0
    assert state(site) == ({"node1#1": "root.two"}, {"node1#1": "by head"}, 0)
    assert acts(site) == [("hold", "head", True), ("move", ME, True)]


def test_where_it_can_not_be_recorded_nothing_is_done_now_or_later(site):
    done = admin(site, "hold", "1", more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    assert done.returncode == 3
    assert "nothing was done" in done.stderr
    assert state(site) == ({"node1#1": "root.one"}, {}, 0)


def test_with_a_broken_bundle_nothing_is_done_now_or_later(site):
    (site / "bundle" / "pool.yaml").write_text("nonsense: 1\n")
    done = admin(site, "hold", "1")
    assert done.returncode == 1
    assert "pool.yaml:1:1" in done.stderr
    assert "nothing was done" in done.stderr
    assert state(site) == ({"node1#1": "root.one"}, {}, 0)


def test_a_state_that_can_not_be_used_is_told(site):
    (site / "file").write_text("")
    done = admin(site, "hold", "1", more=("--state", "file", "--audit-log", "audit"))
    assert done.returncode == 6
    assert done.stderr == "error: file: cannot open the state: not a folder\n"


@pytest.mark.parametrize("words", [("hold", "1"), ("release", "1"), ("move", "1", "root.two"), ("reload",)])
def test_where_no_negotiator_ran_there_is_nothing_to_act_on_and_nothing_is_made(site, words):
    """It is a wrong folder, most likely."""
    done = admin(site, *words, more=("--state", "elsewhere", "--audit-log", "other"))
    assert (done.returncode, done.stderr) == (
        6,
        "error: elsewhere: no state of a negotiator in this folder\n",
    )
    assert not (site / "elsewhere").exists()
    assert not (site / "other").exists()


@pytest.mark.parametrize("words", [("hold", "1", "--note", "x" * 501), ("release", "1" * 501)])
def test_texts_that_the_audit_log_would_cut_off_are_a_wrong_command_line(site, words):
    done = admin(site, *words)
    assert (done.returncode, "501 characters: at most 500 are allowed" in done.stderr) == (2, True)
    assert acts(site) == []


def test_a_broken_bundle_is_mended_by_who_owns_the_state(site):
    """It can't say itself who may; the bundle with the change can."""
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    done = admin(site, "change", "queues.yaml", "-", stdin=OTHER)
    assert (done.returncode, done.stderr) == (0, "")
    assert (site / "bundle" / "queues.yaml").read_text() == OTHER
    assert acts(site) == [("change", ME, True)]


def test_a_broken_bundle_is_not_mended_by_another_broken_one(site):
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    done = admin(site, "change", "queues.yaml", "-", stdin="other: 1\n")
    assert done.returncode == 1
    assert "queues.yaml:1:1" in done.stderr
    assert "nothing was changed" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == "nonsense: 1\n"


def test_a_broken_bundle_is_not_mended_with_one_that_forbids_it(site):
    forbids = """
from negotiator.plugin import Access, AccessDecision, hookimpl
@hookimpl
def negotiator_access(questions):
    return [Access(AccessDecision.FORBID, "closed", "nobody today") for _ in questions]
"""
    (site / "bundle" / "plugins").mkdir()
    (site / "bundle" / "plugins" / "closed.py").write_text(forbids)
    with (site / "bundle" / "pool.yaml").open("a") as pool:
        pool.write("plugins: {folders: [plugins]}\n")
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    done = admin(site, "change", "queues.yaml", "-", stdin=OTHER)
    assert (done.returncode, "denied: nobody today" in done.stderr) == (1, True)
    assert (site / "bundle" / "queues.yaml").read_text() == "nonsense: 1\n"


def test_a_negotiator_that_does_not_answer_will_do_it_later(site):
    with StateStore.open(site / "state") as running:
        assert running.hold_lock()
        done = admin(site, "hold", "1", "--wait", "0")
        assert (done.returncode, done.stdout) == (75, "")
        assert "it will do it before its next cycle" in done.stderr
        assert len(running.waiting()) == 1


def test_a_file_of_the_bundle_is_changed_and_the_old_one_kept(site):
    (site / "new.yaml").write_text(OTHER)
    done = admin(site, "change", "queues.yaml", "new.yaml", "--note", "as agreed")
    assert (done.returncode, done.stderr) == (0, "")
    (kept,) = (site / "bundle").glob("*~")
    assert (kept.read_text(), (site / "bundle" / "queues.yaml").read_text()) == (QUEUES, OTHER)
    (act,) = records(site / "audit", "admin")
    assert (act["action"], act["user"], act["ok"]) == ("change", ME, True)
    assert f"kept as {kept.name}" in act["note"]
    assert "(as agreed)" in act["note"]


def test_the_new_contents_may_come_on_standard_input(site):
    assert admin(site, "change", "queues.yaml", "-", stdin=OTHER).returncode == 0
    assert (site / "bundle" / "queues.yaml").read_text() == OTHER


def test_new_contents_with_errors_are_refused_with_their_place_and_nothing_is_written(site):
    broken = "partitions:\n  - name: default\n    queues: [{name: root, nonsense: 1}]\n    more: 7\n"
    done = admin(site, "change", "queues.yaml", "-", stdin=broken)
    assert done.returncode == 1
    assert re.search(r"queues\.yaml:3:\d+: error", done.stderr)
    assert re.search(r"queues\.yaml:4:\d+: error", done.stderr)
    assert "nothing was changed" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == QUEUES
    assert sorted(path.name for path in (site / "bundle").glob("[!.]*")) == ["pool.yaml", "queues.yaml"]


def test_a_file_that_was_written_is_told_and_recorded_later_where_it_can_not_be_now(site):
    """It is there: to say that nothing was done would be a lie."""
    words = ("change", "queues.yaml", "-")
    done = admin(site, *words, stdin=OTHER, more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    assert done.returncode == 3
    assert "queues.yaml was written, the old one is saved as queues.yaml." in done.stdout
    assert "the change will be recorded as soon as that is possible" in done.stderr
    assert admin(site, "hold", "1").returncode == 0
    assert acts(site) == [("change", ME, True), ("hold", ME, True)]


@pytest.mark.parametrize(
    "name",
    ["", "a/b.conf", "../queues.yaml", ".hidden", "queues.yaml~", ".", "queue.yaml", "new.txt", "a\x1b.conf"],
)
def test_what_is_no_name_of_a_file_of_a_bundle_is_a_wrong_command_line(site, name):
    done = admin(site, "change", name, "-", stdin="")
    assert done.returncode == 2
    assert "invalid file name" in done.stderr


def test_a_file_that_is_there_and_no_settings_can_be_changed(site):
    (site / "bundle" / "groups.txt").write_text("old")
    assert admin(site, "change", "groups.txt", "-", stdin="new").returncode == 0
    assert (site / "bundle" / "groups.txt").read_text() == "new"


@ROOT_ONLY
@pytest.mark.parametrize("with_state", [True, False])
def test_a_broken_bundle_is_not_mended_by_who_does_not_own_the_state(site, with_state):
    """Nor, where there is none, by who does not own the bundle."""
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    if not with_state:
        shutil.rmtree(site / "state")
    owned = site / ("state/state.sqlite" if with_state else "bundle")
    shutil.chown(owned, SOMEBODY)
    done = admin(site, "change", "queues.yaml", "-", stdin=OTHER)
    assert done.returncode == 1
    assert "only who runs the negotiator may change it" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == "nonsense: 1\n"


def test_the_built_in_bundle_can_not_be_changed(site):
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "admin", "change", "queues.yaml", "-"],
        cwd=site,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "--bundle FOLDER" in done.stderr) == (2, True)


def test_bytes_that_are_no_text_in_a_note_or_a_name_are_no_crash(site):
    done = admin(site, "hold", b"1\xff".decode("utf-8", "surrogateescape"))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    done = admin(site, "hold", "1", "--note", b"\xff\x1b".decode("utf-8", "surrogateescape"))
    assert (done.returncode, done.stderr) == (0, "")
    assert verify(site / "audit").fault is None


@pytest.mark.parametrize("command", ["", "move", "hold", "release", "reload", "change"])
def test_each_command_explains_itself(site, command):
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "admin", *command.split(), "--help"],
        cwd=site,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Usage: " in done.stdout


@pytest.fixture
def open_site(site):
    """A site that somebody else can get to."""
    for path in (site, *site.parents):
        path.chmod(path.stat().st_mode | 0o011)
        if path.name.startswith("pytest-of-"):
            break
    return site


def as_somebody(site, *words):
    """Become somebody else once all is imported: they need not be able to read the program."""
    more = ("--bundle", "bundle", "--audit-log", "audit", "--state", "state")
    return subprocess.run(
        [sys.executable, "-c", BECOMING, str(SOMEBODY), "admin", *words, *more],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


@ROOT_ONLY
def test_to_somebody_else_the_state_is_closed(open_site):
    done = as_somebody(open_site, "hold", "1")
    assert done.returncode == 6
    assert "cannot open the state: Permission denied" in done.stderr
    assert state(open_site) == ({"node1#1": "root.one"}, {}, 0)


@ROOT_ONLY
def test_somebody_who_may_ask_is_not_the_negotiator_of_a_state_that_is_not_theirs(open_site):
    """Where none runs they would be the owner of the process, who may do anything: it waits for one that runs."""
    for path in (open_site / "state", *(open_site / "state").iterdir()):
        shutil.chown(path, group=SOMEBODY)
        path.chmod(0o770 if path.is_dir() else 0o660)
    done = as_somebody(open_site, "hold", "1", "--wait", "0")
    assert (done.returncode, done.stdout) == (75, "")
    assert state(open_site) == ({"node1#1": "root.one"}, {}, 1)
    assert admin(open_site, "move", "1", "root.two").returncode == 0
    ((act, by, ok), own) = acts(open_site)
    assert (act, ok, own) == ("hold", False, ("move", ME, True))
    assert by != ME
    assert state(open_site) == ({"node1#1": "root.two"}, {}, 0)
