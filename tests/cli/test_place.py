"""``negotiator place``, as its users call it."""

import json

import pytest

from commands import invoke
from negotiator.bundle import load_bundle
from negotiator.cli.commands.place import place
from negotiator.queues.applications import ApplicationId
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager
from queueing import changed_queues, drain

QUEUES = """\
partitions:
  - name: default
    placementrules:
      - name: tag
        value: namespace
        create: true
        parent: {name: fixed, value: root.tenants}
      - name: provided
      - name: user
        create: true
        filter: {type: allow, groups: [dev]}
        parent: {name: fixed, value: root.dev}
    queues:
      - name: root
        adminacl: " ops"
        queues:
          - name: dev
            parent: true
            submitacl: " dev"
          - name: tenants
            parent: true
            submitacl: "*"
          - name: production
            submitacl: "sue"
"""

FAILING = """
from negotiator.plugin import hookimpl
@hookimpl
def negotiator_user_groups(users): raise OSError("the directory does not answer")
"""

NOW = 1_800_000_000.0


@pytest.fixture
def bundle(tmp_path):
    """A bundle with three placement rules and a file of groups."""
    folder = tmp_path / "bundle"
    folder.mkdir(mode=0o755)
    (folder / "pool.yaml").write_text("groups:\n  map: groups.yaml\n")
    (folder / "groups.yaml").write_text("ann: [dev, ops]\nbob: []\n")
    (folder / "queues.yaml").write_text(QUEUES)
    return folder


def run(*arguments):
    return invoke(place, [str(argument) for argument in arguments])


def first_line(result):
    """Return the first line of the output."""
    return result.stdout.splitlines()[0]


def test_the_outcome_is_printed_first_then_each_rule_with_its_source(bundle):
    """As aligned text, with the number and the value of each rule."""
    result = run("--bundle", bundle, "--user", "sue", "--group", "dev")
    assert result.exit_code == 0
    assert result.stdout == (
        "placed in root.dev.sue (new: root.dev.sue)\n"
        "user sue, group dev (as given)\n"
        "\n"
        "Placement rules tried\n"
        "  RULE             QUEUE         RESULT                                           SOURCE\n"
        "  1 tag namespace                no value: the application does not have the tag  queues.yaml:4:9\n"
        "  2 provided                     no value: the application names no queue         queues.yaml:8:9\n"
        "  3 user           root.dev.sue  matched: submitacl of root.dev has group dev     queues.yaml:9:9\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--queue", "root.production"], "placed in root.production"),
        (["--queue", "root.Production"], "placed in root.production"),
        (["--tag", "NameSpace=prod"], "placed in root.tenants.prod (new: root.tenants.prod)"),
        (["--tag", "namespace=a.b"], "placed in root.tenants.a_dot_b (new: root.tenants.a_dot_b)"),
        (["--forced"], "placed in root.@recovery@ (new: root.@recovery@)"),
        (["--group", "dev,ops"], "placed in root.dev.sue (new: root.dev.sue)"),
    ],
)
def test_the_request_decides_the_queue(bundle, arguments, expected):
    result = run("--bundle", bundle, "--user", "sue", *arguments)
    assert (result.exit_code, first_line(result)) == (0, expected)


@pytest.mark.parametrize(
    ("arguments", "expected", "decisive"),
    [
        ([], "no placement rule matched", "filtered: the filter of rule user excludes tim"),
        (
            ["--queue", "root.production"],
            "no placement rule matched",
            "access denied: no submitacl",
        ),
        (["--queue", "root.nowhere"], "no placement rule matched", "queue missing: root.nowhere"),
        (
            ["--queue", "root.dev"],
            "no placement rule matched",
            "queue is parent: root.dev is a parent",
        ),
        (["--queue", "root.a!b"], "invalid queue name 'a!b'", "invalid queue name"),
        (["--tag", "namespace=root.production.x"], "root.production.x can't be made", "create under leaf"),
    ],
)
def test_a_rejection_has_a_reason_and_exit_code_1(bundle, arguments, expected, decisive):
    """Administrators may create anywhere, so tim gets as far as the leaf as one of them."""
    groups = ["--group", "ops"] if "create under leaf" in decisive else []
    result = run("--bundle", bundle, "--user", "tim", *groups, *arguments)
    assert result.exit_code == 1
    assert first_line(result).startswith(f"rejected: {expected}")
    assert decisive in result.stdout


