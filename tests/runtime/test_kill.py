"""Killing an application: by its owner and its queue's administrators, with the command that the bundle names."""

import json
import stat

import pytest

from negotiator.bundle import check_bundle
from negotiator.runtime.state import AdminAction
from queueing import ME, World, app, bundle, write

KILL = AdminAction.KILL


@pytest.fixture
def program(tmp_path):
    """Return a function that writes a program; what it was called with is in ``calls``."""

    def write_program(then=""):
        path = tmp_path / "remove"
        path.write_text(f'#!/bin/sh\n{{ echo "$@"; cat; env; }} >> {tmp_path}/calls\n{then}\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write_program


def world_of(tmp_path, settings):
    world = World(tmp_path, bundle(tmp_path / "b", pool=f"scheduleracl: boss\n{settings}"))
    world.jobs = [
        app(1),
        app(2, user="ann", queue="root.two"),
        app(3, user="ann"),
        app(3, user="bob", queue="root.two"),
    ]
    world.jobs += [app(4, schedd="no de")]
    return world


@pytest.mark.parametrize(
    ("by", "name", "rule"),
    [
        ("tester", "1", "owner"),
        ("head", "1", "adminacl of root.one"),
        (ME, "1", "process owner"),
        ("ann", "1", ""),
        ("boss", "1", ""),
        ("", "1", ""),
        ("ann", "2", "owner"),
        ("ann", "3", ""),
        ("deputy", "3", ""),
        (ME, "3", "process owner"),
    ],
)
def test_the_owner_and_administrators_of_the_queue_may_kill(tmp_path, program, by, name, rule):
    """All users of the cluster must agree, or an administrator of all of its queues. Both steps are recorded."""
    path = program()
    with world_of(tmp_path, f"kill: {{command: [{path}, -name, '{{schedd}}', '{{cluster}}']}}\n") as world:
        world.cycle()
        answer = world.ask(KILL, name, by=by, note="full disk")
        records = [(each["action"], each["ok"], each["rule"]) for each in world.records("admin")]
    assert answer.ok is bool(rule)
    if not rule:
        assert answer.text.startswith("denied: no adminacl of root.")
        assert not (tmp_path / "calls").exists()
        return
    assert answer.text == f"node1#{name} is killed"
    assert records == [("kill", True, rule)] * 2
    arguments, *rest = (tmp_path / "calls").read_text().splitlines()
    assert arguments == f"-name node1 {name}"
    given = json.loads(rest[0].partition("}")[0] + "}")
    assert (given["application"], given["requested_by"], given["note"]) == (f"node1#{name}", by, "full disk")


def test_the_command_gets_no_variables_of_the_negotiator(tmp_path, program, monkeypatch):
    """They may name its key."""
    monkeypatch.setenv("NEGOTIATOR_KEY_FILE", "/secret")
    with world_of(tmp_path, f"kill: {{command: [{program()}]}}\n") as world:
        world.cycle()
        assert world.ask(KILL, "1").ok
    called = (tmp_path / "calls").read_text()
    assert "PATH=" in called
    assert "NEGOTIATOR" not in called


def test_in_shadow_mode_nothing_is_killed(tmp_path, program):
    """Another negotiator serves the pool, in which nothing may change."""
    with world_of(tmp_path, f"kill: {{command: [{program()}]}}\n") as world:
        world.cycle()
        world.run.pool.is_shadow = True
        answer = world.ask(KILL, "1")
    assert (answer.ok, "in shadow mode" in answer.text) == (False, True)
    assert not (tmp_path / "calls").exists()


def test_without_a_command_a_pool_cannot_kill(tmp_path):
    """For example a pool of files."""
    with world_of(tmp_path, "") as world:
        world.cycle()
        answer = world.ask(KILL, "1")
        assert not answer.ok
        assert "no command is configured (kill: command: in pool.yaml)" in answer.text
        assert [each["ok"] for each in world.records("admin")] == [False]


@pytest.mark.parametrize(
    ("then", "text"),
    [
        ("exit 3", "it ended with status 3"),
        ("sleep 60", "it was ended after 0.5 s"),
        (None, "could not be started"),
    ],
)
def test_a_command_that_fails_is_reported(tmp_path, program, then, text):
    """Also one that does not end: its deadline ends it, and what it started."""
    path = program(then) if then else tmp_path / "missing"
    with world_of(tmp_path, f"kill: {{command: [{path}], seconds: 0.5}}\n") as world:
        world.cycle()
        answer = world.ask(KILL, "1")
        assert (answer.ok, text in answer.text) == (False, True)
        assert [each["ok"] for each in world.records("admin")] == [True, False]


def test_a_schedd_with_an_unusual_name_is_never_an_argument(tmp_path, program):
    """Names come from ads: it could be an option, or part of an expression."""
    with world_of(tmp_path, f"kill: {{command: [{program()}, '-name={{schedd}}']}}\n") as world:
        world.cycle()
        assert "missing or unusual" in world.ask(KILL, "4").text
        assert world.ask(KILL, "1").ok
    assert (tmp_path / "calls").read_text().startswith("-name=node1\n")


@pytest.mark.parametrize(
    "settings",
    [
        "kill: {command: [condor_rm]}",
        "kill: {seconds: 0}",
        "kill: {seconds: 601}",
        "notify: {command: [mail]}",
        "notify: {address: 'a@b.org\\n Bcc: c@d.org'}",
        "notify: {address: ops}",
        "notify: {domain: '@x'}",
        "notify: {sendmail: [sendmail]}",
    ],
)
def test_unsafe_settings_are_refused(tmp_path, settings):
    (problem,) = check_bundle(write(tmp_path / "b", pool=f"{settings}\n"))
    assert problem.severity == "error"
    assert problem.source.line == 1
