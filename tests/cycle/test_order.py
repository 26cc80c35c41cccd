"""The station *order* as an iterative allocator: allowances, several turns, and feedback."""

import attrs
import numpy as np
import pytest

from negotiator.cycle.loop import run_cycle
from negotiator.cycle.order import SubmitterNameOrder
from negotiator.errors import BundleError, PluginFailureError
from negotiator.plugin import Cycle, RequestOrder, StopCause, WaitReason
from pools import NOW, job, matched, slot, snapshot, write_bundle

QUOTA = """
from negotiator.plugin import Charge, Quota, hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_charges(request, slots):
    if request.submitter.startswith("bad"):
        raise ValueError("unable")
    yield Charge(("one",), 1, 2, Quota(rule="two", text="at most two"))
"""

FILTER = """
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_filter_slots():
    raise ValueError("unable")
"""

CHANGING = """
import numpy as np
from negotiator.plugin import Filter, hookimpl

def refusing(code, rows, slots):
    allow = ~np.isin(np.arange(len(slots)), rows)
    return Filter(rule=code, allow=allow, code=code, text="refused")

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_filter_slots(request, slots):
    left = request.count
    yield refusing("always", [0], slots)
    yield refusing(f"only{left}", [4, 3, 2][: 5 - left], slots)
"""


class Spins(RequestOrder):
    """Gives each request one job a turn, in turns, until something other than its allowance stops it."""

    def __init__(self, context):
        self.waiting = [request.without([], allowance=1) for request in context.requests]
        self.feedbacks = []

    def next(self):
        return self.waiting.pop(0) if self.waiting else None

    def feedback(self, feedback):
        self.feedbacks.append(feedback)
        rest = feedback.queued.without(feedback.copies, allowance=1)
        if rest is not None and feedback.cause is StopCause.ALLOWANCE:
            self.waiting.append(rest)


FAILING = """
from negotiator.plugin import OrderResult, RequestOrder, RequestOrderType, hookimpl

class Failing(RequestOrder):
    def __init__(self, context):
        self.context = context
    def next(self):
        BODY
    def feedback(self, feedback):
        pass

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="failing", make=Failing)
"""


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("raise KeyError('no such user')", "KeyError: 'no such user'"),
        ("return 7", "wrong answer: expected a QueuedRequest or None, got int"),
    ],
)
def test_an_allocator_that_fails_ends_the_cycle_with_its_plugin_and_line(tmp_path, body, text):
    bundle = write_bundle(tmp_path / "b", "order: failing\n", {"f": FAILING.replace("BODY", body)})
    with pytest.raises(PluginFailureError, match="plugin f: its order failed: ") as failed:
        run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))
    assert text in str(failed.value)
    if "raise" in body:
        assert str(failed.value).endswith("f.py:8)")


def test_ranks_that_a_plugin_cannot_give_refuse_the_bundle(tmp_path):
    source = FAILING.replace("BODY", "return None").replace(
        "make=Failing", "make=Failing, ranks=lambda settings: 1 / 0"
    )
    with pytest.raises(BundleError, match="ranks of the order failing: ZeroDivisionError"):
        write_bundle(tmp_path / "b", "order: failing\n", {"f": source})


def jobs_of(user, count):
    return [job(number, Owner=f'"{user}"', User=f'"{user}@d"', ClusterId="7") for number in range(count)]


@pytest.fixture
def plain(tmp_path):
    return write_bundle(tmp_path / "plain")


@pytest.fixture
def limited(tmp_path):
    return write_bundle(tmp_path / "limited", plugins={"q": QUOTA})


def run(bundle, slots, jobs, make_order):
    pool = snapshot([slot(number) for number in range(slots)], jobs)
    return run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest), make_order=make_order)


def causes(bundle, slots, jobs):
    """Return why each turn ended under the order by names, how many slots it got, and how many jobs are left."""
    feedbacks = []

    class Recorded(SubmitterNameOrder):
        run = RequestOrder.run

        def feedback(self, feedback):
            feedbacks.append(feedback)

    run(bundle, slots, jobs, Recorded.of)
    return [(each.cause, len(each.slots), each.left) for each in feedbacks]


def test_submitters_are_ordered_by_name_and_each_has_one_turn(plain):
    jobs = [*jobs_of("sue", 2), *jobs_of("ann", 2)]
    result = run(plain, 3, jobs, SubmitterNameOrder.of)
    assert [match.submitter for match in result.matches] == ["ann@d", "ann@d", "sue@d"]


