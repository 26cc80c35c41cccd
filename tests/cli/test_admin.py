"""``negotiator admin`` if no negotiator is running: the command carries out the request itself."""

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
OTHER_USER = 65534
BECOMING = """
import fcntl, grp, importlib, os, pkgutil, pwd, sys  # those of the system too
import negotiator
from negotiator.cli import main

for module in pkgutil.walk_packages(negotiator.__path__, "negotiator."):
    importlib.import_module(module.name)  # the other user may not be able to read it

uid = int(sys.argv.pop(1))
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
main()
"""
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")


@pytest.fixture
def site(tmp_path):
    """Return a folder with a state with an application in root.one, its bundle and its audit log."""
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


def test_a_refused_request_is_printed_to_standard_error_and_recorded(site):
    done = admin(site, "hold", "7")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("unknown application 7: ")
    assert acts(site) == [("hold", ME, False)]


def test_earlier_requests_are_carried_out_first(site):
    admin(site, "hold", "1", "--wait", "0", more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    with StateStore.open(site / "state") as store:
        store.request(queueing.AdminRequest(0, NOW, "head", (), "hold", "1", note="by head"))
    assert admin(site, "move", "1", "root.two").returncode == 0
    assert state(site) == ({"node1#1": "root.two"}, {"node1#1": "by head"}, 0)
    assert acts(site) == [("hold", "head", True), ("move", ME, True)]


def test_a_request_that_cannot_be_recorded_is_never_carried_out(site):
    done = admin(site, "hold", "1", more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    assert done.returncode == 3
    assert "nothing was done" in done.stderr
    assert state(site) == ({"node1#1": "root.one"}, {}, 0)


def test_with_a_broken_bundle_a_request_is_never_carried_out(site):
    (site / "bundle" / "pool.yaml").write_text("nonsense: 1\n")
    done = admin(site, "hold", "1")
    assert done.returncode == 1
    assert "pool.yaml:1:1" in done.stderr
    assert "nothing was done" in done.stderr
    assert state(site) == ({"node1#1": "root.one"}, {}, 0)


def test_an_unusable_state_is_reported(site):
    (site / "file").write_text("")
    done = admin(site, "hold", "1", more=("--state", "file", "--audit-log", "audit"))
    assert done.returncode == 6
    assert done.stderr == "error: file: cannot open the state: not a folder\n"


@pytest.mark.parametrize("words", [("hold", "1"), ("release", "1"), ("move", "1", "root.two"), ("reload",)])
def test_without_a_state_the_command_fails_and_creates_nothing(site, words):
    """The folder is most likely wrong."""
    done = admin(site, *words, more=("--state", "elsewhere", "--audit-log", "other"))
    assert (done.returncode, done.stderr) == (
        6,
        "error: elsewhere: no state of a negotiator in this folder\n",
    )
    assert not (site / "elsewhere").exists()
    assert not (site / "other").exists()


@pytest.mark.parametrize("words", [("hold", "1", "--note", "x" * 501), ("release", "1" * 501)])
def test_texts_too_long_for_the_audit_log_are_refused(site, words):
    done = admin(site, *words)
    assert (done.returncode, "501 characters: at most 500 are allowed" in done.stderr) == (2, True)
    assert acts(site) == []


def test_the_owner_of_the_state_may_correct_a_broken_bundle(site):
    """The broken bundle grants no access; the bundle with the change does."""
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    done = admin(site, "change", "queues.yaml", "-", stdin=OTHER)
    assert (done.returncode, done.stderr) == (0, "")
    assert (site / "bundle" / "queues.yaml").read_text() == OTHER
    assert acts(site) == [("change_queues", ME, True)]


def test_a_broken_bundle_is_not_replaced_by_another_broken_one(site):
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    done = admin(site, "change", "queues.yaml", "-", stdin="other: 1\n")
    assert done.returncode == 1
    assert "queues.yaml:1:1" in done.stderr
    assert "nothing was changed" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == "nonsense: 1\n"


def test_a_broken_bundle_is_not_replaced_by_one_that_denies_the_caller(site):
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


def test_without_an_answer_in_time_the_request_stays_pending(site):
    with StateStore.open(site / "state") as running:
        assert running.hold_lock()
        done = admin(site, "hold", "1", "--wait", "0")
        assert (done.returncode, done.stdout) == (75, ""), done.stderr
        assert "is carried out before the next cycle" in done.stderr
        assert len(running.waiting()) == 1


def test_a_file_of_the_bundle_is_changed_and_the_old_one_saved(site):
    (site / "new.yaml").write_text(OTHER)
    done = admin(site, "change", "queues.yaml", "new.yaml", "--note", "as agreed")
    assert (done.returncode, done.stderr) == (0, "")
    (backup,) = (site / "bundle").glob("*~")
    assert (backup.read_text(), (site / "bundle" / "queues.yaml").read_text()) == (QUEUES, OTHER)
    (act,) = records(site / "audit", "admin")
    assert (act["action"], act["user"], act["ok"]) == ("change_queues", ME, True)
    assert f"saved as {backup.name}" in act["note"]
    assert "(as agreed)" in act["note"]


def test_the_new_contents_may_come_on_standard_input(site):
    assert admin(site, "change", "queues.yaml", "-", stdin=OTHER).returncode == 0
    assert (site / "bundle" / "queues.yaml").read_text() == OTHER


def test_invalid_contents_are_refused_with_their_places(site):
    broken = "partitions:\n  - name: default\n    queues: [{name: root, nonsense: 1}]\n    more: 7\n"
    done = admin(site, "change", "queues.yaml", "-", stdin=broken)
    assert done.returncode == 1
    assert re.search(r"queues\.yaml:3:\d+: error", done.stderr)
    assert re.search(r"queues\.yaml:4:\d+: error", done.stderr)
    assert "nothing was changed" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == QUEUES
    assert sorted(path.name for path in (site / "bundle").glob("[!.]*")) == ["pool.yaml", "queues.yaml"]


def test_a_change_that_cannot_be_recorded_now_is_recorded_later(site):
    """The file is written, and the answer says so."""
    words = ("change", "queues.yaml", "-")
    done = admin(site, *words, stdin=OTHER, more=("--state", "state", "--audit-log", "bundle/pool.yaml"))
    assert done.returncode == 3
    assert "queues.yaml was written, the old one is saved as queues.yaml." in done.stdout
    assert "the change will be recorded as soon as that is possible" in done.stderr
    assert admin(site, "hold", "1").returncode == 0
    assert acts(site) == [("change_queues", ME, True), ("hold", ME, True)]


@pytest.mark.parametrize(
    "name",
    ["", "a/b.conf", "../queues.yaml", ".hidden", "queues.yaml~", ".", "queue.yaml", "new.txt", "a\x1b.conf"],
)
def test_an_invalid_file_name_is_a_wrong_command_line(site, name):
    done = admin(site, "change", name, "-", stdin="")
    assert done.returncode == 2
    assert "invalid file name" in done.stderr


def test_an_existing_file_that_is_not_settings_can_be_changed(site):
    (site / "bundle" / "groups.txt").write_text("old")
    assert admin(site, "change", "groups.txt", "-", stdin="new").returncode == 0
    assert (site / "bundle" / "groups.txt").read_text() == "new"


@ROOT_ONLY
@pytest.mark.parametrize("with_state", [True, False])
def test_others_may_not_correct_a_broken_bundle(site, with_state):
    """Nor, without a state, a user who does not own the bundle."""
    (site / "bundle" / "queues.yaml").write_text("nonsense: 1\n")
    if not with_state:
        shutil.rmtree(site / "state")
    owned = site / ("state/state.sqlite" if with_state else "bundle")
    shutil.chown(owned, OTHER_USER)
    done = admin(site, "change", "queues.yaml", "-", stdin=OTHER)
    assert done.returncode == 1
    assert "only the user that runs the negotiator may change it" in done.stderr
    assert (site / "bundle" / "queues.yaml").read_text() == "nonsense: 1\n"


def test_the_built_in_bundle_cannot_be_changed(site):
    done = subprocess.run(
        [sys.executable, "-m", "negotiator", "admin", "change", "queues.yaml", "-"],
        cwd=site,
        input="",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "--bundle FOLDER" in done.stderr) == (2, True)


def test_invalid_utf8_in_a_note_or_name_does_not_crash(site):
    done = admin(site, "hold", b"1\xff".decode("utf-8", "surrogateescape"))
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    done = admin(site, "hold", "1", "--note", b"\xff\x1b".decode("utf-8", "surrogateescape"))
    assert (done.returncode, done.stderr) == (0, "")
    assert verify(site / "audit").fault is None


@pytest.mark.parametrize("command", ["", "move", "hold", "release", "kill", "reload", "change"])
def test_each_command_has_help(site, command):
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
    """Return a site that other users can access."""
    for path in (site, *site.parents):
        path.chmod(path.stat().st_mode | 0o011)
        if path.name.startswith("pytest-of-"):
            break
    return site


def as_another_user(site, *words):
    """Run the command as another user, after all imports: that user may not be able to read the program."""
    more = ("--bundle", "bundle", "--audit-log", "audit", "--state", "state")
    return subprocess.run(
        [sys.executable, "-c", BECOMING, str(OTHER_USER), "admin", *words, *more],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


@ROOT_ONLY
def test_other_users_cannot_open_the_state(open_site):
    done = as_another_user(open_site, "hold", "1")
    assert done.returncode == 6
    assert "cannot open the state: Permission denied" in done.stderr
    assert state(open_site) == ({"node1#1": "root.one"}, {}, 0)


@ROOT_ONLY
def test_only_the_owner_of_the_state_carries_out_requests(open_site):
    """The request of another user waits for a running negotiator."""
    for path in (open_site / "state", *(open_site / "state").iterdir()):
        shutil.chown(path, group=OTHER_USER)
        path.chmod(0o770 if path.is_dir() else 0o660)
    done = as_another_user(open_site, "hold", "1", "--wait", "0")
    assert (done.returncode, done.stdout) == (75, ""), done.stderr
    assert state(open_site) == ({"node1#1": "root.one"}, {}, 1)
    assert admin(open_site, "move", "1", "root.two").returncode == 0
    ((act, by, ok), own) = acts(open_site)
    assert (act, ok, own) == ("hold", False, ("move", ME, True))
    assert by != ME
    assert state(open_site) == ({"node1#1": "root.two"}, {}, 0)
