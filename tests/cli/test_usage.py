"""``negotiator usage``, as its users call it."""

import json
import re

import pytest

import queueing
from commands import invoke
from negotiator.bundle import load_bundle
from negotiator.classad import unparse
from negotiator.cli.commands.usage import usage
from pools import NOW, slot
from queueing import World, app

QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        limits:
          - {limit: a, users: ["*"], maxresources: {memory: 4Gi, vcore: 4}, maxapplications: 5}
        queues:
          - name: dev
            limits:
              - {limit: b, groups: [staff], maxresources: {vcore: 3}, maxapplications: 4}
    placementrules: [{name: fixed, value: root.dev}]
"""
SUE_AT_DEV = {
    "queuePath": "root.dev",
    "resourceUsage": {"memory": 3 << 30, "vcore": 3000},
    "runningApplications": ["node1#1", "node1#2"],
}
GROUP = {
    "groupName": "staff",
    "applications": ["node1#1", "node1#2"],
    "queues": {
        "queuePath": "root",
        "resourceUsage": {"memory": 3 << 30, "vcore": 3000},
        "runningApplications": ["node1#1", "node1#2"],
        "children": [SUE_AT_DEV | {"maxApplications": 4, "maxResources": {"vcore": 3000}}],
    },
}


def runs(cluster, proc=0, user="sue", **more):
    own = {"RequestCpus": "1", "RequestMemory": "1024", "JobStatus": "2", "Groups": '"staff"'}
    return app(cluster, proc, user, **(own | more))


@pytest.fixture
def called(tmp_path):
    """Return a function that calls the command on a pool of given or default jobs."""
    queueing.write(tmp_path / "bundle", QUEUES, "placement: {groups: MY.Groups}\n")

    def call(*arguments, jobs=None):
        jobs = (
            [runs(1), runs(1, 1), runs(2), runs(3, user="bob", Groups='""'), runs(4, JobStatus="1")]
            if jobs is None
            else jobs
        )
        pool = tmp_path / "pool"
        pool.mkdir(exist_ok=True)
        for name, ads in (("jobs.ads", jobs), ("slots.ads", [slot(0)])):
            lines = ["\n".join(f"{key} = {unparse(value)}" for key, value in each.items()) for each in ads]
            (pool / name).write_text("\n\n".join(lines) + "\n")
        own = ["--pool", pool, "--bundle", tmp_path / "bundle", "--now", NOW]
        return invoke(usage, [str(each) for each in (*arguments, *own)])

    return call


def rows(text):
    """Return the cells of a table's lines, without the header."""
    return [line.split(maxsplit=5) for line in text.splitlines() if line.startswith("  ")][1:]


def test_users_are_a_table_with_a_bar_for_each_limit(called):
    """Each resource of each queue, from the root, then applications; waiting jobs do not count."""
    result = called("users", "sue")
    assert (result.exit_code, result.stderr) == (0, "")
    assert rows(result.stdout) == [
        ["sue", "root", "memory", "3Gi", "4Gi", "[###############-----]  75%"],
        ["sue", "root", "vcore", "3", "4", "[###############-----]  75%"],
        ["sue", "root", "applications", "2", "5", "[########------------]  40%"],
        ["sue", "root.dev", "memory", "3Gi"],
        ["sue", "root.dev", "vcore", "3"],
        ["sue", "root.dev", "applications", "2"],
    ]


def test_groups_are_those_named_by_limits(called):
    """Usage without a group is not in the report."""
    result = called("groups")
    assert result.exit_code == 0
    assert rows(result.stdout)[-2:] == [
        ["staff", "root.dev", "vcore", "3", "3", "[####################] 100%"],
        ["staff", "root.dev", "applications", "2", "4", "[##########----------]  50%"],
    ]


def test_usage_above_the_limit_is_a_full_bar_with_its_percentage(called):
    """A bar is full only at the limit, and empty only without usage."""
    result = called("users", "sue", jobs=[runs(each, RequestCpus="3", RequestMemory="1") for each in (1, 2)])
    assert rows(result.stdout)[:2] == [
        ["sue", "root", "memory", "2Mi", "4Gi", "[#-------------------]   0%"],
        ["sue", "root", "vcore", "6", "4", "[####################] 150%"],
    ]


def test_json_has_the_shape_of_yunikorn(called):
    """GET /ws/v1/partition/default/usage/groups; keys of zero or empty values are absent."""
    result = called("groups", "--json")
    assert json.loads(result.stdout) == [GROUP]
    (bob, sue) = json.loads(called("users", "--json").stdout)
    assert (bob["userName"], "groups" in bob) == ("bob", False)
    assert sue == {
        "userName": "sue",
        "groups": {"node1#1": "staff", "node1#2": "staff"},
        "queues": GROUP["queues"]
        | {
            "maxApplications": 5,
            "maxResources": {"memory": 4 << 30, "vcore": 4000},
            "children": [SUE_AT_DEV],
        },
    }


def test_spec_names_are_those_of_the_specification(called):
    """Empty values are present, and a group has users."""
    ((entry),) = json.loads(called("groups", "--json", "--spec-names").stdout)
    assert (entry["groupName"], entry["users"]) == ("staff", ["sue"])
    (child,) = entry["queues"]["children"]
    assert (child["queuename"], child["children"], child["maxApplications"]) == ("root.dev", [], 4)
    assert entry["queues"]["maxResources"] == {}


