"""Usage as YuniKorn's REST interface tells it, and as the specification prints it."""

from negotiator.ledger import Counters, Postings
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits import LimitIndex, Tracking, group_usage, read_usage, user_usage
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


def tracked():
    tracking = Tracking(read(CONFIG).partition.root)
    tracking.increase("user1", ["tester"], "root.default", "app1", HALF)
    tracking.increase("user1", ["tester"], "root.test", "app2", HALF)
    return tracking


def test_users_in_the_form_of_yunikorn():
    """Full paths, amounts in the unit of their resource; what is zero or empty is left out."""
    assert tracked().report(SubjectKind.USER) == [
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
    """The specification's example, key by key: empty values stand there."""
    (entry,) = tracked().report(SubjectKind.USER, spec_names=True)
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
    (entry,) = tracked().report(SubjectKind.GROUP)
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
    (entry,) = tracked().report(SubjectKind.GROUP, spec_names=True)
    assert list(entry) == ["groupName", "users", "queues"]
    assert entry["users"] == ["user1"]


def test_what_is_limited_is_told_before_it_is_used():
    """With nothing but its limits; in the specification's form nothing is left out."""
    tracking = Tracking(read(CONFIG).partition.root)
    assert tracking.report(SubjectKind.GROUP) == [
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
    (entry,) = tracking.report(SubjectKind.USER, spec_names=True)
    assert (entry["groups"], entry["queues"]["resourceUsage"]) == ({}, {})


def test_any_counters_can_be_told_of():
    """Those of a ledger, among counters that are not of users or groups."""
    counters = Counters()
    counters.add(
        Postings(
            (
                (("user", "bob", "root", "memory"), 5),
                (("queue", "root", "memory", "x"), 7),
                (("user", "x"), 1),
                (("user", "x", "root", "memory", "more"), 1),
            ),
            ((("user", "bob", "root"), "app"), (("queue", "root", "applications"), "app")),
        )
    )
    scope = LimitIndex(read(CONFIG).partition.root)
    usage = read_usage(counters, counters.key_sets())
    bob, _ = user_usage(scope, usage, {("bob", "app"): "tester", ("bob", "free"): ""})
    assert bob == {
        "userName": "bob",
        "groups": {"app": "tester"},
        "queues": {"queuePath": "root", "resourceUsage": {"memory": 5}, "runningApplications": ["app"]},
    }
    assert [entry["groupName"] for entry in group_usage(scope, usage, {})] == ["tester"]