def test_an_allowance_of_one_job_lets_submitters_take_turns(plain):
    """A request with several turns has one outcome, and its matches are numbered in their order."""
    result = run(plain, 3, [*jobs_of("sue", 3), *jobs_of("ann", 3)], Spins)
    ids = {match.id: match.submitter for match in result.matches}
    assert ids == {"1.1": "ann@d", "1.2": "sue@d", "1.3": "ann@d"}
    assert [match.job for match in result.matches] == ["7.0", "7.1", "7.0"]
    ann, sue = result.outcomes
    assert (ann.request.count, len(ann.matches), ann.first_unmatched) == (3, 2, "7.2")
    assert (sue.unmatched, sue.first_unmatched, len(result.journal)) == (2, "7.1", 3)
    assert [entry.slot for entry in result.journal] == ["s0@h", "s1@h", "s2@h"]


def test_with_one_submitter_several_turns_give_the_matches_of_one_turn(limited):
    for slots in (1, 2, 5):
        results = [run(limited, slots, jobs_of("ann", 4), make) for make in (SubmitterNameOrder.of, Spins)]
        assert matched(results[0]) == matched(results[1])
        assert results[0].outcomes[0].first_unmatched == results[1].outcomes[0].first_unmatched


def test_the_feedback_has_the_cause_of_the_end_of_a_turn(plain, limited):
    assert causes(plain, 3, jobs_of("ann", 2)) == [(StopCause.SERVED, 2, 0)]
    assert causes(plain, 1, jobs_of("ann", 2)) == [(StopCause.NO_SLOTS, 1, 1)]
    assert causes(plain, 0, jobs_of("ann", 1)) == [(StopCause.NO_SLOTS, 0, 1)]
    assert causes(limited, 5, jobs_of("ann", 3)) == [(StopCause.QUOTA, 2, 1)]
    assert causes(limited, 5, jobs_of("bad", 1)) == [(StopCause.FAILURE, 0, 1)]


def test_the_feedback_of_a_failed_filter_is_a_failure(tmp_path):
    bundle = write_bundle(tmp_path / "broken", plugins={"f": FILTER})
    assert causes(bundle, 5, jobs_of("ann", 2)) == [(StopCause.FAILURE, 0, 2)]


def test_the_feedback_counts_all_jobs_without_a_slot(plain):
    """Also those that cannot be matched, because there are fewer slots."""
    assert causes(plain, 2, jobs_of("ann", 9)) == [(StopCause.NO_SLOTS, 2, 7)]
    orders = []
    run(plain, 2, jobs_of("ann", 9), lambda requests: orders.append(Spins(requests)) or orders[0])
    assert [each.left for each in orders[0].feedbacks] == [8, 7, 7]


def test_the_feedback_of_a_spent_allowance_has_the_slots_and_the_jobs(plain):
    orders = []
    run(plain, 4, jobs_of("ann", 2), lambda requests: orders.append(Spins(requests)) or orders[0])
    first, second = orders[0].feedbacks
    assert (first.cause, first.left, first.slots.tolist(), first.copies.tolist()) == (
        StopCause.ALLOWANCE,
        1,
        [0],
        [0],
    )
    assert (second.cause, second.left, second.slots.tolist()) == (StopCause.SERVED, 0, [1])
    assert [reason.code for reason in second.denied] == ["taken"]


def test_rejections_name_each_request_with_jobs_left_and_the_decisive_reason(limited):
    """The reason is the one that took the last candidate slots."""
    jobs = [*jobs_of("ann", 3), *jobs_of("bob", 1), *jobs_of("bad", 1)]
    jobs += [job(1, ClusterId="9", Owner='"zed"', User='"zed@d"', Requirements="TARGET.Cpus > 99")]
    result = run(limited, 5, jobs, SubmitterNameOrder.of)
    rejected = [(each.submitter, each.jobs, each.first_job, each.reason.code) for each in result.rejections]
    assert rejected == [
        ("ann@d", 1, "7.2", "quota"),
        ("bad@d", 1, "7.0", "plugin_error"),
        ("bob@d", 1, "7.0", "quota"),
        ("zed@d", 1, "9.1", "job_requirements"),
    ]