@pytest.mark.parametrize("arguments", [("users", "nobody"), ("groups", "ops"), ("hosts", "h"), ("hosts",)])
def test_an_unknown_name_or_report_ends_with_code_1(called, arguments):
    """With a message; as JSON an empty list."""
    result = called(*arguments)
    assert result.exit_code == 1
    assert result.stdout.startswith("Nothing is used or limited")
    assert json.loads(called(*arguments, "--json").stdout) == []


def test_an_unreadable_pool_is_reported(tmp_path):
    """As by every command."""
    result = invoke(usage, ["users", "--pool", str(tmp_path / "none")])
    assert result.exit_code == 4


def test_the_pool_may_be_set_in_the_environment(called, tmp_path, monkeypatch):
    """As for other commands with a pool."""
    wanted = called("users", "--json").stdout
    monkeypatch.setenv("NEGOTIATOR_POOL", str(tmp_path / "pool"))
    result = invoke(usage, ["users", "--json", "--bundle", str(tmp_path / "bundle"), "--now", str(NOW)])
    assert (result.exit_code, result.stdout) == (0, wanted)


def test_on_a_narrow_terminal_bars_are_shorter(called, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    text = re.sub(r"\x1b\[[0-9;]*m", "", called("users", "sue").stdout)
    assert ["sue", "root", "memory", "3Gi", "4Gi", "[#######---]", "75%"] in [
        line.split() for line in text.splitlines()
    ]


def test_with_a_state_matches_count_and_nothing_is_written(called, tmp_path):
    """Also while the negotiator runs; a match that the pool shows counts once."""
    called("users")
    world = World(tmp_path, load_bundle(tmp_path / "bundle"))
    world.slots = [slot(number) for number in range(4)]
    world.jobs = [runs(1, JobStatus="1"), runs(1, 1, JobStatus="1"), runs(7, JobStatus="1")]
    with world:
        world.cycle()
        before = (tmp_path / "state" / "state.sqlite").read_bytes()
        result = called("users", "sue", "--json", "--state", tmp_path / "state", jobs=[runs(1)])
        assert result.exit_code == 0
        ((entry),) = json.loads(result.stdout)
        assert entry["queues"]["resourceUsage"]["vcore"] == 3000
        assert entry["queues"]["runningApplications"] == ["node1#1", "node1#7"]
        assert len(world.store.load(NOW).journal) == 3
        assert (tmp_path / "state" / "state.sqlite").read_bytes() == before


def test_a_folder_without_state_is_an_error(called, tmp_path):
    """There is no journal to read."""
    (tmp_path / "none").mkdir()
    assert called("users", "--state", tmp_path / "none").exit_code == 6


def test_a_report_without_queues_is_a_plain_table():
    """Such as that of resource quota sets."""
    where = ("--pool", "examples/first-pool", "--bundle", "policies/resource-quotas")
    result = invoke(usage, ["quotas", *where])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["RULE", "RESOURCE", "USED", "LIMIT", "FILTER"] in lines
    row = ["per_host/share", "slots", "8", "$num_proc*0.5"]
    assert [*row, "users", "tester", "hosts", "node1.example.org"] in lines
    (entry,) = json.loads(invoke(usage, ["quotas", *where, "--json"]).stdout)
    assert (entry["rule"], entry["used"]) == ("per_host/share", "8")


def test_limits_in_use_are_listed_beside_their_maxima_and_defaults():
    """Each name that is configured or in use, then the limits of prefixes, then the one of all other names."""
    where = ("--pool", "examples/first-pool", "--bundle", "policies/limits")
    result = invoke(usage, ["limits", *where])
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines()[1:] if line]
    assert rows == [
        ["LIMIT", "USED", "MAXIMUM", "SET_BY"],
        ["large", "0", "2", "concurrency_limits.large"],
        ["matlab", "0", "3", "concurrency_limits.matlab"],
        ["sw_license", "1", "10", "CONCURRENCY_LIMIT_DEFAULT"],
        ["large.*", "2", "concurrency_limits.large"],
        ["matlab.*", "3", "concurrency_limits.matlab"],
        ["*", "10", "CONCURRENCY_LIMIT_DEFAULT"],
    ]
    (entry,) = json.loads(invoke(usage, ["limits", "sw_license", *where, "--json"]).stdout)
    assert entry == {"limit": "sw_license", "used": 1, "maximum": 10, "set_by": "CONCURRENCY_LIMIT_DEFAULT"}


def test_limits_that_do_not_enforce_have_their_mode(tmp_path, called):
    """In a column of their rows, and in JSON; what is used of them is shown as usual."""
    mode = "properties: {negotiator.limits.mode: warn}\n            limits:"
    (tmp_path / "bundle" / "queues.yaml").write_text(
        QUEUES.replace("            limits:", f"            {mode}", 1)
    )
    rows = [line.split() for line in called("groups", "staff", "--full").stdout.splitlines()]
    (limited,) = [row for row in rows if row[1:3] == ["root.dev", "vcore"]]
    assert (limited[3:5], limited[-1]) == (["3", "3"], "warn")
    (entry,) = json.loads(called("groups", "staff", "--json").stdout)
    assert entry["queues"]["children"][0]["mode"] == "warn"
    assert "mode" not in entry["queues"]
