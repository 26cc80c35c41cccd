"""The groups of a user in requests: those of the job, else resolved ones; for waiting and running jobs and the journal."""

import attrs
import pytest

from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_bundle

PLUGIN = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_charges(request):
    yield Charge((request.user, *request.groups), 1, None, Quota(rule="r", text="t"))
"""
SLOTS = [slot(number) for number in range(4)]


def counted(folder, jobs, groups=(), journal=(), pool="placement: {groups: MY.Groups}\n"):
    """Return the users and groups that matches were charged on."""
    own = write_bundle(folder / "b", pool, plugins={"p": PLUGIN})
    state = attrs.evolve(CycleState.new(own, NOW), groups=dict(groups), journal=journal)
    result = run_cycle(snapshot(SLOTS, jobs), own, Cycle(1, NOW, own.digest), state)
    return {key[1:]: amount for key, amount in result.ledger.counters() if key[0] == "p"}


RUNS = {"JobStatus": "2", "RemoteHost": '"s0@h"'}


@pytest.mark.parametrize("more", [{}, RUNS], ids=["waits", "runs"])
@pytest.mark.parametrize(
    ("specified", "known", "wanted"),
    [
        ('"dev, ops"', None, ("dev", "ops")),
        ('"dev"', ("wheel",), ("dev",)),
        ('""', ("wheel",), ()),
        (None, ("wheel", "users"), ("wheel", "users")),
        (None, None, ()),
        ("{ 1 }", ("wheel",), ("wheel",)),
        ('"a,,a, b\x1b"', None, ("a",)),
    ],
)
def test_groups_come_from_the_job_or_are_resolved(tmp_path, more, specified, known, wanted):
    """The primary group is first; invalid names are omitted."""
    found = counted(tmp_path, [job(0, Groups=specified, **more)], {"tester": known} if known else {})
    assert found == {("tester", *wanted): 1}


def test_jobs_of_one_user_with_other_groups_are_other_requests(tmp_path):
    """Each is charged for its own groups."""
    jobs = [job(0, Groups='"a"'), job(1, Groups='"b"'), job(2, Groups='"a"'), job(3, Groups='"b"', **RUNS)]
    assert counted(tmp_path, jobs) == {("tester", "a"): 2, ("tester", "b"): 2}


def test_a_match_in_the_journal_has_the_groups_of_its_job(tmp_path):
    """Those that its user had at the match."""
    entry = JournalEntry(
        id="1.1",
        at=NOW,
        submitter="tester@d",
        schedd="",
        job="1.0",
        slot="s0@h",
        queue="root.default",
        user="tester",
        groups=("dev",),
        group="",
        application="#1",
        attributes=(),
    )
    assert counted(tmp_path, [], {"tester": ("wheel",)}, (entry,)) == {("tester", "dev"): 1}