def test_jobs_beyond_the_slots_are_rejected_for_lack_of_slots(plain):
    (rejection,) = run(plain, 1, jobs_of("ann", 3), SubmitterNameOrder.of).rejections
    assert (rejection.jobs, rejection.first_job, rejection.reason.code) == (2, "7.1", "no_slots_left")


def turns(number):
    """Return an order that ends after a number of turns, of one job each."""

    class Some(Spins):
        def next(self):
            return super().next() if len(self.feedbacks) < number else None

    return Some


def test_jobs_beyond_an_allowance_are_rejected_because_of_the_allowance(plain):
    """Not for lack of slots, of which some are free."""
    result = run(plain, 5, jobs_of("ann", 4), turns(2))
    (rejection,) = result.rejections
    assert (rejection.jobs, rejection.reason.code, rejection.reason.provenance.station) == (
        2,
        "allowance_used",
        "order",
    )
    counts = [(each.reason.code, each.removed, each.rejected) for each in result.outcomes[0].removals]
    assert counts == [("taken", 1, 1), ("allowance_used", 3, 3)]


def test_the_order_may_say_why_an_allowance_ended(plain):
    class Explained(turns(2)):
        def wait_reason(self, queued):
            return WaitReason("nights", "too_early", f"{queued.request.user} works at night", {"hour": 17})

    (rejection,) = run(plain, 5, jobs_of("ann", 4), Explained).rejections
    reason = rejection.reason
    assert (rejection.jobs, reason.code, reason.numbers) == (2, "too_early", {"hour": 17})
    assert reason.text == "ann works at night"


def test_an_allowance_extended_by_a_later_turn_is_not_a_reason(limited):
    (rejection,) = run(limited, 5, jobs_of("ann", 4), Spins).rejections
    assert (rejection.jobs, rejection.reason.code) == (2, "quota")
    (outcome,) = run(limited, 5, jobs_of("ann", 4), Spins).outcomes
    assert [each.reason.code for each in outcome.removals] == ["taken", "quota"]


def test_an_outcome_has_the_reasons_of_all_turns_with_their_largest_counts(tmp_path):
    """Reasons of earlier turns come first, those of the last turn last, if a filter refuses other slots at each turn."""
    bundle = write_bundle(tmp_path / "turns", plugins={"f": CHANGING})
    (outcome,) = run(bundle, 7, jobs_of("ann", 4), turns(3)).outcomes
    counts = [(each.reason.code, each.removed) for each in outcome.removals]
    assert counts == [
        ("only4", 1),
        ("only3", 2),
        ("always", 1),
        ("only2", 3),
        ("taken", 1),
        ("allowance_used", 1),
    ]


class Scored(SubmitterNameOrder):
    """Prefers the last slots."""

    run = RequestOrder.run

    def next(self):
        queued = super().next()
        return queued and attrs.evolve(queued, scores=np.arange(3.0))


def test_an_order_may_sort_slots_before_the_rank_of_jobs(plain):
    ads = snapshot(
        [slot(number) for number in range(3)], [job(0, Rank="-TARGET.Cpus"), job(1, Rank="random()")]
    )
    scored = run_cycle(ads, plain, Cycle(1, NOW, plain.digest), make_order=Scored.of)
    assert matched(scored) == [("1.0", "s2@h"), ("1.1", "s1@h")]


@pytest.mark.parametrize("scores", ["[1.0]", "np.zeros(1, int)", "np.zeros(2)", "np.zeros((1, 1))"])
def test_scores_that_are_not_one_number_a_slot_end_the_cycle_with_the_plugin(tmp_path, scores):
    body = f"import attrs, numpy as np; return attrs.evolve(self.context.requests[0], scores={scores})"
    bundle = write_bundle(tmp_path / "b", "order: failing\n", {"f": FAILING.replace("BODY", body)})
    with pytest.raises(PluginFailureError, match=r"plugin f: its order failed: .*scores of a QueuedRequest"):
        run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))


@pytest.mark.parametrize(
    "victims", ["7", "PreemptionVictims([True], 'r', 't')", "PreemptionVictims(np.ones(2, bool), 'r', 't')"]
)
def test_victims_that_are_not_a_mask_of_the_slots_end_the_cycle_with_the_plugin(tmp_path, victims):
    body = (
        "import attrs, numpy as np; from negotiator.plugin import ClaimedAllowance, PreemptionVictims, SlotAllowance; "
        f"claimed = ClaimedAllowance(1.0, victims={victims}); "
        "slots = SlotAllowance(np.ones(1), 1.0, 1.0, claimed=claimed); "
        "return attrs.evolve(self.context.requests[0], slots=slots)"
    )
    bundle = write_bundle(tmp_path / "b", "order: failing\n", {"f": FAILING.replace("BODY", body)})
    with pytest.raises(
        PluginFailureError, match=r"plugin f: its order failed: .*(victims|PreemptionVictims)"
    ):
        run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))


