"""What a match is charged: the list that admission, usage and headroom share."""

import numpy as np
import pytest

from negotiator.ledger import Ledger
from negotiator.queues.checks.limits import SubjectKind
from negotiator_limits import LimitIndex, charges_for, read_usage
from negotiator_limits.levels import levels
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
SCOPE = LimitIndex(read({"text": CONFIG}).partition.root)


def test_every_level_is_charged_for_the_user_and_then_for_the_group():
    """From the leaf to the root, each resource, whether or not it is limited there; applications are sets of keys."""
    sums, keys = charges_for(SCOPE, "sue", "dev", "root.A", {"memory": 5, "gpu": 1}, ["app"])
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
    sums, keys = charges_for(SCOPE, "sue", "", "root.a", {"memory": 5}, ["app"])
    assert {charge.counter[0] for charge in [*sums, *keys]} == {"user"}


def test_a_resource_of_any_name_is_no_set_of_applications():
    """Jobs name their resources themselves."""
    sums, keys = charges_for(SCOPE, "sue", "dev", "root.a", {"applications": 1, "": 1}, ["app"])
    assert not {charge.counter for charge in sums} & {charge.counter for charge in keys}


def test_amounts_may_differ_from_slot_to_slot():
    """They are handed on as they are, (N,) over the slots."""
    column = np.array([1, 2, 3], np.int64)
    sums, _ = charges_for(SCOPE, "sue", "", "root.a", {"memory": column}, ["app"])
    assert all(charge.amount is column for charge in sums)


@pytest.mark.parametrize(
    ("resource", "at", "needed", "used", "limit", "text"),
    [
        ("memory", 1, 2 * 10**9, 9 * 10**9, 10 * 10**9, ("user sue has memory 9G in root and would have memory 11G:"
         " the limit of user * at root is memory 10G (queues.yaml:7:13)")),
        ("vcore", 1, 500, 2000, 2000, ("user sue has vcore 2 in root and would have vcore 2500m:"
         " the limit of user * at root is vcore 2 (queues.yaml:7:13)")),
        ("", 2, 1, 2, 2, ("group dev has 2 running applications in root.a and would have 3 running applications:"
         " the limit of group dev at root.a is 2 running applications (queues.yaml:11:17)")),
    ],
)  # fmt: skip
def test_a_denial_names_the_limit_the_numbers_and_the_line(resource, at, needed, used, limit, text):
    """In the units in which people write amounts."""
    level = levels(SCOPE, "sue", "dev", "root.a")[at]
    assert level.label(resource).sentence(needed, used, limit) == text


def test_where_there_is_no_limit_nothing_is_denied_but_what_cannot_be_counted():
    """It says so, and names no limit."""
    level = levels(SCOPE, "sue", "", "root.made")[0]
    text = level.label("gpu").sentence(1, 2**63 - 1, 2**63 - 1)
    assert text.endswith("more than gpu 9223372036854775807 can't be counted")
    assert (level.label("gpu").rule, level.label("gpu").source) == ("", None)


def test_as_many_jobs_are_admitted_as_fit_the_smallest_limit():
    """With the ledger's own admission, in one call; the label of the charge that said stop is its limit's."""
    ledger = Ledger()
    usage = {"memory": 10**9, "vcore": 300}
    sums, keys = charges_for(SCOPE, "bob", "dev", "root.a", usage, ["one"] * 10_000)
    admitted = ledger.admit(sums, keys, np.arange(20_000), 10_000)
    assert len(admitted) == 6
    stopped = next(number for number, count in enumerate(admitted.refused) if count)
    assert sums[stopped].label.rule == "limit of user * at root"
    ledger.commit(admitted)
    usage = read_usage(ledger.counters(), ledger.counters().key_sets())
    assert usage[SubjectKind.GROUP, "dev"]["root"].resources == {"memory": 6 * 10**9, "vcore": 1800}
    assert usage[SubjectKind.USER, "bob"]["root.a"].applications == {"one": 6}


def test_applications_beyond_their_limit_are_passed_over():
    """Jobs of those that run already go on."""
    ledger = Ledger()
    sums, keys = charges_for(SCOPE, "sue", "", "root.a", {"memory": 1}, ["a", "b", "c", "a", "c"])
    assert ledger.admit(sums, keys, np.arange(9), 5).copies.tolist() == [0, 1, 3]
