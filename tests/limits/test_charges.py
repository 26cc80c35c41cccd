"""The charges of a request, as the plugin declares them."""

import numpy as np
import pytest

from negotiator.classad import Ad
from negotiator.hooks.records import Request
from negotiator.ledger import Charge, Ledger
from negotiator.queues import QueueTree
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits import negotiator_charges
from negotiator_limits.hooks import QueueLimits
from negotiator_limits.report import read_usage
from yunikorn_pool import read

CONFIG = """
partitions:
  - name: default
    queues:
      - name: root
        limits:
          - {users: ["*"], maxresources: {memory: 10G, vcore: 2}}
        queues:
          - name: a
            limits:
              - {users: [sue], groups: [dev], maxapplications: 2}
"""
QUEUES = QueueTree.of(read({"text": CONFIG}).partition.root, 0)


def charges(user, group, resources, applications, queue="root.a"):
    """The charges of sums, and those of sets of applications."""
    request = Request(
        submitter=user, schedd="", ad=Ad(), count=len(applications), first_job="1.0",
        queue=queue, user=user, group=group, resources=resources, applications=applications,
    )  # fmt: skip
    found = list(negotiator_charges(request, QUEUES, QueueLimits()))
    return [each for each in found if isinstance(each, Charge)], [
        each for each in found if not isinstance(each, Charge)
    ]


def test_every_level_is_charged_for_the_user_and_then_for_the_group():
    """From the leaf to the root, each resource, with or without a limit; applications are sets of keys."""
    sums, keys = charges("sue", "dev", {"memory": 5, "gpu": 1}, ["app"], "root.A")
    assert [(charge.counter, charge.amount, charge.limit) for charge in sums] == [
        (("user", "sue", "root.a", "memory"), 5, None),
        (("user", "sue", "root.a", "gpu"), 1, None),
        (("user", "sue", "root", "memory"), 5, 10 * 10**9),
        (("user", "sue", "root", "gpu"), 1, None),
        (("group", "dev", "root.a", "memory"), 5, None),
        (("group", "dev", "root.a", "gpu"), 1, None),
        (("group", "dev", "root", "memory"), 5, None),
        (("group", "dev", "root", "gpu"), 1, None),
    ]
    assert [(charge.counter, list(charge.keys), charge.limit) for charge in keys] == [
        (("user", "sue", "root.a"), ["app"], 2),
        (("user", "sue", "root"), ["app"], None),
        (("group", "dev", "root.a"), ["app"], 2),
        (("group", "dev", "root"), ["app"], None),
    ]


def test_without_a_group_only_the_user_is_charged():
    """An application of no group counts for its user alone."""
    sums, keys = charges("sue", "", {"memory": 5}, ["app"])
    assert {charge.counter[0] for charge in [*sums, *keys]} == {"user"}


def test_the_name_of_a_resource_never_gives_the_key_of_a_set():
    """Jobs name their resources themselves."""
    sums, keys = charges("sue", "dev", {"applications": 1, "": 1}, ["app"])
    assert not {charge.counter for charge in sums} & {charge.counter for charge in keys}


@pytest.mark.parametrize(
    ("sort", "at", "rule", "text", "line"),
    [
        (0, 0, "limit of user sue at root.a", "user sue in root.a", 11),
        (0, 1, "limit of user * at root", "user sue in root", 7),
        (1, 2, "limit of group dev at root.a", "running applications of group dev in root.a", 11),
        (1, 3, "usage of group dev", "running applications of group dev in root", None),
    ],
)
def test_a_label_names_the_limit_and_its_line(sort, at, rule, text, line):
    """Without a limit it names the user or group."""
    label = charges("sue", "dev", {"memory": 5}, ["app"])[sort][at].label
    assert (label.rule, label.text, label.source and label.source.line) == (rule, text, line)


def test_as_many_jobs_are_admitted_as_fit_the_smallest_limit():
    """In one call of the ledger; the label of the charge that refused the next job is its limit's."""
    ledger = Ledger()
    sums, keys = charges("bob", "dev", {"memory": 10**9, "vcore": 300}, ["one"] * 10_000)
    admitted = ledger.admit(sums, keys, np.arange(20_000), 10_000)
    assert len(admitted) == 6
    stopped = next(number for number, count in enumerate(admitted.refused) if count)
    assert sums[stopped].label.rule == "limit of user * at root"
    ledger.commit(admitted)
    usage = read_usage(ledger.counters(), ledger.counters().key_sets())
    assert usage[SubjectKind.GROUP, "dev"]["root"].resources == {"memory": 6 * 10**9, "vcore": 1800}
    assert usage[SubjectKind.USER, "bob"]["root.a"].applications == {"one": 6}


def test_applications_beyond_their_limit_are_passed_over():
    """Further jobs of running applications are admitted."""
    sums, keys = charges("sue", "", {"memory": 1}, ["a", "b", "c", "a", "c"])
    assert Ledger().admit(sums, keys, np.arange(9), 5).copies.tolist() == [0, 1, 3]


def test_two_configurations_are_separate():
    """Two bundles in one process: each queue tree has its own limits, however often they take turns."""
    other = QueueTree.of(read({"text": CONFIG.replace("10G", "3G")}).partition.root, 0)
    request = Request(
        submitter="sue", schedd="", ad=Ad(), count=1, first_job="1.0",
        queue="root", user="sue", resources={"memory": 1}, applications=("app",),
    )  # fmt: skip
    for _ in range(2):
        for queues, most in ((QUEUES, 10), (other, 3)):
            assert next(iter(negotiator_charges(request, queues, QueueLimits()))).limit == most * 10**9