@pytest.mark.parametrize("recheck", ["7", "CandidateRecheck(True, True, anew=7)"])
def test_a_recheck_that_is_none_ends_the_cycle_with_the_plugin(tmp_path, recheck):
    body = (
        "import attrs; from negotiator.plugin import CandidateRecheck; "
        f"return attrs.evolve(self.context.requests[0], recheck={recheck})"
    )
    bundle = write_bundle(tmp_path / "b", "order: failing\n", {"f": FAILING.replace("BODY", body)})
    with pytest.raises(PluginFailureError, match=r"plugin f: its order failed: .*CandidateRecheck"):
        run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))


def test_the_feedback_counts_the_candidates_of_the_turn(plain):
    order = []

    def make(context):
        order.append(Spins(context))
        return order[0]

    ads = snapshot([slot(0), slot(1, Requirements="false"), slot(2)], [job(number) for number in range(3)])
    run_cycle(ads, plain, Cycle(1, NOW, plain.digest), make_order=make)
    assert [each.candidates for each in order[0].feedbacks] == [2, 1, 0]


def test_a_check_of_queues_that_fails_refuses_the_bundle(tmp_path):
    source = FAILING.replace("BODY", "return None").replace(
        "make=Failing", "make=Failing, check_queues=lambda partition: [1 / 0]"
    )
    with pytest.raises(
        BundleError, match="plugin f: check of queues by the order failing: ZeroDivisionError"
    ):
        write_bundle(tmp_path / "b", "order: failing\n", {"f": source})


BY_SLOT = """
import numpy as np
from negotiator.plugin import Charge, Mode, Quota, hookimpl

def quota(name, **more):
    return Quota(rule=name, text=name, name=name, **({"code": "licence"} | more))

@hookimpl
def negotiator_job_attributes():
    return []

@hookimpl
def negotiator_charges(request, slots):
    first = (np.arange(len(slots)) == 0).astype(np.int64)
    yield Charge(("everywhere",), 1, 2, quota("everywhere"))
    yield Charge(("first",), first, 1, quota("first"))
    yield Charge(("probed",), 0, first - 1, quota("probed"), probes=True)
    yield Charge(("free",), 0, -1, quota("free"))
    yield Charge(("other",), 1, 9, quota("other", code="other"))
    yield Charge(("watched",), 1, 0, quota("watched", mode=Mode.WARN))
"""


class Asking(RequestOrder):
    """Reads which quotas refuse the first request, before and after its turn."""

    def __init__(self, context):
        self.context, self.left, self.found = context, list(context.requests), []
        self.ask(self.left[0])

    def ask(self, queued):
        refusals = self.context.refusals(queued, "licence")
        slots = [None if each.slots is None else each.slots.tolist() for each in refusals]
        self.found.append(dict(zip([each.quota.name for each in refusals], slots, strict=True)))

    def next(self):
        return self.left.pop() if self.left else None

    def feedback(self, feedback):
        self.ask(feedback.queued)


def test_an_order_reads_which_quotas_refuse_a_request(tmp_path):
    """With a code, in their order: on every slot (None), or on some; what others were granted since counts."""
    bundle = write_bundle(tmp_path / "b", plugins={"q": BY_SLOT})
    slots = [slot(number, Rank=str(-number)) for number in range(3)]
    orders = []

    def make(context):
        orders.append(Asking(context))
        return orders[0]

    pool = snapshot(slots, [job(0), job(1)])
    result = run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest), make_order=make)
    before, after = orders[0].found
    assert matched(result) == [("1.0", "s0@h")]
    assert before == {"probed": [False, True, True]}
    assert after == {"first": [True, False, False], "probed": [False, True, True]}


class Kinds(RequestOrder):
    """Serves nobody, and remembers the kind of each request by its first job."""

    def __init__(self, context):
        self.kinds = {each.request.first_job: each.kind for each in context.requests}

    def next(self):
        return None

    def feedback(self, feedback):
        pass


