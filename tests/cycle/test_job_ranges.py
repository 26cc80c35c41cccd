"""Ids of jobs as ranges."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from negotiator.cycle.jobs import JobRanges, parse_ranges

JOBS = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 12)))
REPEATED = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)))


def ranges_of(jobs):
    pairs = np.array([*jobs], np.int64).reshape(-1, 2)
    return JobRanges.of(pairs[:, 0], pairs[:, 1])


@given(JOBS)
def test_ranges_have_each_job_and_no_other(jobs):
    ranges = ranges_of(jobs)
    assert ranges.jobs == len(jobs)
    for cluster in range(6):
        assert ranges.has(str(cluster)) == any(each == cluster for each, _ in jobs)
        assert all(ranges.has(f"{cluster}.{proc}") == ((cluster, proc) in jobs) for proc in range(14))


@given(JOBS)
def test_texts_of_ranges_are_as_few_as_possible_and_read_back(jobs):
    ranges = ranges_of(jobs)
    assert parse_ranges(ranges.texts(1000)) == ranges
    assert len(ranges) == sum((cluster, proc - 1) not in jobs for cluster, proc in jobs)


@given(REPEATED)
def test_a_job_that_is_given_twice_is_in_one_range(jobs):
    assert ranges_of(jobs) == ranges_of(set(jobs))


def test_a_range_of_one_job_is_its_id():
    assert ranges_of({(12, 0), (12, 1), (12, 2), (13, 7)}).texts(9) == ["12.0-2", "13.7"]
