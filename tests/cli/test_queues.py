"""``negotiator queues``, as its users call it."""

import json
import os
import re

import pytest

from commands import invoke
from negotiator.bundle import load_bundle
from negotiator.cli.commands.queues import queues
from negotiator.queues.applications import ApplicationId
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager
from pools import slot
from queueing import World, app, changed_queues, drain

QUEUES = """\
partitions:
  - name: default
    placementrules: [{name: provided, create: true}]
    queues:
      - name: root
        adminacl: " ops"
        queues:
          - name: dev
            parent: true
            submitacl: "sue,bob dev"
            childtemplate:
              maxapplications: 4
              properties: {application.sort.policy: fifo}
              resources:
                max: {memory: 10G, vcore: 500m}
            limits:
              - limit: nobody hogs it
                users: [sue]
                maxresources: {memory: 10G}
                maxapplications: 5
              - limit: ""
                users: [bob, tim]
                groups: [interns]
                maxapplications: 1
            queues:
              - name: web
          - name: production
            maxapplications: 20
            submitacl: "*"
            resources:
              guaranteed: {memory: 1Ki, vcore: 1}
              max: {memory: 2G, vcore: 1500m}
"""

NOW = 1_800_000_000.0  # 2027-01-15 08:00 UTC


@pytest.fixture
def bundle(tmp_path):
    """A bundle with queues on three levels."""
    folder = tmp_path / "bundle"
    folder.mkdir(mode=0o755)
    (folder / "queues.yaml").write_text(QUEUES)
    return folder


@pytest.fixture
def state(bundle, tmp_path):
    """Return a state: production is draining, a rule created root.dev.sue; three applications, two of them there."""
    folder = tmp_path / "state"
    with StateStore.open(folder) as store:
        state_manager = StateManager.begin(load_bundle(bundle), NOW, store)
        with changed_queues(state_manager) as queues:
            queues.create("root.dev.sue", NOW)
            drain(queues, "root.production", NOW)
        for number, queue in enumerate(("root.dev.sue", "root.dev.sue", "root.production")):
            state_manager.registry.move(ApplicationId("schedd", "sue", number), queue, NOW)
        state_manager.write(queues=state_manager.queues)
    (bundle / "queues.yaml").write_text(QUEUES[: QUEUES.index("          - name: production")])
    return folder


def run(*arguments):
    return invoke(queues, [str(argument) for argument in arguments])


def cells(line):
    """Return the cells of a table row that are not empty."""
    return re.split(r"\s{2,}", line.strip())


def test_configured_queues_are_a_tree_with_resources_and_lists(bundle):
    """Amounts have units; without a state the applications are not known."""
    result = run("--bundle", bundle)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "Queues\n"
        "  QUEUE         TYPE    STATE   APPLICATIONS  RESOURCES\n"
        "  root          parent  Active  -\n"
        "    dev         parent  Active  -\n"
        "      web       leaf    Active  -\n"
        "    production  leaf    Active  - of 20       guaranteed memory 1Ki, vcore 1; max memory 2G, vcore 1500m\n"
        "\n"
        "Access control lists\n"
        "  QUEUE            SUBMIT          ADMINISTER\n"
        "  root                             @ops\n"
        "  root.dev         bob, sue, @dev\n"
        "  root.production  everybody\n"
        "\n"
    )


def test_a_named_queue_is_printed_with_its_limits_and_their_sources(bundle):
    """With its children, the lists of its parents, and the template of its children."""
    result = run("--bundle", bundle, "root.Dev")
    tree, lists, limits, templates, last = result.stdout.split("\n\n")
    assert [line.split()[0] for line in tree.splitlines()[2:]] == ["root.dev", "web"]
    assert [line.split()[0] for line in lists.splitlines()[2:]] == ["root", "root.dev"]
    assert [cells(line) for line in limits.splitlines()[2:]] == [
        ["root.dev", "user sue: memory 10G, 5 applications", "nobody hogs it", "queues.yaml:17:17"],
        ["root.dev", "users bob, tim and group interns: 1 application", "queues.yaml:21:17"],
    ]
    assert cells(templates.splitlines()[2]) == [
        *("root.dev", "4", "max memory 10G, vcore 500m", "application.sort.policy=fifo"),
    ]
    assert last == "root.dev is configured in queues.yaml:8:13\n"


