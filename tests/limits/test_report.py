"""Usage in the form of YuniKorn's REST interface, and in that of the specification."""

from negotiator.hooks.charges import CounterUsage
from negotiator.queues import QueueTree
from negotiator_limits import negotiator_usage
from negotiator_limits.hooks import QueueLimits
from yunikorn_pool import read

CONFIG = {
    "queues": [
        {
            "name": "root",
            "limits": [{"users": ["user1"], "maxapplications": 10}],
            "queues": [
                {
                    "name": "default",
                    "limits": [
                        {"users": ["user1"], "maxapplications": 10, "maxresources": {"memory": "50G", "vcore": "100"}},
                    ],
                },
                {"name": "test", "limits": [{"groups": ["tester"], "maxapplications": 2, "maxresources": {"vcore": 10}}]},
            ],
        }
    ]
}  # fmt: skip
HALF = {"memory": 6_000_000_000, "vcore": 6000}
WHOLE = {"memory": 12_000_000_000, "vcore": 12000}


QUEUES = QueueTree.of(read(CONFIG).partition.root, 0)


def counted(kind, name, *leaves):
    """The counters of a user or group that uses HALF in each leaf, by its applications there."""
    sums, sets = {}, {}
    for leaf, application in leaves:
        for queue in (leaf, "root"):
            sets.setdefault((kind, name, queue), {})[application] = 1
            for resource, amount in HALF.items():
                key = (kind, name, queue, resource)
                sums[key] = sums.get(key, 0) + amount
    return sums, sets


def reported(report):
    """The report of user1, whose second application counts for a group."""
    users, apps = counted("user", "user1", ("root.default", "app1"), ("root.test", "app2"))
    groups, group_apps = counted("group", "tester", ("root.test", "app2"))
    of_apps = {("user1", "app1"): "", ("user1", "app2"): "tester"}
    return negotiator_usage(
        report, CounterUsage(users | groups, apps | group_apps, of_apps), QUEUES, QueueLimits()
    )


def test_users_in_the_form_of_yunikorn():
    """Full paths, amounts in the unit of their resource; zero and empty values are left out."""
    assert reported("users") == [
        {
            "userName": "user1",
            "groups": {"app2": "tester"},
            "queues": {
                "queuePath": "root",
                "resourceUsage": WHOLE,
                "runningApplications": ["app1", "app2"],
                "maxApplications": 10,
                "children": [
                    {
                        "queuePath": "root.default",
                        "resourceUsage": HALF,
                        "runningApplications": ["app1"],
                        "maxApplications": 10,
                        "maxResources": {"memory": 50_000_000_000, "vcore": 100_000},
                    },
                    {"queuePath": "root.test", "resourceUsage": HALF, "runningApplications": ["app2"]},
                ],
            },
        }
    ]


def test_users_with_the_names_of_the_specification():
    """The specification's example, key by key, with empty values."""
    (entry,) = reported("users-spec")
    assert entry["queues"]["children"][1] == {
        "queuename": "root.test",
        "resourceUsage": HALF,
        "runningApplications": ["app2"],
        "children": [],
        "maxApplications": 0,
        "maxResources": {},
    }
    assert (entry["userName"], entry["groups"]) == ("user1", {"app2": "tester"})
    assert (entry["queues"]["queuename"], entry["queues"]["maxResources"]) == ("root", {})


def test_groups_in_both_forms():
    """With their applications, or with their users."""
    (entry,) = reported("groups")
    assert (entry["groupName"], entry["applications"]) == ("tester", ["app2"])
    assert entry["queues"]["children"] == [
        {
            "queuePath": "root.test",
            "resourceUsage": HALF,
            "runningApplications": ["app2"],
            "maxApplications": 2,
            "maxResources": {"vcore": 10_000},
        }
    ]
    (entry,) = reported("groups-spec")
    assert list(entry) == ["groupName", "users", "queues"]
    assert entry["users"] == ["user1"]


def test_limits_are_reported_before_anything_is_used():
    """Only the limits in YuniKorn's form; empty values too in that of the specification."""
    nothing = CounterUsage({}, {}, {})
    assert negotiator_usage("groups", nothing, QUEUES, QueueLimits()) == [
        {
            "groupName": "tester",
            "queues": {
                "queuePath": "root",
                "children": [
                    {"queuePath": "root.test", "maxApplications": 2, "maxResources": {"vcore": 10_000}}
                ],
            },
        }
    ]
    (entry,) = negotiator_usage("users-spec", nothing, QUEUES, QueueLimits())
    assert (entry["groups"], entry["queues"]["resourceUsage"]) == ({}, {})


def test_a_group_has_the_users_of_its_running_applications():
    """Not those whose application counts for another group, or uses nothing."""
    groups, apps = counted("group", "tester", ("root.test", "app2"))
    of_apps = {("user1", "app2"): "tester", ("user2", "app2"): "dev", ("user3", "app3"): "tester"}
    (entry,) = negotiator_usage("groups-spec", CounterUsage(groups, apps, of_apps), QUEUES, QueueLimits())
    assert entry["users"] == ["user1"]


def test_the_wildcard_is_reported_as_a_group_and_not_as_a_user():
    """With the queue of its limit, before anything is used."""
    limit = {"users": ["*"], "groups": ["dev"], "maxapplications": 2}
    wildcard = {"groups": ["*"], "maxapplications": 3}
    queues = [{"name": "a", "limits": [limit, wildcard]}]
    tree = QueueTree.of(read({"queues": [{"name": "root", "queues": queues}]}).partition.root, 0)
    nothing = CounterUsage({}, {}, {})
    assert negotiator_usage("users", nothing, tree, QueueLimits()) == []
    assert [
        (entry["groupName"], entry["queues"]["children"])
        for entry in negotiator_usage("groups", nothing, tree, QueueLimits())
    ] == [
        ("*", [{"queuePath": "root.a", "maxApplications": 3}]),
        ("dev", [{"queuePath": "root.a", "maxApplications": 2}]),
    ]


def test_other_counters_are_left_out():
    """Only keys of users and groups are read, with as many parts as they have."""
    sums = {
        ("user", "bob", "root", "memory"): 5,
        ("queue", "root", "memory", "x"): 7,
        ("user", "x"): 1,
        ("user", "x", "root", "memory", "more"): 1,
    }
    sets = {("user", "bob", "root"): {"app": 1}, ("queue", "root", "applications"): {"app": 1}}
    used = CounterUsage(sums, sets, {("bob", "app"): "tester", ("bob", "free"): ""})
    bob, _ = negotiator_usage("users", used, QUEUES, QueueLimits())
    assert bob == {
        "userName": "bob",
        "groups": {"app": "tester"},
        "queues": {"queuePath": "root", "resourceUsage": {"memory": 5}, "runningApplications": ["app"]},
    }
    groups = negotiator_usage("groups", used, QUEUES, QueueLimits())
    assert [entry["groupName"] for entry in groups] == ["tester"]


def test_other_reports_are_empty():
    """They may be other plugins'."""
    assert negotiator_usage("hosts", CounterUsage({}, {}, {}), QUEUES, QueueLimits()) == ()
