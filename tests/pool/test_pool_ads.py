"""The ads of a live pool from cycle to cycle: what changed replaces what was read before."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.classad import unparse
from negotiator.plugin import Problem, Severity, Source
from negotiator.pool import PoolAds
from negotiator.pool.pool_ads import MAX_UPDATES

NAMES = st.sampled_from(["a", "b", "c", "d"])
CHANGES = st.lists(
    st.tuples(NAMES, st.sampled_from(["update", "remove", "take"]), st.integers(1, 5)), max_size=6
)


class Pool:
    """A collector: the slots that it has, each with the time of its last update, and their claim ids."""

    def __init__(self):
        self.clock, self.slots = 100, {}

    def change(self, name, action, number):
        self.clock += number > 3  # several updates in a second
        if action == "remove":
            self.slots.pop(name, None)
        elif action == "update":
            extra = f"Extra{number} = {number}\n" if number % 2 else ""
            self.slots[name] = (self.clock, f"Memory = {number}\nStart = TARGET.Size > {number}\n{extra}")

    def texts(self, since=0):
        for name, (heard, own) in self.slots.items():
            if heard >= since:
                yield f'MyType = "Machine"\nName = "{name}"\nMyAddress = "<{name}>"\nLastHeardFrom = {heard}\n{own}\n'

    def present(self):
        return [f'Name = "{name}"\nMyAddress = "<{name}>"\nMyType = "Machine"\n\n' for name in self.slots]

    def private(self, since=0, names=()):
        for name, (heard, _) in self.slots.items():
            if heard >= since or name in names:
                text = f'ClaimId = "<{name}>#1#{heard}#secret"\nLastHeardFrom = {heard}\n'
                yield f'MyType = "Machine"\nName = "{name}"\nMyAddress = "<{name}>"\n{text}\n'

    def fetch(self, before):
        """Fetch as a source of slots does."""
        ads = PoolAds(before=before)
        since, names = 0, ()
        if ads.can_update:
            since, names = ads.last_heard_from, ads.slots_without_claim
            ads.update(self.present())
        ads.add("collector", self.texts(since))
        ads.add_claims("collector", self.private(since, names))
        return ads


def found(ads):
    """Return the slots and how many claim ids each has, by name, and the problems."""
    pool = ads.snapshot()
    texts = [{name: unparse(tree) for name, tree in ad.items()} for ad in pool.slots.ads]
    counts = pool.claim_ids or (1,) * len(texts)
    return {each["Name"]: (each, count) for each, count in zip(texts, counts, strict=True)}, pool.problems


@given(st.lists(CHANGES, min_size=1, max_size=5))
def test_an_update_of_the_last_cycle_gives_the_slots_that_a_whole_reading_gives(cycles):
    """However often slots come, change, lose their claim ids, and go, also within one second."""
    pool, before = Pool(), None
    for changes in cycles:
        for change in changes:
            pool.change(*change)
        updated, whole = pool.fetch(before), pool.fetch(None)
        assert found(updated) == found(whole)
        for name, action, _ in changes:
            if action == "take":
                updated.claims.take(f'"{name}"'.strip('"'))
        before = updated.reading


def test_slots_keep_their_order_and_new_ones_follow():
    pool = Pool()
    for name in "cab":
        pool.change(name, "update", 4)
    first = pool.fetch(None)
    first.snapshot()
    pool.change("a", "update", 5)
    pool.change("d", "update", 5)
    assert pool.fetch(first.reading).snapshot().slots.strings("Name").tolist() == ["c", "a", "b", "d"]


def test_all_slots_are_read_again_every_now_and_then():
    """Values that slots have no more would take memory for ever."""
    pool, before, updates = Pool(), None, []
    pool.change("a", "update", 1)
    for _ in range(MAX_UPDATES + 2):
        ads = PoolAds(before=before)
        updates.append(ads.can_update)
        before = pool.fetch(before).reading
    assert updates == [False, *[True] * MAX_UPDATES, False]


def test_without_a_last_cycle_nothing_can_be_updated():
    with pytest.raises(ValueError, match="no last cycle"):
        PoolAds().update([])


def test_claim_ids_with_escapes_or_in_lists_are_found_as_in_any_ad():
    ads = PoolAds()
    address = 'MyType = "Machine"\nMyAddress = "<x>"\n'
    slots = "".join(f'{address}Name = "{name}"\nMemory = 1\n\n' for name in "ab")
    ads.add("collector", [slots])
    listed = f'{address}Name = "a"\nClaimIdList = "one,two"\n\n'
    escaped = f'{address}Name = "b"\nClaimId = "th\\"ree"\n'
    ads.add_claims("collector", [listed[:30], listed[30:] + escaped])
    assert ads.snapshot().claim_ids == (2, 1)
    assert [ads.claims.take("a"), ads.claims.take("a"), ads.claims.take("b")] == ["one", "two", 'th"ree']


def test_an_answer_without_ads_is_not_a_problem():
    ads = PoolAds()
    ads.add("collector", [])
    ads.add_problem(Problem(Severity.WARNING, Source("schedd s"), "it does not answer"))
    assert [each.message for each in ads.snapshot().problems] == ["it does not answer"]
