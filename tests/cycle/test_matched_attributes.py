"""The journal stores what each match is charged for: the job's attributes, with amounts within what its slot holds."""

import pytest

from pools import cycle, job, slot, snapshot


def journaled(slots, **request):
    """Match one job for each slot; return the attributes of each entry by the name of its slot."""
    result = cycle(snapshot(slots, [job(number, **request) for number in range(len(slots))]))
    return {entry.slot: dict(entry.attributes) for entry in result.journal}


SIZES = [slot(0, Cpus="2", Memory="1000"), slot(1, Cpus="8", Memory="4000")]


@pytest.mark.parametrize(
    ("request_cpus", "small", "large"),
    [
        ("1", 1, 1),
        ("4", 2, 4),
        ("100", 2, 8),
        ("0", 1, 1),
        ('"4"', 2, 8),
        ("-1", 2, 8),
        ("TARGET.Cpus / 2", 1, 4),
        ("TARGET.Cpus * 3", 2, 8),
        (None, None, None),
        ("undefined", None, None),
        ("TARGET.Cpus > 4 ? 3 : undefined", None, 3),
    ],
)
def test_a_match_counts_for_what_it_requests_within_what_its_slot_holds(request_cpus, small, large):
    found = journaled(SIZES, RequestCpus=request_cpus)
    assert (found["s0@h"]["requestcpus"], found["s1@h"]["requestcpus"]) == (small, large)


def test_an_amount_keeps_its_type_where_it_is_no_whole_number():
    found = journaled(SIZES, RequestCpus="1.5", RequestMemory="TARGET.Memory / 3.0")
    assert found["s0@h"]["requestcpus"] == 1.5
    assert found["s1@h"]["requestmemory"] == pytest.approx(4000 / 3)


def test_a_match_is_named_by_its_row_where_its_slot_has_no_name():
    assert set(journaled([slot(0, Name=None), slot(1)])) == {"slot 0", "s1@h"}
