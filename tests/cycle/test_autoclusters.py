"""Autoclusters: jobs of one are equal in all that their own expressions read, by whatever way."""

from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from negotiator.bundle import default_bundle, load_bundle
from negotiator.classad import Ad, Table, parse
from negotiator.cycle.autoclusters import idle_autoclusters
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot

NAMES = ("A", "B", "C", "D")
SLOTS = Table.from_ads([Ad([("Name", "s"), ("Requirements", parse("true"))])])
VALUES = st.one_of(st.integers(0, 1).map(str), st.sampled_from(NAMES))
JOBS = st.lists(
    st.fixed_dictionaries(
        {"Requirements": st.sampled_from(["A > 0", "B > 0", "A + C > 0", "true"])},
        optional=dict.fromkeys(NAMES, VALUES),
    ),
    max_size=8,
)


@cache
def bundle():
    return load_bundle(default_bundle())


def clusters(jobs):
    """Return the number of the autocluster of each job, and its significant attributes."""
    table = Table.from_ads(Ad([(name, parse(text)) for name, text in each.items()]) for each in jobs)
    found = idle_autoclusters(SLOTS, table, bundle(), ())
    return [(number, found.significant[number]) for number in found.ids.tolist()]


def read(ad):
    """Return the attributes that the Requirements of an ad read, with their texts."""
    pending, found = ["Requirements"], {}
    while pending:
        name = pending.pop()
        if name not in found:
            found[name] = ad.get(name)
            pending += (each for each in NAMES if each in (found[name] or ""))
    return found


@given(JOBS)
def test_jobs_of_one_autocluster_are_equal_in_all_that_they_read(jobs):
    """What they read is significant, and jobs that are equal in everything are of one."""
    found = clusters(jobs)
    for one, (number, significant) in zip(jobs, found, strict=True):
        assert {name.lower() for name in read(one)} <= significant
        for other, (another, _) in zip(jobs, found, strict=True):
            assert number != another or read(one) == read(other)
            assert number == another or one != other


def test_a_job_is_matched_by_its_own_attributes_whatever_job_is_before_it():
    """Two jobs have the same Requirements; only one of them computes what these compare."""
    plain = job(0, Requirements="TARGET.Memory > Least", Least="5")
    computed = job(1, Requirements="TARGET.Memory > Least", Least="Deep - 1", Deep="6", RequestCpus="1")
    for jobs in ([plain, computed], [computed, plain]):
        result = run_cycle(snapshot([slot(0), slot(1)], jobs), bundle(), Cycle(1, NOW, bundle().digest))
        assert {match.job for match in result.matches} == {"1.0", "1.1"}
