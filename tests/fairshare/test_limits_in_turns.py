"""Concurrency limits under ``order: submitters``: which requests they reject, with which names, and who has another turn."""

import pytest

from fair_share import FAIR, submitter
from pools import cycle, denials, job, slot, snapshot, write_bundle

SLOTS = [slot(number, Cpus="1", Rank="0") for number in range(6)]


@pytest.fixture
def serve(tmp_path):
    """Run one cycle over the queues of submitters, in their order: (submitter, list of limits, number of alike jobs).

    No slot fits the jobs whose places in the queues are ``unfit``.
    """

    def served(*queue, slots=SLOTS, limits="", knobs="", unfit=()):
        text = f"{FAIR}{knobs}\nconcurrency_limits: {{{limits}}}\n"
        bundle = write_bundle(tmp_path / f"b{len(list(tmp_path.iterdir()))}", text)
        jobs = [
            _job(cluster, number, name, list_, fits=cluster not in unfit)
            for cluster, (name, list_, count) in enumerate(queue)
            for number in range(count)
        ]
        names = dict.fromkeys(name for name, _, _ in queue)
        submitters = [submitter(name, LastHeardFrom=str(place)) for place, name in enumerate(names)]
        return cycle(snapshot(slots, jobs, submitters=submitters), bundle)

    return served


def _job(cluster, number, name, limits, *, fits):
    """Return a job that is unlike those of other clusters."""
    least = cluster if fits else 1_000_000
    own = {"Owner": f'"{name}"', "User": f'"{name}@d"', "ClusterId": str(cluster)}
    own |= {"GlobalJobId": f'"h#{cluster}.{number}#1"', "ConcurrencyLimits": limits}
    return job(number, **own, Requirements=f"TARGET.Memory > {least}")


def reasons(result):
    return [(each.submitter.partition("@")[0], each.reason) for each in result.order.rejections]


def ends(result):
    return [
        (turn.submitter.partition("@")[0], str(turn.end))
        for pie in result.order.pies
        for spin in pie.spins
        for turn in spin.turns
    ]


def test_a_rejection_names_the_limit_that_was_reached(serve):
    """Not that there is no slot, of which there are more."""
    result = serve(("ann", '"Lic"', 4), limits="lic: 2")
    assert len(result.matches) == 2
    assert reasons(result) == [("ann", "concurrency limit lic reached")]
    assert ends(result) == [("ann", "done")]


def test_a_constant_list_is_tested_before_slots_are_looked_at(serve):
    """Also if none fits."""
    result = serve(("ann", '"lic"', 1), limits="lic: 0", unfit=[0])
    assert reasons(result) == [("ann", "concurrency limit lic reached")]


def test_limits_are_named_until_slots_are_looked_at_again(serve):
    """The second rejection has the name of the first too; a request without limits looks at slots."""
    queue = [("ann", f'"{name}"', 1) for name in ("b", "a")]
    result = serve(*queue, ("ann", None, 1), ("ann", '"c"', 1), limits="a: 0, b: 0, c: 0")
    assert [reason for _, reason in reasons(result)] == [
        "concurrency limit b reached",
        "concurrency limit a, b reached",
        "concurrency limit c reached",
    ]


def test_only_the_first_limit_of_a_list_that_is_reached_is_named(serve):
    result = serve(("ann", '"c, b, a"', 1), limits="a: 0, b: 0, c: 1")
    assert reasons(result) == [("ann", "concurrency limit b reached")]


def test_the_empty_string_is_rejected_but_by_no_limit(serve):
    """As in condor_negotiator, whose reason is then what earlier requests of the turn left."""
    result = serve(("ann", '""', 1))
    assert reasons(result) == [("ann", "no match found")]
    assert codes(result) == {"concurrency_limit_invalid"}


def codes(result):
    return {each.reason.code for outcome in result.outcomes for each in outcome.removals}


SITES = [slot(number, Cpus="1", Rank="0", Site=f'"{site}"') for number, site in enumerate("xxyy")]
LIST = 'strcat("site_", TARGET.Site)'