def test_with_a_state_the_queues_are_those_of_the_negotiator(bundle, state):
    """Created and draining queues, with the time of draining, and applications, summed up to the root."""
    result = run("--bundle", bundle, "--state", state, "--now", NOW + 2 * 86_400 + 3 * 3_600 + 59)
    tree, draining, _lists, _ = result.stdout.split("\n\n")
    assert [cells(line)[:3] for line in tree.splitlines()[2:]] == [
        ["root", "parent", "Active"],
        ["dev", "parent", "Active"],
        ["sue", "dynamic leaf", "Active"],
        ["web", "leaf", "Active"],
        ["production", "leaf", "Draining"],
    ]
    applications = [cells(line)[3].partition(" of ")[0] for line in tree.splitlines()[2:]]
    assert applications == ["3", "2", "2", "0", "1"]
    assert draining.splitlines()[2] == "  root.production  2027-01-15 08:00 UTC  2 d 3 h"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("root.dev", "root.dev is configured in queues.yaml:8:13"),
        ("root.dev.sue", "root.dev.sue is created by a placement rule"),
        ("root.production", "root.production is no longer configured"),
    ],
)
def test_a_named_queue_is_printed_with_its_source(bundle, state, path, expected):
    result = run("--bundle", bundle, "--state", state, path)
    assert result.stdout.splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_700, "1 h 1 min"),
        (3_610, "1 h"),
        (90_000, "1 d 1 h"),
        (-5, "0 s"),
    ],
)
def test_the_time_of_draining_has_two_units(bundle, state, seconds, expected):
    """It is not negative if the clock was set back."""
    result = run("--bundle", bundle, "--state", state, "--now", NOW + seconds)
    assert f"2027-01-15 08:00 UTC  {expected}\n" in result.stdout


def test_json_has_the_shape_of_yunikorns_rest_interface(bundle):
    """Raw integers and full paths; zero and empty values are absent, except those that YuniKorn always gives."""
    always = {
        "partition": "default",
        "currentPriority": 0,
        "prioritySorting": False,
        "preemptionEnabled": False,
        "isPreemptionFence": False,
        "isPriorityFence": False,
        "isManaged": True,
        "status": "Active",
    }
    result = run("--bundle", bundle, "--json")
    web = {"queuename": "root.dev.web", "parent": "root.dev", "isLeaf": True, **always}
    dev = {
        "queuename": "root.dev",
        "parent": "root",
        "isLeaf": False,
        **always,
        "template": {
            "maxApplications": 4,
            "maxResource": {"memory": 10_000_000_000, "vcore": 500},
            "properties": {"application.sort.policy": "fifo"},
        },
        "childNames": ["root.dev.web"],
        "children": [web],
    }
    production = {
        "queuename": "root.production",
        "parent": "root",
        "isLeaf": True,
        **always,
        "maxRunningApps": 20,
        "maxResource": {"memory": 2_000_000_000, "vcore": 1500},
        "guaranteedResource": {"memory": 1024, "vcore": 1000},
    }
    assert json.loads(result.stdout) == {
        "queuename": "root",
        "isLeaf": False,
        **always,
        "childNames": ["root.dev", "root.production"],
        "children": [dev, production],
    }


def test_json_with_a_state_has_states_and_applications(bundle, state):
    """Of a named queue and its children."""
    whole = json.loads(run("--bundle", bundle, "--state", state, "--json").stdout)
    dev, production = whole["children"]
    sue, web = dev["children"]
    assert (production["status"], production["runningApps"], whole["runningApps"]) == ("Draining", 1, 3)
    assert (sue["isManaged"], sue["runningApps"], "runningApps" in web) == (False, 2, False)
    assert json.loads(run("root.dev", "--bundle", bundle, "--state", state, "--json").stdout) == dev


def test_the_state_is_not_written(bundle, state, tmp_path):
    """Neither an existing one nor a new one."""
    with StateStore.open(state) as store:
        before = StateManager.begin(load_bundle(bundle), NOW, store).queues
    assert run("--bundle", bundle, "--state", state).exit_code == 0
    with StateStore.open(state) as store:
        assert StateManager.begin(load_bundle(bundle), NOW, store).queues == before
    assert run("--bundle", bundle, "--state", tmp_path / "missing").exit_code == 2
    assert not (tmp_path / "missing").exists()
    (tmp_path / "nothing").mkdir()
    result = run("--bundle", bundle, "--state", tmp_path / "nothing")
    assert result.exit_code == 6
    assert "no state of a negotiator in this folder" in result.stderr
    assert list((tmp_path / "nothing").iterdir()) == []


def test_an_unreadable_state_is_reported(bundle, tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "state.sqlite").write_bytes(b"no database at all" * 100)
    result = run("--bundle", bundle, "--state", tmp_path / "bad")
    assert (result.exit_code, result.stdout) == (6, "")
    assert f"error: {tmp_path / 'bad'}: cannot open the state" in result.stderr


