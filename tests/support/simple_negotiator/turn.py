"""The turn of one submitter in a spin (rules 15, 16, 18, 20 and 22 to 25)."""

from simple_negotiator.candidates import (
    BY_PRIORITY,
    BY_RANK,
    NO_PREEMPTION,
    candidates,
    per_slot_limit,
    preemption_rank,
    required,
)
from simple_negotiator.expressions import number

REASONS = {
    "requirements": "PREEMPTION_REQUIREMENTS == False",
    "limit": "submitter limit exceeded",
}


class Turn:
    """One submitter's turn: what it may use, what it used, and how it ended."""

    def __init__(self, cycle, ad, limit, unclaimed_limit, headroom, context, may_go_on):
        self.cycle, self.ad, self.name, self.schedd = cycle, ad, ad.name, ad.schedd
        self.limit, self.unclaimed_limit, self.headroom = limit, unclaimed_limit, headroom
        self.context, self.may_go_on = context, may_go_on
        self.used = self.used_unclaimed = 0.0
        self.only_rank = self.refused_for_limit = False
        self.matched = self.rejected = 0
        self.stopped = None
        self.marks, self.limit_names, self.list_limit_names = set(), set(), set()
        self.list_key, self.list, self.list_marks = None, [], set()

    def allows(self, slot, state):
        """Return whether the limit allows a slot while the list is made (16)."""
        if state == BY_PRIORITY:
            return _permits(self.used, slot.weight, self.limit)
        return state == BY_RANK or _permits(self.used_unclaimed, slot.weight, self.unclaimed_limit)

    def still_allows(self, slot, state):
        """Return whether the limit allows a slot of the list: one in use may also fit the unclaimed limit."""
        if state != NO_PREEMPTION and _permits(self.used, slot.weight, self.limit):
            return True
        return _permits(self.used_unclaimed, slot.weight, self.unclaimed_limit)

    def run(self):
        """Serve requests until there are none or the turn stops; return ``done`` or ``resume`` (15)."""
        passed_over = set()
        for jobs in self.ad.requests(self.cycle.knobs):
            if jobs[0].autocluster in passed_over:
                continue
            left = len(jobs)
            taken = 0
            while left > 0 and taken < len(jobs):  # a slot that is too small gives a match to no job
                if self._stops():
                    return "resume"
                slot = self._serve(jobs[0], jobs[taken])
                if slot is None:
                    passed_over.add(jobs[0].autocluster)
                    if self._ends_at_rejection():
                        return "resume"
                    break
                left -= self._served(slot, jobs[0].ad)
                taken += 1
        if self._stops():
            return "resume"
        return "done" if self.used < self.limit and not self.refused_for_limit else "resume"

    def _stops(self):
        self.only_rank = self.used >= self.limit and self.may_go_on
        if self.used >= self.limit and not self.may_go_on:
            self.stopped = "limit"
        elif self.used >= self.headroom:
            self.stopped = "ceiling"
        return self.stopped is not None

    def _ends_at_rejection(self):
        knobs = self.cycle.knobs
        if "limit" in self.marks and not (
            knobs.true("NEGOTIATOR_CONSIDER_PREEMPTION") or knobs.true("NEGOTIATOR_USE_SLOT_WEIGHTS")
        ):
            self.stopped = "limit, unweighted"
        return self.stopped is not None

    def _served(self, slot, request):
        """Return how many jobs a match counts for (24): none if the slot is smaller than the request."""
        if not self.cycle.knobs.true("NEGOTIATOR_DEPTH_FIRST") or not self.cycle.knobs.requests_count():
            return 1
        return min(_times(slot.ad, request, what) for what in ("Cpus", "Memory"))

    def _serve(self, first, job):
        """Match one job of a request that begins with another one; return the slot, None if it is rejected."""
        request = first.ad.replaced(self.context())
        candidate = self._find(first, request)
        if candidate is None:
            self.rejected += 1
            self.refused_for_limit |= "limit" in self.marks
            self.cycle.reject(self, first, self._reason())
            return None
        slot = candidate.slot
        self.matched += 1
        self.used += slot.weight
        if candidate.state == NO_PREEMPTION:
            self.used_unclaimed += slot.weight
        self.cycle.match(self, first, job, candidate, request)
        return slot

    def _reason(self):
        if "concurrency" in self.marks:
            return f"concurrency limit {', '.join(sorted(self.limit_names))} reached"
        return next((text for mark, text in REASONS.items() if mark in self.marks), "no match found")

    def _find(self, first, request):
        """Return the best slot for a request, None if there is none (29, 33, 43)."""
        text = request.evaluate("ConcurrencyLimits")
        if isinstance(text, str) and (name := self.cycle.limits.reached(text)) is not None:
            self.marks.discard("concurrency")
            if name:
                self.marks.add("concurrency")
                self.limit_names.add(name)
            return None
        self.limit_names.clear()
        key = (first.autocluster, self.only_rank)
        if self._keeps_list(key, request):
            found = self._best(request, checked=False)
        else:
            self.list_key = key
            self.list, self.list_marks = candidates(self.cycle, self, request, self.only_rank)
            self.marks, self.list_limit_names = set(self.list_marks), set(self.limit_names)
            found = self._best(request, checked=True)
        if found is None:
            self.marks, self.limit_names = set(self.list_marks), set(self.list_limit_names)
        elif not self.cycle.claim(found.slot):
            return self._find(first, request)
        return found

    def _keeps_list(self, key, request):
        """Return whether the candidates of the job before are used, by the next of them (29, 38)."""
        knobs = self.cycle.knobs
        if key != self.list_key or not knobs.true("NEGOTIATOR_MATCHLIST_CACHING"):
            return False
        requirements = not knobs.true("PREEMPTION_REQUIREMENTS_STABLE")
        rank = not knobs.true("PREEMPTION_RANK_STABLE")
        if not self.list:
            return not requirements
        best = self.list[0]
        self.cycle.describe_user(best.slot)
        if requirements and best.state == BY_PRIORITY and not required(knobs, best.slot, request):
            return False
        return (
            not rank
            or best.state == NO_PREEMPTION
            or best.ranks[-1] == preemption_rank(knobs, best.slot, request)
        )

    def _best(self, request, *, checked):
        while self.list:
            candidate = self.list.pop(0)
            checked, was_checked = False, checked
            if not was_checked and not self.still_allows(candidate.slot, candidate.state):
                self.list_marks.add("limit")
            elif per_slot_limit(self.cycle, candidate.slot, request) is None:
                return candidate
        return None


def _permits(used, weight, limit):
    return used + weight <= limit or used <= 0 < limit


def _times(slot, request, what):
    asked = max(1, int(number(request.evaluate(f"Request{what}", slot), 1)))
    return max(0, int(number(slot.evaluate(what, request), 1))) // asked