def test_an_expression_is_tested_slot_by_slot(serve):
    """All limits that refused a slot are named."""
    result = serve(("ann", LIST, 2), slots=SITES, limits="site_x: 0, site_y: 0")
    assert reasons(result) == [("ann", "concurrency limit site_x, site_y reached")]


def test_limits_reached_after_slots_were_looked_at_are_no_reason(serve):
    """They let every slot pass when the first job was matched."""
    result = serve(("ann", LIST, 4), slots=SITES, limits="site_x: 1, site_y: 1")
    assert len(result.matches) == 2
    assert reasons(result) == [("ann", "no match found")]


def test_they_are_named_beside_one_that_was_reached_before(serve):
    result = serve(("ann", LIST, 4), slots=SITES, limits="site_x: 1, site_y: 0")
    assert len(result.matches) == 1
    assert reasons(result) == [("ann", "concurrency limit site_x, site_y reached")]


def test_an_expression_without_a_value_is_no_limit(serve):
    result = serve(("ann", "TARGET.Absent", 4), slots=SITES, knobs="CONCURRENCY_LIMIT_DEFAULT: 0")
    assert len(result.matches) == 4


WEIGHTS = [slot(number, Cpus=str(cpus), Rank="0") for number, cpus in enumerate((1, 1, 3))]
NO_PREEMPTION = "NEGOTIATOR_CONSIDER_PREEMPTION: false\n"


def test_a_submitter_resumes_after_a_limit_if_its_share_refused_a_slot_before(serve):
    """Its first job used 1 of 2.5: then the largest slot was too heavy, when slots were looked at for the second."""
    queue = [("ann", None, 1), ("ann", '"lic"', 2), ("sue", None, 1)]
    result = serve(*queue, slots=WEIGHTS, limits="lic: 1", knobs=NO_PREEMPTION)
    assert reasons(result)[0] == ("ann", "concurrency limit lic reached")
    assert ends(result)[0] == ("ann", "resume")


@pytest.mark.parametrize(("caching", "end"), [("true", "done"), ("false", "resume")])
def test_slots_are_looked_at_for_the_first_job_or_for_every_job(serve, caching, end):
    """By NEGOTIATOR_MATCHLIST_CACHING: for the second job, the largest slot is too heavy."""
    knobs = f"{NO_PREEMPTION}NEGOTIATOR_MATCHLIST_CACHING: {caching}"
    result = serve(("ann", '"lic"', 3), ("sue", None, 1), slots=WEIGHTS, limits="lic: 2", knobs=knobs)
    assert reasons(result)[0] == ("ann", "concurrency limit lic reached")
    assert ends(result)[0] == ("ann", end)


def test_a_limit_that_another_submitter_reaches_is_named_in_the_next_spin(serve):
    """In the first spin no slot fitted: the list is tested before that is considered."""
    queue = [("ann", '"lic"', 1), ("ann", None, 9), ("sue", '"lic"', 9)]
    result = serve(*queue, limits="lic: 1", knobs=NO_PREEMPTION, unfit=[0])
    of_ann = [reason for name, reason in reasons(result) if name == "ann"]
    assert of_ann[:2] == ["no match found", "concurrency limit lic reached"]


def test_a_limit_that_an_earlier_request_reaches_is_named_where_no_slot_fits(serve):
    """The list is tested before slots are looked at, also of requests that are served together."""
    result = serve(("ann", '"lic"', 1), ("ann", '"Lic"', 1), ("ann", None, 1), limits="lic: 1", unfit=[1])
    assert len(result.matches) == 2
    assert reasons(result) == [("ann", "concurrency limit lic reached")]


def test_jobs_alike_are_rejected_once_although_others_are_between_them(serve):
    result = serve(("ann", None, 1), ("ann", '"lic"', 1), ("ann", None, 1), limits="lic: 1", unfit=[0, 2])
    assert len(result.matches) == 1
    assert reasons(result) == [("ann", "no match found")]


def test_a_request_that_a_limit_rejects_has_the_numbers_in_its_reason(serve):
    """It has a turn although no slot is looked at."""
    result = serve(("ann", '"lic"', 1), limits="lic: 0")
    ((code, _, _, numbers),) = denials(result)
    assert (code, numbers) == ("concurrency_limit", {"needed": 1.0, "used": 0.0, "limit": 0.0})