def test_a_common_prefix_of_names_is_not_a_parent(bundle):
    """Levels are separated by dots."""
    (bundle / "queues.yaml").write_text(QUEUES.replace("- name: production", "- name: devel"))
    result = run("--bundle", bundle, "root.dev", "--json")
    assert "devel" not in result.stdout
    assert "devel" not in run("--bundle", bundle, "root.dev").stdout


def test_an_unknown_queue_ends_with_code_1(bundle):
    """The message suggests a similar name."""
    result = run("--bundle", bundle, "root.prodution")
    assert result.exit_code == 1
    assert "error: unknown queue root.prodution: did you mean root.production?" in result.stderr


def test_missing_placement_rules_are_reported(tmp_path):
    """The queues are printed, without jobs."""
    (tmp_path / "pool.yaml").write_text("")
    result = run("--bundle", tmp_path, "--disable", "placement")
    assert result.stdout.startswith("No plugin brings placement rules: jobs have no queue.\n")


USED = """\
MyType = "Job"
ClusterId = {0}
ProcId = 0
GlobalJobId = "node1#{0}.0#1"
Owner = "sue"
JobStatus = {1}
RequestCpus = {2}
RequestMemory = 1024
Queue = "{3}"
"""


@pytest.fixture
def pool(tmp_path):
    """Return a pool with three running jobs, two of them in production, and a waiting one."""
    jobs = [(1, 2, 1, "root.production"), (2, 2, 2, "root.production"), (3, 2, 1, "root.dev.sue")]
    (tmp_path / "pool").mkdir()
    text = "\n".join(USED.format(*each) for each in (*jobs, (4, 1, 1, "root.production")))
    (tmp_path / "pool" / "jobs.ads").write_text(text)
    return tmp_path / "pool"


def usage_rows(text):
    """Return the rows of the usage table."""
    (table,) = (part for part in text.split("\n\n") if part.startswith("Usage"))
    return [cells(re.sub(r"\] +", "] ", line)) for line in table.splitlines()[2:]]


IN_USE = [
    ["root", "memory", "3Gi"],
    ["root", "vcore", "4"],
    ["root", "applications", "3"],
    ["root.dev", "memory", "1Gi"],
    ["root.dev", "vcore", "1"],
    ["root.dev", "applications", "1"],
    ["root.dev.sue", "memory", "1Gi", "10G", "[##------------------] 10%"],
    ["root.dev.sue", "vcore", "1", "500m", "[####################] 200%"],
    ["root.dev.sue", "applications", "1", "4", "[#####---------------] 25%"],
    ["root.production", "memory", "2Gi", "1Ki", "2G", "[####################] 107%"],
    ["root.production", "vcore", "3", "1", "1500m", "[####################] 200%"],
    ["root.production", "applications", "2", "20", "[##------------------] 10%"],
]


@pytest.mark.parametrize("disabled", [(), ("--disable", "maxima", "--disable", "limits")])
def test_with_a_pool_usage_is_printed_beside_the_limits(bundle, pool, disabled):
    """Of each queue with its children, created ones too; also if the plugins for limits are disabled."""
    result = run("--bundle", bundle, "--pool", pool, "--full", *disabled)
    assert (result.exit_code, result.stderr) == (0, "")
    assert usage_rows(result.stdout) == IN_USE
    assert ["sue", "dynamic leaf", "Active"] in [cells(line)[:3] for line in result.stdout.splitlines()]
    assert usage_rows(run("--bundle", bundle, "--pool", pool, "root.dev").stdout) == IN_USE[3:9]
    assert "Usage" not in run("--bundle", bundle).stdout


def test_the_pool_may_be_set_in_the_environment(bundle, pool, monkeypatch):
    """Folders and files, separated as in PATH; the command line takes precedence."""
    (pool / "other.ads").write_text(USED.format(9, 2, 1, "root.production"))
    paths = [str(pool / name) for name in ("jobs.ads", "other.ads")]
    monkeypatch.setenv("NEGOTIATOR_POOL", os.pathsep.join(paths))
    assert usage_rows(run("--bundle", bundle, "--full").stdout)[0] == ["root", "memory", "4Gi"]
    assert usage_rows(run("--bundle", bundle, "--pool", paths[0], "--full").stdout) == IN_USE


