"""The command qconf, beyond the recorded transcripts: changes, audit records and refusals."""

import fcntl
import os
import re
import stat
from pathlib import Path

import pytest

from dying import killed_at_each_step
from gridengine_sessions import ENV, ONE, SCALAR, TWO, Session
from gridengine_site import write_site
from negotiator.app.context import ProgramContext
from negotiator.plugin import CommandTargets
from negotiator_quotasets.language import format_sets
from negotiator_quotasets.qconf import context, files
from queueing import records


def bundle(session):
    """The files of sets, and the copies of old ones."""
    return {path.name: path.read_text() for path in session.places.bundle.glob("*.rqs*")}


def admin_records(session):
    return [(each["user"], each["ok"], each["note"]) for each in records(session.places.audit_log, "admin")]


def names(session):
    return session.qconf(["-srqsl"]).stdout.split()


def test_a_change_is_recorded_with_its_caller_its_note_and_the_copy_of_the_old_file(session):
    session.write({"two.txt": TWO})
    assert session.qconf(["-Arqs", "two.txt"]).stdout == 'root@qm added "two" to resource quota set list\n'
    (copy,) = set(bundle(session)) - {"quotasets.rqs"}
    assert bundle(session) == {"quotasets.rqs": ONE + TWO, copy: ONE}
    ((by, ok, note),) = admin_records(session)
    assert (by, ok) == ("root", True)
    assert note.startswith(f"quotasets.rqs was written, the old one is saved as {copy}; digest ")
    assert note.endswith('(qconf -Arqs two.txt: added "two")')


@pytest.mark.parametrize(
    "words",
    [
        ["-Arqs", "two.txt"],
        ["-arqs", "two"],
        ["-Mrqs", "two.txt"],
        ["-mrqs", "one"],
        ["-mrqs"],
        ["-drqs", "one"],
        ["-drqs"],
        [*SCALAR, "false", "one"],
        ["-Mattr", "resource_quota", "on.txt", "one"],
        ["-dprj", "p1"],
        ["-dul", "staff"],
        ["-dhgrp", "@empty"],
        ["-dp", "mpi"],
        ["-Mc", "complexes.txt"],
    ],
)
def test_a_caller_who_is_not_a_manager_is_denied_before_anything_is_read_or_edited(session, words):
    """Each attempt is in the audit log."""
    before = {path.name: path.read_bytes() for path in session.places.bundle.iterdir()}
    answer = session.qconf(words, user="alice", editor=":")
    assert (answer.stdout, answer.rc, answer.saw) == ("", 1, None)
    assert answer.stderr == 'denied: "alice" must be manager for this operation\n'
    assert before == {path.name: path.read_bytes() for path in session.places.bundle.iterdir()}
    ((by, ok, note),) = admin_records(session)
    assert (by, ok) == ("alice", False)
    assert re.fullmatch(r"change of (quotasets\.rqs|gridengine\.yaml) denied: nothing was written", note)


def test_everybody_may_show_the_sets(session):
    assert session.qconf(["-srqs"], user="alice").stdout == ONE
    assert admin_records(session) == []


def test_all_sets_are_deleted_without_a_name(session):
    answer = session.qconf(["-drqs"])
    assert (answer.stderr, answer.rc) == ("root@qm removed resource quota set list\n", 0)
    assert session.sets == ""
    assert '(qconf -drqs: removed "one")' in admin_records(session)[0][2]


@pytest.mark.parametrize("empty", ["", ",", " "])
def test_an_empty_list_of_names_does_not_delete_all_sets(session, empty):
    """It comes from an empty variable of a script."""
    answer = session.qconf(["-drqs", empty])
    assert (answer.rc, answer.stderr) == (1, f'denied: resource quota set "{empty}" does not exist\n')
    assert session.sets == ONE


def test_a_change_without_effect_writes_nothing(session):
    """Comments of a file are kept until its sets change."""
    session.sets = commented = f"# for the students\n{ONE}"
    assert session.qconf([*SCALAR, "true", "one"]).rc == 0
    assert session.sets == commented
    assert admin_records(session) == []


def test_either_all_objects_are_changed_or_none(session):
    """The first is unchanged if the second is unknown."""
    answer = session.qconf(["-mattr", "resource_quota", "limit", "slots=5", "one/1", "one/2"])
    assert (answer.stdout, answer.stderr, answer.rc) == (
        "",
        "no resource quota rule specified for modification\n",
        1,
    )
    assert session.sets == ONE


def test_a_value_that_contains_another_attribute_is_refused(session):
    for value in ("true name other", "true\nname other"):
        answer = session.qconf([*SCALAR, value, "one"])
        assert (answer.stdout, answer.rc) == ("", 1)
    assert session.sets == ONE