def test_groups_are_looked_up_by_default(bundle):
    """As in a cycle; an unknown user is in no group."""
    known = run("--bundle", bundle, "--user", "ann")
    assert known.stdout.splitlines()[:2] == [
        "placed in root.dev.ann (new: root.dev.ann)",
        "user ann, groups dev, ops (from plugins)",
    ]
    unknown = run("--bundle", bundle, "--user", "tim")
    assert unknown.stdout.splitlines()[1] == "user tim, groups none (no plugin knows the user)"


def test_unknown_groups_reject_as_in_a_cycle(bundle, tmp_path):
    """The plugin is named; groups on the command line need no plugin."""
    folder = tmp_path / "plugins"
    folder.mkdir(mode=0o755)
    (folder / "failing.py").write_text(FAILING)
    (folder / "failing.py").chmod(0o644)
    (bundle / "pool.yaml").write_text("plugins:\n  order: [failing]\n")
    options = ("--bundle", bundle, "--plugins-dir", folder, "--user", "sue", "--queue", "root.production")
    result = run(*options)
    assert result.exit_code == 7
    assert "the groups of the user are unknown: use --group" in first_line(result)
    assert "plugin failing" in result.stderr
    assert "the directory does not answer" in result.stderr
    assert run(*options, "--group", "dev").exit_code == 0


def test_a_tag_that_no_rule_reads_is_a_warning(bundle):
    """It may be misspelled; rules see only the tags that they read."""
    result = run("--bundle", bundle, "--user", "sue", "--tag", "namspace=prod", "--json")
    assert json.loads(result.stdout)["tags"] == {}
    assert result.stderr == "warning: no placement rule reads the tag namspace: they read namespace\n"


def test_json_has_the_fields_of_the_audit_record(bundle):
    """And whether the application was placed, the text of the outcome, and the queues that would be created."""
    result = run("--bundle", bundle, "--user", "sue", "--tag", "namespace=prod", "--json")
    assert json.loads(result.stdout) == {
        "placed": True,
        "text": "placed in root.tenants.prod (new: root.tenants.prod)",
        "user": "sue",
        "groups": [],
        "groups_left_out": 0,
        "requested_queue": "",
        "tags": {"namespace": "prod"},
        "forced": False,
        "queue": "root.tenants.prod",
        "code": "matched",
        "steps": [
            {
                "rule": "tag",
                "plugin": "placement",
                "version": json.loads(result.stdout)["steps"][0]["version"],
                "source": "queues.yaml:4:9",
                "queue": "root.tenants.prod",
                "code": "matched",
                "text": "submitacl of root.tenants has everybody",
            }
        ],
        "steps_left_out": 0,
        "created": ["root.tenants.prod"],
    }


def state(bundle, folder, *, draining=(), applications=()):
    """Return the state that a negotiator left in a folder."""
    with StateStore.open(folder) as store:
        state_manager = StateManager.begin(load_bundle(bundle), NOW, store)
        for number, (user, queue) in enumerate(applications):
            with changed_queues(state_manager) as queues:
                queues.create(queue, NOW)
            state_manager.registry.move(ApplicationId("", user, number), queue, NOW)
        for path in draining:
            with changed_queues(state_manager) as queues:
                drain(queues, path, NOW)
        state_manager.write(queues=state_manager.queues)
    return folder


def test_with_a_state_the_queues_are_those_of_the_negotiator(bundle, tmp_path):
    """A queue that a rule created exists as long as it has applications; the next cycle removes it otherwise."""
    state_folder = state(bundle, tmp_path / "state", applications=[("sue", "root.dev.sue")])
    options = ("--bundle", bundle, "--user", "sue", "--group", "dev")
    assert first_line(run(*options, "--state", state_folder)) == "placed in root.dev.sue"
    assert first_line(run(*options)) == "placed in root.dev.sue (new: root.dev.sue)"
    empty = tmp_path / "empty"
    with StateStore.open(empty) as store:
        state_manager = StateManager.begin(load_bundle(bundle), NOW, store)
        with changed_queues(state_manager) as queues:
            queues.create("root.dev.sue", NOW)
        state_manager.write(queues=state_manager.queues)
    assert first_line(run(*options, "--state", empty)) == "placed in root.dev.sue (new: root.dev.sue)"


