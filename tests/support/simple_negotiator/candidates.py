"""The slots that fit a request, best first (rules 27 to 30 and 35 to 38)."""

from negotiator.classad import is_true
from simple_negotiator.expressions import LARGEST, is_so, number, single, value_of

NO_PREEMPTION, BY_RANK, BY_PRIORITY = 2, 1, 0


class Candidate:
    """A slot that fits a request, and how good it is."""

    def __init__(self, slot, state, ranks):
        self.slot, self.state, self.ranks = slot, state, ranks


def candidates(cycle, turn, request, only_rank):
    """Return the slots for a request, best first, and the marks of why others were refused (25)."""
    found, marks = [], set()
    for slot in cycle.slots:
        cycle.describe_user(slot)
        if not _fits(slot, request, turn):
            continue
        state = preemption_state(cycle.knobs, slot, request, turn.name, only_rank)
        if isinstance(state, str):
            marks.add(state)
        elif not turn.allows(slot, state):
            marks.add("limit")
        elif (name := per_slot_limit(cycle, slot, request)) is not None:
            marks |= {"concurrency"} if name else set()
            turn.limit_names |= {name} - {""}
        else:
            found.append(Candidate(slot, state, ranks(cycle.knobs, slot, request, state)))
    found.sort(key=lambda each: each.ranks, reverse=True)
    return found, marks


def _fits(slot, request, turn):
    schedd = slot.claimed_whole and slot.ad.string("RemoteScheddName")
    return (
        not (schedd and schedd != f"{turn.schedd}.example.org")
        and is_true(slot.ad.evaluate("Requirements", request))
        and is_true(request.evaluate("Requirements", slot.ad))
    )


def preemption_state(knobs, slot, request, submitter, only_rank):
    """Return how a slot would be taken, or the mark of why it is not (37)."""
    if slot.user is None:
        return "rank" if only_rank else NO_PREEMPTION
    current = "CurrentRank" if slot.ad.real("PreemptingRank") is None else "PreemptingRank"
    if is_so(f"MY.Rank > MY.{current}", slot.ad, request):
        return BY_RANK
    if only_rank or slot.user == submitter:
        return "rank"
    if not required(knobs, slot, request):
        return "requirements"
    return BY_PRIORITY if is_so(f"MY.Rank >= MY.{current}", slot.ad, request) else "rank"


def required(knobs, slot, request):
    """Return whether PREEMPTION_REQUIREMENTS allow it: the boolean true only."""
    text = knobs.text("PREEMPTION_REQUIREMENTS")
    return text is None or value_of(text, slot.ad, request) is True


def per_slot_limit(cycle, slot, request):
    """Return the name of the limit that the request would pass on this slot (43)."""
    if isinstance(request.evaluate("ConcurrencyLimits"), str):
        return None
    text = request.evaluate("ConcurrencyLimits", slot.ad)
    return cycle.limits.reached(text) if isinstance(text, str) else None


def ranks(knobs, slot, request, state):
    """Return the ranks of a slot for a request, the most important first (28)."""
    job_rank = number(request.evaluate("Rank", slot.ad), 0.0)
    return (
        _rank(knobs, "NEGOTIATOR_PRE_JOB_RANK", slot, request),
        job_rank,
        _rank(knobs, "NEGOTIATOR_POST_JOB_RANK", slot, request),
        state,
        -LARGEST if state == NO_PREEMPTION else preemption_rank(knobs, slot, request),
    )


def preemption_rank(knobs, slot, request):
    """Return how good it is to preempt the job of a slot, among slots that are equal in all else."""
    return _rank(knobs, "PREEMPTION_RANK", slot, request)


def _rank(knobs, name, slot, request):
    text = knobs.text(name)
    value = number(value_of(text, slot.ad, request)) if text else None
    return -LARGEST if value is None else single(value)