def test_further_problems_of_a_file_are_reported_with_their_places(session):
    """The first is Grid Engine's message, which reports no others."""
    session.write({"bad.txt": "{\n name a\n limit to nosuch=1\n}\n{\n name b\n limit to slots=x\n}\n"})
    first, second = session.qconf(["-Arqs", "bad.txt"]).stderr.splitlines()
    assert first == '"resource_quota" references not existing complex attribute "nosuch"'
    assert re.match(r"bad\.txt:7:\d+: error: ", second)


def test_a_bundle_that_would_have_errors_elsewhere_is_not_written(session):
    """Two complexes with one shortcut: the message names the place."""
    session.write(
        {"c.txt": session.qconf(["-sc"]).stdout.replace("\nbigmem           bm ", "\nbigmem           cl ")}
    )
    before = (session.places.bundle / "gridengine.yaml").read_text()
    answer = session.qconf(["-Mc", "c.txt"])
    assert (answer.stdout, answer.rc) == ("", 1)
    assert 'are both called "cl"' in answer.stderr
    assert re.search(r"^gridengine\.yaml:\d+:\d+: error: ", answer.stderr, re.MULTILINE)
    assert (session.places.bundle / "gridengine.yaml").read_text() == before


def test_a_bundle_with_errors_is_refused(session):
    session.sets = "{\n   name one\n   limit to nosuch=1\n}\n"
    answer = session.qconf(["-drqs", "one"])
    assert answer.rc == 1
    assert "quotasets.rqs:3:13: error: " in answer.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\0" * 100, "each value in the attribute value list in line 1 should begin with"),
        (
            ONE.encode().replace(b"one", b"o\0ne"),
            'resource quota set name "o\N{REPLACEMENT CHARACTER}ne" is not valid',
        ),
        (b"{\n name \xff\n}\n", 'error reading file: "f.txt" is not UTF-8, see line 2'),
        (b"#" * (files.MAX_FILE + 1), f'error reading file: "f.txt" has more than {files.MAX_FILE} bytes'),
        (b"", "error reading in file"),
    ],
    ids=["zeros", "zero in a name", "not UTF-8", "huge", "empty"],
)
def test_hostile_files_are_refused(session, content, message):
    (session.cwd / "f.txt").write_bytes(content)
    answer = session.qconf(["-Arqs", "f.txt"])
    assert (answer.stdout, answer.rc) == ("", 1)
    assert answer.stderr.startswith(message)
    assert session.sets == ONE


def test_a_path_that_is_not_a_file_is_refused(session):
    """A folder, an endless device, or a pipe without a writer."""
    answer = session.qconf(["-Arqs", "."])
    assert answer.stderr == 'error opening file "." for reading: Is a directory\n'
    answer = session.qconf(["-Arqs", "/dev/zero"])
    assert answer.stderr == 'error opening file "/dev/zero" for reading: not a regular file\n'
    os.mkfifo(session.cwd / "pipe")
    answer = session.qconf(["-Arqs", "pipe"])
    assert answer.stderr == 'error opening file "pipe" for reading: not a regular file\n'


def test_a_link_is_read_like_the_file(session):
    session.write({"two.txt": TWO})
    (session.cwd / "link").symlink_to("two.txt")
    assert session.qconf(["-Arqs", "link"]).rc == 0


def test_changed_sets_stay_in_their_files(session):
    (session.places.bundle / "site.rqs").write_text(TWO)
    assert session.qconf([*SCALAR, "false", "two"]).rc == 0
    assert bundle(session)["quotasets.rqs"] == ONE
    assert "FALSE" in bundle(session)["site.rqs"]


def test_a_change_of_several_files_supersedes_them(session):
    (session.places.bundle / "a.rqs").write_text(TWO)
    (session.places.bundle / "b.rqs").write_text(ONE.replace("one", "three"))
    session.write({"new.txt": TWO})
    assert session.qconf(["-Mrqs", "new.txt"]).stderr == "root@qm modified resource quota set list\n"
    assert {name for name in bundle(session) if not name.endswith("~")} == {"quotasets.rqs"}
    assert session.sets == f"# in place of: a.rqs b.rqs\n{TWO}"
    assert names(session) == ["two"]
    assert {name.partition(".")[0] for name in bundle(session) if name.endswith("~")} == {
        "a",
        "b",
        "quotasets",
    }
    note = admin_records(session)[0][2]
    assert 'qconf -Mrqs new.txt: in place of "two", "three", "one": "two"' in note


