"""The group whose limits an application counts for, as the configuration changes."""

import pytest

from negotiator.plugin import PlacedApplication, QueueTree
from negotiator_limits.hooks import QueueLimits, negotiator_application_groups
from negotiator_limits.settings import GroupTracking, LimitSettings
from yunikorn_pool import read

CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - name: a
            limits: [{groups: [dev, ops], maxapplications: 9}, {groups: ["*"], maxapplications: 9}]
          - name: b
            limits: [{groups: [dev], maxapplications: 9}]
          - name: free
"""
QUEUES = QueueTree.of(read({"text": CONFIG}).partition.root, 0)
ALL = tuple(GroupTracking)


@pytest.mark.parametrize(
    ("groups", "queue", "present", "trackings", "chosen"),
    [
        # A new application.
        (("ops", "dev"), "root.a", None, ALL, "dev"),
        (("hr",), "root.a", None, ALL, "*"),
        (("hr",), "root.b", None, ALL, ""),
        # A limit names its group: it stays, whatever other groups the user has.
        (("dev",), "root.a", "ops", ALL, "ops"),
        (("dev",), "root.a", "*", ALL, "*"),
        # No limit names it any more.
        (("dev",), "root.b", "ops", ALL, "dev"),
        (("ops",), "root.b", "ops", ALL, "ops"),
        (("ops",), "root.free", "ops", ALL, "ops"),
        # First seen without a group, or a user in no group.
        (("dev",), "root.b", "", [GroupTracking.SPECIFICATION], "dev"),
        (("dev",), "root.b", "", [GroupTracking.YUNIKORN], ""),
        ((), "root.a", None, [GroupTracking.SPECIFICATION], "*"),
        ((), "root.a", None, [GroupTracking.YUNIKORN], ""),
    ],
)
def test_the_group_of_an_application(groups, queue, present, trackings, chosen):
    application = PlacedApplication("sue", groups, queue, present)
    for tracking in trackings:
        assert negotiator_application_groups(
            [application], QUEUES, LimitSettings(tracking), QueueLimits()
        ) == [chosen]


SHADOW = """
partitions:
  - name: default
    queues:
      - name: root
        limits: [{groups: [ops], maxapplications: 9}]
        queues:
          - name: a
            properties: {negotiator.limits.mode: dryrun}
            limits: [{groups: [dev, ops], maxapplications: 9}]
"""


@pytest.mark.parametrize(
    ("groups", "present", "chosen"),
    [
        (("dev", "ops"), None, "ops"),
        (("dev", "ops"), "dev", "ops"),
        (("dev",), None, "dev"),
        (("dev",), "dev", "dev"),
    ],
)
def test_a_limit_that_does_not_enforce_takes_no_application_from_one_that_does(groups, present, chosen):
    queues = QueueTree.of(read({"text": SHADOW}).partition.root, 0)
    application = PlacedApplication("user", groups, "root.a", present)
    assert list(negotiator_application_groups([application], queues, LimitSettings(), QueueLimits())) == [
        chosen
    ]