def test_a_draining_queue_is_reported(bundle, tmp_path):
    """It was removed from the configuration while it had an application."""
    applications = [("sue", "root.production")]
    state_folder = state(bundle, tmp_path / "state", draining=["root.production"], applications=applications)
    (bundle / "queues.yaml").write_text(QUEUES[: QUEUES.index("          - name: production")])
    options = ("--bundle", bundle, "--user", "ann", "--queue", "root.production")
    result = run(*options, "--state", state_folder)
    assert "queue draining: root.production is draining" in result.stdout
    assert "queue missing: root.production does not exist" in run(*options).stdout


@pytest.fixture
def ads(tmp_path):
    """Return jobs of three kinds: two alike jobs of sue, one of tim, one running."""
    file = tmp_path / "jobs.ads"
    jobs = [(1, "sue", 1, 'Queue = "root.production"'), (2, "sue", 1, 'Queue = "root.production"')]
    jobs += [(3, "tim", 1, "Iwd = 1"), (4, "sue", 2, "Iwd = 1")]
    file.write_text(
        "\n".join(
            f'MyType = "Job"\nClusterId = {cluster}\nProcId = 0\nOwner = "{owner}"\nJobStatus = {status}\n{more}\n'
            for cluster, owner, status, more in jobs
        )
    )
    return file


def test_a_pool_is_placed_as_in_a_cycle(bundle, ads):
    """Rejected applications first; jobs that are alike for the rules together; running ones are only counted."""
    result = run("--bundle", bundle, "--pool", ads)
    assert (result.exit_code, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "Jobs: 2 placed, 1 rejected",
        "      1 not idle, or discarded before placement (see negotiator run)",
    ]
    tim, sue = lines[5:7]
    why = "rejected: no placement rule matched"
    rules = "1 tag: no value, 2 provided: no value, 3 user: filtered"
    assert " ".join(tim.split()) == f"1 tim {why} {rules} 3.0"
    assert sue.split() == ["2", "sue", "root.production", "root.production", "2", "provided", "1.0"]


def test_the_exit_code_is_0_if_all_jobs_are_placed(bundle, ads):
    """New queues are marked."""
    (bundle / "groups.yaml").write_text("tim: [dev]\n")
    result = run("--bundle", bundle, "--pool", ads)
    assert result.exit_code == 0
    assert "root.dev.tim (new)" in result.stdout


def test_jobs_of_applications_that_have_a_queue_are_only_counted(bundle, ads, tmp_path):
    """They keep their queue, whatever the current rules are."""
    state_folder = tmp_path / "state"
    with StateStore.open(state_folder) as store:
        state_manager = StateManager.begin(load_bundle(bundle), NOW, store)
        state_manager.registry.move(ApplicationId("", "tim", 3), "root.production", NOW)
        state_manager.write(queues=state_manager.queues)
    result = run("--bundle", bundle, "--pool", ads, "--state", state_folder, "--json")
    shown = json.loads(result.stdout)
    assert result.exit_code == 0
    assert (shown["jobs"], shown["admitted"], shown["already_placed"], shown["held"]) == (4, 3, 1, 0)
    assert [(each["user"], each["jobs"], each["queue"]) for each in shown["placements"]] == [
        ("sue", 2, "root.production")
    ]


def test_an_unreadable_pool_or_state_has_its_own_code(bundle, tmp_path):
    """A missing state is not created."""
    result = run("--bundle", bundle, "--pool", tmp_path / "nowhere")
    assert result.exit_code == 4
    assert "nowhere" in result.stderr
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    result = run("--bundle", bundle, "--user", "sue", "--state", nothing)
    assert result.exit_code == 6
    assert f"error: {nothing}: no state of a negotiator in this folder" in result.stderr
    assert list(nothing.iterdir()) == []
    assert run("--bundle", bundle, "--user", "sue", "--state", tmp_path / "missing").exit_code == 2
    assert not (tmp_path / "missing").exists()


def test_the_command_line_takes_precedence_over_a_pool_in_the_environment(bundle, ads, monkeypatch):
    """The pool of the command line is read."""
    monkeypatch.setenv("NEGOTIATOR_POOL", str(ads))
    assert run("--bundle", bundle).stdout == run("--bundle", bundle, "--pool", ads).stdout
    result = run("--bundle", bundle, "--user", "sue", "--queue", "root.production")
    assert first_line(result) == "placed in root.production"


def test_without_a_plugin_with_rules_jobs_have_no_queue(tmp_path):
    """And no job is rejected."""
    (tmp_path / "pool.yaml").write_text("")
    result = run("--bundle", tmp_path, "--user", "sue", "--disable", "placement")
    assert result.exit_code == 0
    assert "no plugin brings placement rules" in result.stdout