def test_jobs_of_one_autocluster_of_a_schedd_are_of_one_kind(tmp_path):
    """Though they are unlike here; those without AutoClusterId, or of another user, are not."""
    bundle = write_bundle(tmp_path / "b", "accounting: {trust_names: true}\n")
    unlike = [{"Requirements": f"TARGET.Cpus > {number}"} for number in range(5)]
    own = {"AutoClusterId": "7"}
    other = {"Owner": '"sue"', "User": '"sue@d"'}
    changed = [own, own, {"AutoClusterId": "8"}, {}, own | other]
    jobs = [job(number, **unlike[number], **more) for number, more in enumerate(changed)]
    orders = []

    def make(context):
        orders.append(Kinds(context))
        return orders[0]

    run_cycle(snapshot([slot()], jobs), bundle, Cycle(1, NOW, bundle.digest), make_order=make)
    kinds = orders[0].kinds
    assert kinds["1.0"] == kinds["1.1"]
    assert len({kinds[f"1.{number}"] for number in range(1, 5)}) == 4


WITHHOLDING = """
import numpy as np
from negotiator.plugin import RequestOrder, RequestOrderType, SlotOffer, WithheldSlots, hookimpl

class Withholding(RequestOrder):
    def __init__(self, context):
        self.context, self.left = context, list(context.requests)
    def offer(self):
        return SlotOffer(self.context.slots, (WithheldSlots(np.ones(SIZE, bool), "calendar", "closed", "the pool is closed"),))
    def next(self):
        return self.left.pop(0) if self.left else None
    def feedback(self, feedback):
        pass

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="withholding", make=Withholding)
"""


def test_an_order_may_withhold_slots_for_a_reason_of_its_own(tmp_path):
    bundle = write_bundle(tmp_path / "b", "order: withholding\n", {"f": WITHHOLDING.replace("SIZE", "1")})
    result = run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))
    (rejection,) = result.rejections
    assert (rejection.reason.code, rejection.reason.text) == ("closed", "the pool is closed")
    assert str(rejection.reason.provenance) == "f: calendar"


def test_an_offer_of_other_slots_is_refused(tmp_path):
    bundle = write_bundle(tmp_path / "b", "order: withholding\n", {"f": WITHHOLDING.replace("SIZE", "7")})
    with pytest.raises(PluginFailureError, match=r"expected an offer of 1 slots, got one of \[1, 7\]"):
        run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))


RUNS = """
import attrs

from negotiator.plugin import RequestOrder, RequestOrderType, RequestRun, hookimpl

class Runs(RequestOrder):
    def __init__(self, context):
        self.left = list(context.requests)

    def run(self):
        return RequestRun([CHANGED for each in self.left]) if self.left else None

    def served(self, run):
        first, self.left = self.left[: len(run.slots)], self.left[len(run.slots) :]
        return RETURNED

    def next(self):
        return self.left.pop(0) if self.left else None

    def feedback(self, feedback):
        pass

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="runs", make=Runs)
"""


def run_of(tmp_path, changed="each", returned="first"):
    """Return the result under an order that gives all requests in one run: of three jobs the second one matches no slot."""
    source = RUNS.replace("CHANGED", changed).replace("RETURNED", returned)
    bundle = write_bundle(tmp_path / "b", "order: runs\n", {"r": source})
    never = job(1, Requirements="false")
    pool = snapshot([slot(0), slot(1), slot(2)], [job(0, Requirements="true"), never, job(2)])
    return run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest))


def test_an_order_that_gives_many_requests_at_once_has_turns_for_those_that_get_no_slot(tmp_path):
    result = run_of(tmp_path)
    assert matched(result) == [("1.0", "s0@h"), ("1.2", "s1@h")]
    assert [each.first_job for each in result.rejections] == ["1.1"]


@pytest.mark.parametrize(
    ("changed", "returned", "text"),
    [
        ("attrs.evolve(each, allowance=0)", "first", "with all of their jobs"),
        ("each.request", "first", "QueuedRequest in the requests of a RequestRun, got Request"),
        ("each", "[]", "expected 2 turns of a run, got 0"),
    ],
)
def test_a_run_of_other_requests_ends_the_cycle_with_the_plugin(tmp_path, changed, returned, text):
    with pytest.raises(PluginFailureError, match=f"plugin r: its order failed: .*{text}"):
        run_of(tmp_path, changed, returned)