@pytest.mark.parametrize(
    ("columns", "bar"),
    [(80, "[#---------]"), (100, "[##------------------]"), (120, "[##------------------]")],
)
def test_a_bar_is_printed_on_terminals_of_80_columns_too(bundle, pool, monkeypatch, columns, bar):
    """It is shorter there, and no line is longer than the terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(columns))
    text = re.sub(r"\x1b\[[0-9;]*m", "", run("--bundle", bundle, "--pool", pool, "--full").stdout)
    rows = [line.split() for line in text[text.index("Usage") : text.index("Access control")].splitlines()]
    row = ["root.production", "applications", "2", "20", bar, "10%"]
    assert row in rows
    assert max(map(len, text.splitlines())) <= columns


def test_a_maximum_of_zero_is_printed(bundle, pool):
    """Without a bar."""
    (bundle / "queues.yaml").write_text(
        QUEUES.replace("max: {memory: 2G, vcore: 1500m}", "max: {gpus: 0, vcore: 3}")
    )
    rows = usage_rows(run("--bundle", bundle, "--pool", pool, "root.production").stdout)
    assert ["root.production", "gpus", "0", "0"] in rows


def test_json_has_the_usage_and_running_applications(bundle, pool):
    """With YuniKorn's keys; waiting applications are not running."""
    whole = json.loads(run("--bundle", bundle, "--pool", pool, "--json").stdout)
    dev, production = whole["children"]
    assert production["allocatedResource"] == {"memory": 2 << 30, "vcore": 3000}
    assert (whole["runningApps"], dev["runningApps"], production["runningApps"]) == (3, 1, 2)
    assert [child.get("allocatedResource") for child in dev["children"]] == [
        {"memory": 1 << 30, "vcore": 1000},
        None,
    ]


def test_with_a_state_matches_not_yet_in_the_pool_count(bundle, pool, tmp_path):
    """Nothing is written."""
    world = World(tmp_path, load_bundle(bundle))
    world.slots = [slot(number) for number in range(2)]
    world.jobs = [app(5, RequestCpus="0.5", RequestMemory="512", queue="root.production")]
    with world:
        world.cycle()
        before = (tmp_path / "state" / "state.sqlite").read_bytes()
        result = run(
            "--bundle", bundle, "--pool", pool, "--full", "--state", tmp_path / "state", "--now", NOW
        )
        assert result.exit_code == 0
        assert usage_rows(result.stdout)[:2] == [["root", "memory", "3584Mi"], ["root", "vcore", "5"]]
        assert usage_rows(result.stdout)[-1][:4] == ["root.production", "applications", "3", "20"]
        assert "root          parent        Active  1" in result.stdout
        assert (tmp_path / "state" / "state.sqlite").read_bytes() == before


def test_an_unreadable_pool_is_reported(bundle, tmp_path):
    """As by every command."""
    result = run("--bundle", bundle, "--pool", tmp_path / "none")
    assert (result.exit_code, result.stdout) == (4, "")


def test_a_failed_plugin_ends_with_code_7(bundle, pool):
    """The queues of the jobs that it had to place are reported as missing."""
    (bundle / "plugins").mkdir(mode=0o755)
    (bundle / "plugins" / "bad.py").write_text(
        "from negotiator.plugin import hookimpl\n\n@hookimpl\ndef negotiator_user_groups(users):\n    raise OSError('gone')\n"
    )
    (bundle / "pool.yaml").write_text("plugins: {folders: [plugins]}\n")
    result = run("--bundle", bundle, "--pool", pool)
    assert result.exit_code == 7
    assert "OSError: gone" in result.stderr
    assert usage_rows(result.stdout)[0] == IN_USE[0]


def test_the_root_queue_has_the_resources_of_the_pool(bundle, pool):
    """As in YuniKorn; nothing can be configured there, and without a pool nothing is shown."""
    (pool / "slots.ads").write_text(
        "".join(
            f'MyType = "Machine"\nName = "slot{number}@m"\nMachine = "m"\nCpus = {cpus}\nMemory = 1024\n\n'
            for number, cpus in enumerate((4, 8))
        )
    )
    tree = json.loads(run("--bundle", bundle, "--pool", pool, "--json").stdout)
    assert tree["maxResource"] == {"memory": 2 << 30, "vcore": 12_000}
    assert "max memory 2Gi, vcore 12" in run("--bundle", bundle, "--pool", pool).stdout
    assert "maxResource" not in json.loads(run("--bundle", bundle, "--json").stdout)


def test_maxima_and_limits_that_do_not_enforce_have_their_mode(bundle):
    text = QUEUES.replace(
        "          - name: dev",
        "          - name: dev\n            properties: {negotiator.limits.mode: dryrun}",
    )
    text = text.replace(
        "            maxapplications: 20",
        "            maxapplications: 20\n            properties: {negotiator.max.mode: warn}",
    )
    (bundle / "queues.yaml").write_text(text)
    shown = run("--bundle", bundle).stdout.splitlines()
    assert [line.split()[0] for line in shown if line.endswith("  warn")] == ["production"]
    shown = run("root.dev", "--bundle", bundle).stdout.splitlines()
    assert [line.split()[0] for line in shown if line.endswith("  dryrun")] == ["root.dev", "root.dev"]
