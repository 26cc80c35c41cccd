"""A pool is changed as if there were more slots or jobs, fewer, or others."""

import attrs
import numpy as np
import pytest

from negotiator.classad import Environment, Table, parse, unparse
from negotiator.classad.tables import AdDictionary
from negotiator.cycle.jobs import schedds, submitters
from negotiator.explain.whatif import fewer_slots, more_jobs, more_slots, selected, with_values
from pools import NOW, ad, cycle, job, slot, snapshot


@pytest.fixture(params=["read", "made"])
def table(request):
    """Return a function that makes a table of ads, as a reader of pools does or from ads alone."""

    def make(*ads):
        return Table.from_ads(ads, AdDictionary() if request.param == "read" else None).frozen()

    return make


def texts(found, name):
    return [None if (tree := each.get(name)) is None else unparse(tree) for each in found.ads]


def test_values_replace_those_of_the_chosen_rows(table):
    found = table(ad(Memory="10", Cpus="1"), ad(Memory="Cpus * 7", Cpus="2"), ad(Cpus="3"), ad(Memory="40"))
    changed = with_values(
        found,
        np.array([True, True, True, False]),
        [("memory", parse("Memory * 2")), ("Start", parse("MY.Cpus > 1")), ("Cpus", 8)],
    )
    assert texts(changed, "Memory") == ["20", "Cpus * 7 * 2", "undefined * 2", "40"]
    assert texts(changed, "Start") == ["MY.Cpus > 1"] * 3 + [None]
    assert texts(changed, "Cpus") == ["8", "8", "8", None]
    assert texts(found, "Cpus") == ["1", "2", "3", None]


def test_requirements_may_be_narrowed(table):
    found = with_values(
        table(job(Requirements="TARGET.Memory > 5 || MY.A")),
        np.array([True]),
        [("Requirements", parse("(Requirements) && TARGET.Cpus > 2"))],
    )
    assert texts(found, "Requirements") == ["(TARGET.Memory > 5 || MY.A) && TARGET.Cpus > 2"]


def test_rows_are_selected_by_an_expression(table):
    found = table(slot(0, Cpus="1"), slot(1, Cpus="8"), slot(2, Cpus="undefined"))
    assert selected(found, parse("Cpus > 4"), Environment(now=NOW)).tolist() == [False, True, False]


def claimed(**more):
    own = {"State": '"Claimed"', "RemoteUser": '"bob@d"', "JobId": '"7.0"', "ChildState": "{ 1 }"}
    return slot(0, **own, **more)


def test_added_slots_are_free_and_on_machines_of_their_own():
    pool = snapshot([claimed(Cpus="1", TotalSlotCpus="4"), slot(1)], [job(n) for n in range(5)])
    pool = attrs.evolve(pool, claim_ids=(0, 1))
    found = more_slots(pool, 2, 0, [("Memory", 9000)])
    assert texts(found.slots, "Name") == ['"s0@h"', '"s1@h"', '"s0@added1.h"', '"s0@added2.h"']
    assert texts(found.slots, "Machine")[2:] == ['"added1.h"', '"added2.h"']
    assert texts(found.slots, "RemoteUser") == ['"bob@d"', None, None, None]
    assert (texts(found.slots, "Cpus"), texts(found.slots, "Memory")) == (
        ["1", "4", "4", "4"],
        ["4096", "4096", "9000", "9000"],
    )
    assert found.claim_ids == (0, 1, 1, 1)
    assert {each.slot for each in cycle(found).matches} == {"s1@h", "s0@added1.h", "s0@added2.h"}
    assert texts(more_slots(found, 1, 0, ()).slots, "Machine")[-1] == '"added3.h"'


def test_the_jobs_of_removed_slots_are_gone():
    running = job(1, JobStatus="2", RemoteHost='"S0@h"')
    pool = snapshot([claimed(), slot(1)], [job(0, RemoteHost='"s0@h"'), running])
    found = fewer_slots(pool, np.array([True, False]))
    assert (texts(found.slots, "Name"), texts(found.jobs, "ProcId")) == (['"s1@h"'], ["0"])


def test_added_jobs_are_idle_and_their_submitters_known():
    running = job(3, JobStatus="2", RemoteHost='"s0@h"', GlobalJobId='"schedd#1.3#5"')
    known = ad(Name='"tester@d"', ScheddName='"Schedd"', IdleJobs="4")
    pool = snapshot([slot(0)], [running], submitters=[known])
    found = more_jobs(pool, 2, 0, (), NOW)
    assert (texts(found.jobs, "ClusterId"), texts(found.jobs, "ProcId")) == (["1", "2", "2"], ["3", "0", "1"])
    assert (texts(found.jobs, "JobStatus"), texts(found.jobs, "RemoteHost")) == (
        ["2", "1", "1"],
        ['"s0@h"', None, None],
    )
    assert schedds(found.jobs).tolist() == ["schedd"] * 3
    assert texts(found.jobs, "QDate")[1:] == [str(int(NOW))] * 2
    assert texts(found.submitters, "IdleJobs") == ["6"]
    other = more_jobs(pool, 2, 0, [("Owner", "ann"), ("User", "ann@d")], NOW)
    assert submitters(other.jobs).tolist() == ["tester@d", "ann@d", "ann@d"]
    assert (texts(other.submitters, "Name"), texts(other.submitters, "IdleJobs")) == (
        ['"tester@d"', '"ann@d"'],
        ["4", "2"],
    )
    assert len(more_jobs(snapshot([], [running]), 2, 0, (), NOW).submitters) == 0