def test_a_crash_leaves_the_old_sets_or_the_new_ones(tmp_path):
    """At each step: before the file is written, while superseded files are removed, and after."""
    new = TWO.replace("two", "new")

    def change(folder, note):
        session = Session(folder, lambda place: write_site(place, ENV, files={"a.rqs": ONE, "b.rqs": TWO}))
        session.write({"new.txt": new})
        note("ready")
        assert session.qconf(["-Mrqs", "new.txt"]).rc == 0

    points = [(os, "rename"), (os, "replace")]
    found = {}
    for folder in killed_at_each_step(tmp_path, points, change, most=60, after=True):
        if "ready" in (folder / "notes").read_text():
            places = CommandTargets(bundle=folder / "site" / "bundle")
            sets = ProgramContext().bundle(places).settings("quotasets").sets
            left = {path.name for path in places.bundle.glob("*.rqs")}
            found.setdefault(format_sets(sets), set()).add(frozenset(left))
    old, others = {"a.rqs", "b.rqs"}, {"b.rqs", "quotasets.rqs"}
    assert found == {
        ONE + TWO: {frozenset(old)},
        new: {frozenset(each) for each in (old | others, others, {"quotasets.rqs"})},
    }


def test_a_change_waits_for_another_one(session, monkeypatch):
    """Not for ever: it is refused after a while."""
    monkeypatch.setattr(context, "_PAUSE", 0)
    folder = os.open(session.places.bundle / ".qconf.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        answer = session.qconf(["-drqs", "one"])
        assert answer.stderr.endswith("is being changed by another qconf: try again later\n")
        assert session.sets == ONE
    finally:
        os.close(folder)
    assert session.qconf(["-drqs", "one"]).rc == 0


def test_the_edited_text_is_private_and_removed(session):
    """Whatever the outcome, together with the editor's copies."""
    note = session.private / "note"
    for ending in ("true", "exit 3", "rm $1"):
        script = f'stat -c %a,%n "$1" > {note}; touch "$1~"; {ending}'
        session.qconf(["-arqs", "two"], editor=script)
        mode, _, path = note.read_text().strip().partition(",")
        assert mode == "600"
        assert not Path(path).parent.exists()


@pytest.mark.parametrize(
    ("signal", "rc", "slots"), [("INT", 0, 9), ("QUIT", 0, 9), ("TERM", 143, 1), ("HUP", 129, 1)]
)
def test_signals_during_editing(session, signal, rc, slots):
    """Interrupts from the keyboard are left to the editor; a signal that ends the program removes the text."""
    note = session.private / "note"
    script = f'echo "$1" > {note}; kill -{signal} {os.getpid()}; /bin/sleep 0.3; sed -i s/=1/=9/ "$1"'
    assert session.qconf(["-mrqs", "one"], editor=script).rc == rc
    assert session.sets == ONE.replace("=1", f"={slots}")
    assert not Path(note.read_text().strip()).parent.exists()


def test_an_editor_that_leaves_no_file_changes_nothing(session):
    outside = session.private / "outside"
    outside.write_text(TWO)
    for script, why in (('rm "$1"', "no file"), (f'ln -sf {outside} "$1"', "no regular file")):
        answer = session.qconf(["-arqs", "two"], editor=script)
        assert (answer.stderr, answer.rc) == (f"error: the editor left {why}\nedit failed\n", 1)
    assert session.sets == ONE


def test_an_editor_may_be_a_command_with_options(session, monkeypatch):
    """Grid Engine runs it in the shell."""
    script = session.private / "sub"
    script.write_text('#!/bin/sh\nsed -i "s/$1/$2/" "$3"\n')
    script.chmod(stat.S_IRWXU)
    monkeypatch.setattr(session, "_script", lambda *_: f"{script} =1 =7")
    assert session.qconf(["-mrqs", "one"]).rc == 0
    assert session.sets == ONE.replace("=1", "=7")


def test_changes_of_other_sets_during_editing_are_kept(session):
    """The saved text is applied to the sets at that time."""
    other = session.places.bundle / "other.rqs"
    text = TWO.replace("\n", "\\n")
    answer = session.qconf(["-mrqs", "one"], editor=f"printf '{text}' > {other}; sed -i s/=1/=8/ \"$1\"")
    assert answer.rc == 0
    assert session.sets == ONE.replace("=1", "=8")
    assert names(session) == ["one", "two"]


@pytest.mark.parametrize("names_", [[], ["one"], ["*"]])
def test_a_concurrent_change_of_the_edited_sets_is_not_overwritten(session, names_):
    """The edited text lacks it, and is refused."""
    file = session.places.bundle / "quotasets.rqs"
    other = ONE.replace("=1", "=3").replace("\n", "\\n")
    answer = session.qconf(["-mrqs", *names_], editor=f"printf '{other}' > {file}; sed -i s/=1/=8/ \"$1\"")
    assert (answer.rc, answer.stdout) == (1, "")
    assert "somebody else has changed these sets" in answer.stderr
    assert session.sets == ONE.replace("=1", "=3")


def test_either_all_objects_are_deleted_or_none(session):
    answer = session.qconf(["-dprj", "p1,nosuch"])
    assert (answer.stderr, answer.rc) == ('denied: project "nosuch" does not exist\n', 1)
    answer = session.qconf(["-dprj", "p1,p2"])
    assert answer.stderr == 'root@qm removed "p1" from project list\nroot@qm removed "p2" from project list\n'
    assert session.engine.projects == ("proj_x", "qproj")
    assert '(qconf -dprj: removed "p1", "p2")' in admin_records(session)[-1][2]


def test_groups_that_are_deleted_together_may_refer_to_each_other(session):
    assert session.qconf(["-dhgrp", "@linux_hosts,@lx_hosts"]).stderr.startswith(
        'denied: these hostgroups still reference "@linux_hosts": @allhosts\n'
    )
    assert session.qconf(["-dhgrp", "@allhosts,@linux_hosts,@lx_hosts"]).rc == 0
    assert set(session.engine.hostgroups) == {"@sol_hosts", "@empty"}


def test_unchanged_entries_keep_their_spelling(session):
    """Quoted words that YAML would parse as other types stay quoted."""
    path = session.places.bundle / "gridengine.yaml"
    text = "projects: [p1, '010', \"yes\"]\nhosts:\n  lxa: {complex_values: {num_proc: 4, h_rt: '1:30:00', mem_total: 8G}}\n"
    path.write_text(text)
    assert session.qconf(["-dprj", "p1"]).rc == 0
    assert path.read_text() == text.replace("p1, ", "")


def test_printed_complexes_are_read_back_unchanged(session):
    """Nothing is written."""
    session.write({"c.txt": session.qconf(["-sc"]).stdout})
    answer = session.qconf(["-Mc", "c.txt"])
    assert (answer.stdout, answer.stderr, answer.rc) == ("", "", 0)
    assert admin_records(session) == []


def test_complexes_are_changed_from_a_file(session):
    """One added, one changed, one removed; keys without a column are kept."""
    path = session.places.bundle / "gridengine.yaml"
    path.write_text(path.read_text().replace("- name: site\n", "- name: site\n  value: MY.Site\n"))
    table = session.qconf(["-sc"]).stdout
    lines = [line for line in table.splitlines() if not line.startswith("excl ")]
    lines = [line.replace("YES", "FORCED") if line.startswith("site ") else line for line in lines]
    session.write({"c.txt": "\n".join([*lines, "fpga fp INT <= y y 0"])})
    answer = session.qconf(["-Mc", "c.txt"])
    assert answer.stderr.splitlines() == [
        'root@qm removed "excl" from complex entry list',
        'root@qm modified "site" in complex entry list',
        'root@qm added "fpga" to complex entry list',
    ]
    declared = {each.name: each for each in session.engine.complexes}
    assert "excl" not in declared
    assert (declared["site"].requestable, declared["site"].value.text) == ("FORCED", "MY.Site")
    assert (declared["fpga"].shortcut, declared["fpga"].consumable) == ("fp", "YES")


@pytest.mark.parametrize(
    ("drop", "why"),
    [
        ("slots", 'complex attribute "slots" belongs to every cluster and can\'t be deleted'),
        ("num_proc", 'Complex attribute "num_proc" is still referenced in host "durin".'),
        ("forcedlic", 'Complex attribute "forcedlic" is still referenced in resource quota set "one".'),
    ],
)
def test_complexes_that_are_referred_to_are_not_removed(session, drop, why):
    session.sets = ONE.replace("slots=1", "forcedlic=1")
    path = session.places.bundle / "gridengine.yaml"
    if drop == "slots":  # of the installation, where it is not declared
        path.write_text(re.sub(r"- name: slots\n(  .*\n)*", "", path.read_text(), count=1))
    table = session.qconf(["-sc"]).stdout
    rows = [line for line in table.splitlines() if not line.startswith(f"{drop} ")]
    session.write({"c.txt": "\n".join(rows)})
    answer = session.qconf(["-Mc", "c.txt"])
    assert (answer.stderr, answer.rc) == (f"denied: {why}\n", 1)


def test_invalid_lines_of_complexes_are_reported_by_number(session):
    session.write({"c.txt": "# name\na b INT <= YES NO 0\nc d INT << YES NO 0\ne f\na b INT <= YES NO 0\n"})
    assert session.qconf(["-Mc", "c.txt"]).stderr.splitlines() == [
        'c.txt:3: invalid value "<<": write one of <=, >=, ==, !=, <, >, EXCL',
        "c.txt:4: a line has the columns name shortcut type relop requestable consumable default urgency, this one has 2",
        'c.txt:5: complex attribute "a" appears more than once',
        'error reading file: "c.txt"',
    ]
