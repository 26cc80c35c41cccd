"""``negotiator access``, as its users call it."""

import json

import pytest

from commands import invoke
from negotiator.cli.commands.access import access

QUEUES = """\
partitions:
  - name: default
    placementrules: [{name: provided}]
    queues:
      - name: root
        adminacl: " ops"
        queues:
          - name: dev
            parent: true
            submitacl: "sue dev"
            queues:
              - name: web
          - name: production
            submitacl: "*"
            adminacl: "sue"
"""

FAILING = """
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_user_groups(users): raise OSError("the directory does not answer")
"""

FORBIDDING = """
from negotiator.plugin import Access, AccessDecision, hookimpl
@hookimpl
def negotiator_access(questions):
    return [Access(AccessDecision.FORBID, "lockdown", "nobody may do anything today") for _ in questions]
"""


@pytest.fixture
def bundle(tmp_path):
    """A bundle with access control lists on three levels."""
    folder = tmp_path / "bundle"
    folder.mkdir(mode=0o755)
    (folder / "pool.yaml").write_text('scheduleracl: "root admins"\ngroups:\n  map: groups.yaml\n')
    (folder / "groups.yaml").write_text("ann: [ops]\n")
    (folder / "queues.yaml").write_text(QUEUES)
    return folder


@pytest.fixture
def plugin(tmp_path):
    """Return a function that writes a plugin and returns its folder."""

    def write(text):
        folder = tmp_path / "plugins"
        folder.mkdir(mode=0o755)
        (folder / "mine.py").write_text(text)
        (folder / "mine.py").chmod(0o644)
        return folder

    return write


def run(*arguments):
    return invoke(access, [str(argument) for argument in arguments])


def test_all_queues_are_printed_with_the_deciding_list_and_its_source(bundle):
    """Lists of the parent queues apply too; the scheduler comes last."""
    result = run("--bundle", bundle, "--user", "sue", "--group", "dev")
    assert result.exit_code == 0
    head, _, title, headers, *rows = result.stdout.rstrip().splitlines()
    assert head == "For user sue, group dev (as given)"
    assert title == "Permissions"
    why, rule = headers.index("REASON"), headers.index("RULE")
    answers = [(*row[:why].split(), row[why:rule].strip(), row[rule:]) for row in rows]
    nobody = "no adminacl of {0}, or of a queue above it, has sue"
    dev, production = "submitacl of root.dev", "of root.production"
    assert answers == [
        ("root", "submit", "no", nobody.format("root").replace("no ", "no submitacl or ", 1), "access: acl"),
        ("root", "administer", "no", nobody.format("root"), "access: acl"),
        ("root.dev", "submit", "yes", f"{dev} has user sue", f"access: {dev} (queues.yaml:8:13)"),
        ("root.dev", "administer", "no", nobody.format("root.dev"), "access: acl"),
        ("root.dev.web", "submit", "yes", f"{dev} has user sue", f"access: {dev} (queues.yaml:8:13)"),
        ("root.dev.web", "administer", "no", nobody.format("root.dev.web"), "access: acl"),
        (
            "root.production",
            "submit",
            "yes",
            f"submitacl {production} has everybody",
            f"access: submitacl {production} (queues.yaml:13:13)",
        ),
        (
            "root.production",
            "administer",
            "yes",
            f"adminacl {production} has user sue",
            f"access: adminacl {production} (queues.yaml:13:13)",
        ),
        ("the", "scheduler", "configure", "no", "scheduleracl does not have sue", "access: scheduleracl"),
        (
            "the",
            "scheduler",
            "configure_queues",
            "no",
            "scheduleracl does not have sue",
            "access: scheduleracl",
        ),
    ]


def test_only_named_queues_are_printed_even_if_they_do_not_exist(bundle):
    """A placement rule may create them."""
    result = run("--bundle", bundle, "--user", "tim", "--group", "ops", "root.Dev.web", "root.dev.new")
    rows = result.stdout.rstrip().splitlines()[4:]
    assert [row.split("  ")[1] for row in rows] == [
        *("root.dev.web", "root.dev.web"),
        *("root.dev.new (does not exist)", "root.dev.new (does not exist)"),
        *("the scheduler", "the scheduler"),
    ]
    assert ["yes" in row for row in rows] == [True, True, True, True, False, False]


@pytest.mark.parametrize("group", ["a\tb", "x" * 201, "\udcff"])
def test_an_invalid_group_name_is_refused(bundle, group):
    """If it were ignored, the answer would be about another user."""
    result = run("--bundle", bundle, "--user", "sue", "--group", "dev", "--group", group)
    assert result.exit_code == 2
    assert "invalid name of a group" in result.stderr


def test_groups_come_from_plugins_by_default(bundle):
    result = run("--bundle", bundle, "--user", "ann", "root", "--json")
    shown = json.loads(result.stdout)
    assert shown["groups"] == ["ops"]
    assert shown["queues"][0]["administer"]["rule"] == "adminacl of root"


def test_json_has_every_answer_by_queue(bundle):
    """With the plugin that gives it, its rule, its text and its place."""
    result = run("--bundle", bundle, "--user", "sue", "--group", "admins", "root.dev", "root.x", "--json")
    shown = json.loads(result.stdout)
    assert result.exit_code == 0
    dev, absent = shown["queues"]
    assert (dev["queue"], dev["exists"], absent["queue"], absent["exists"]) == (
        "root.dev",
        True,
        "root.x",
        False,
    )
    assert dev["submit"].pop("version")
    assert dev["submit"] == {
        "granted": True,
        "decision": "grant",
        "plugin": "access",
        "rule": "submitacl of root.dev",
        "text": "submitacl of root.dev has user sue",
        "source": "queues.yaml:8:13",
    }
    assert (dev["administer"]["granted"], dev["administer"]["source"]) == (False, None)
    assert shown["scheduler"]["configure"]["text"] == "scheduleracl has group admins"
    assert (shown["user"], shown["groups"]) == ("sue", ["admins"])


def test_a_plugin_that_forbids_is_named(bundle, plugin):
    """Whatever the lists grant."""
    folder = plugin(FORBIDDING)
    result = run("--bundle", bundle, "--plugins-dir", folder, "--user", "sue", "root.production")
    rows = result.stdout.rstrip().splitlines()[4:]
    assert all("nobody may do anything today" in row and "mine: lockdown" in row for row in rows)
    assert not any("yes" in row for row in rows)


def test_unknown_groups_of_a_failed_plugin_end_the_command(bundle, plugin):
    """A partial answer would mislead."""
    folder = plugin(FAILING)
    (bundle / "pool.yaml").write_text("plugins:\n  order: [mine]\n")
    result = run("--bundle", bundle, "--plugins-dir", folder, "--user", "sue")
    assert (result.exit_code, result.stdout) == (7, "")
    assert "plugin mine" in result.stderr
    assert run("--bundle", bundle, "--plugins-dir", folder, "--user", "sue", "--group", "dev").exit_code == 0
