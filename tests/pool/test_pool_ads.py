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

    def __init__(self, session="", *, shows_numbers=False):
        self.shows_numbers, self.fetched = shows_numbers, 0
        self.clock, self.slots, self.updates = 100, {}, 0
        self.session = session  # of each claim id

    def change(self, name, action, number):
        self.clock += number > 3  # several updates in a second
        if action == "remove":
            self.slots.pop(name, None)
        elif action == "update":
            extra = f"Extra{number} = {number}\n" if number % 2 else ""
            self.updates += 1
            extra += f"UpdateSequenceNumber = {self.updates}\n"
            self.slots[name] = (self.clock, f"Memory = {number}\nStart = TARGET.Size > {number}\n{extra}")

    def texts(self, since=0, names=()):
        for name, (heard, own) in self.slots.items():
            if heard >= since or name in names:
                yield f'MyType = "Machine"\nName = "{name}"\nMyAddress = "<{name}>"\nLastHeardFrom = {heard}\n{own}\n'

    def present(self):
        for name, (heard, own) in self.slots.items():
            lines = [line for line in own.splitlines() if line.startswith(("State", "UpdateSeq", "Memory"))]
            more = "\n".join(lines) + "\n" if self.shows_numbers else ""
            yield f'Name = "{name}"\nMyAddress = "<{name}>"\nLastHeardFrom = {heard}\n{more}MyType = "Machine"\n\n'

    def private(self, since=0, names=()):
        for name, (heard, own) in self.slots.items():
            if heard >= since or name in names:
                number = own.partition("UpdateSequenceNumber = ")[2].strip()
                text = f'ClaimId = "<{name}>#1#{heard}#{self.session}{number}"\nLastHeardFrom = {heard}\nUpdateSequenceNumber = {number}\n'
                yield f'MyType = "Machine"\nName = "{name}"\nMyAddress = "<{name}>"\n{text}\n'

    def fetch(self, before, *, decides=True):
        """Fetch as a source of slots does."""
        ads = PoolAds(before=before)
        slots, claims = (), ()
        if ads.can_update:
            changes = ads.update(self.present(), decides=decides)
            if not changes.are_any:
                return ads
            slots, claims = (changes.since, changes.names), (changes.claims_since, changes.claim_names)
        self.fetched += 1
        ads.add_claims("collector", self.private(*claims))
        self.between()
        ads.add("collector", self.texts(*slots))
        return ads

    def between(self):
        """Change nothing between the two queries of a cycle."""


def found(ads):
    """Return the slots and how many claim ids each has, by name, and the problems."""
    pool = ads.snapshot()
    texts = [{name: unparse(tree) for name, tree in ad.items()} for ad in pool.slots.ads]
    counts = pool.claim_ids or (1,) * len(texts)
    return {each["Name"]: (each, count) for each, count in zip(texts, counts, strict=True)}, pool.problems


@given(st.lists(CHANGES, min_size=1, max_size=5), st.booleans())
def test_an_update_of_the_last_cycle_gives_the_slots_that_a_whole_reading_gives(cycles, shows_numbers):
    """However often slots come, change, lose their claim ids, and go, also within one second."""
    pool, before = Pool(shows_numbers=shows_numbers), None
    for changes in cycles:
        for change in changes:
            pool.change(*change)
        updated, whole = pool.fetch(before), pool.fetch(None)
        assert found(updated) == found(whole)
        for name, action, _ in changes:
            if action == "take":
                updated.claims.take(f'"{name}"'.strip('"'))
        before = updated.reading


@pytest.mark.parametrize("escaped", [False, True])
def test_a_slot_that_is_updated_between_the_two_queries_waits_for_its_present_claim_id(escaped):
    """Its private ad is of the update before: the claim of that id has ended. Ids of encrypted sessions have escapes."""
    pool = Pool('[Encryption=\\"YES\\";]' if escaped else "")
    for name in "ab":
        pool.change(name, "update", 1)
    first = pool.fetch(None)
    first.snapshot()
    pool.between = lambda: pool.change("a", "update", 1)  # within the same second
    second = pool.fetch(first.reading)
    counts = {name: count for name, (_, count) in found(second)[0].items()}
    assert counts == {'"a"': 0, '"b"': 1}
    pool.between = lambda: None
    third = pool.fetch(second.reading)
    assert {count for _, count in found(third)[0].values()} == {1}
    assert third.claims.take("a") == f"<a>#1#100#{pool.session.replace(chr(92), '')}3"


def test_unchanged_slots_keep_their_order_and_changed_and_new_ones_follow():
    pool = Pool()
    for name in "cab":
        pool.change(name, "update", 4)
    first = pool.fetch(None)
    first.snapshot()
    pool.change("a", "update", 5)
    pool.change("d", "update", 5)
    assert pool.fetch(first.reading).snapshot().slots.strings("Name").tolist() == ["c", "b", "a", "d"]


def test_all_slots_are_read_again_every_now_and_then():
    """Values that slots have no more would take memory for ever."""
    pool, before, updates = Pool(), None, []
    pool.change("a", "update", 1)
    for _ in range(MAX_UPDATES + 2):
        ads = PoolAds(before=before)
        updates.append(ads.can_update)
        before = pool.fetch(before).reading
    assert updates == [False, *[True] * MAX_UPDATES, False]


FREE, CLAIMED = (
    f'Memory = {{}}\nState = "{state}"\nLoadAvg = {{}}\nUpdateSequenceNumber = {{}}\n'
    for state in ("Unclaimed", "Claimed")
)


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from((FREE, CLAIMED)), st.integers(1, 2), st.integers(1, 3)),
        min_size=2,
        max_size=8,
    )
)
def test_while_no_job_is_idle_free_slots_stay_as_they_were_and_others_do_not(cycles):
    """A slot that is or was claimed, and a free one whose resources changed, are read again; all are once a job is idle."""
    pool, before, shown = Pool(shows_numbers=True), None, None
    for number, (decides, form, memory, load) in enumerate(cycles, 1):
        pool.slots["a"] = 100 + number // 3, form.format(memory, load, number)
        updated, whole = pool.fetch(before, decides=decides), pool.fetch(None)
        ad, present = found(updated)[0]['"a"'], found(whole)[0]['"a"']
        assert ad[1] == 1 or not decides
        if decides or form is CLAIMED or shown is None or shown != (form, memory):
            assert ad[0] == present[0]
        else:
            assert ad[0]["State"] == '"Unclaimed"'
            assert ad[0]["Memory"] == str(memory)
        before, shown = updated.reading, (form, memory)


def test_what_did_not_change_is_not_fetched_and_the_table_is_the_same():
    pool = Pool(shows_numbers=True)
    pool.change("a", "update", 1)
    first = pool.fetch(None)
    slots, fetched = first.snapshot().slots, pool.fetched
    second = pool.fetch(first.reading)
    assert (second.snapshot().slots, pool.fetched) == (slots, fetched)
    assert second.snapshot().claim_ids == (1,)
    pool.change("b", "update", 1)
    third = pool.fetch(second.reading)
    assert third.snapshot().slots.strings("Name").tolist() == ["a", "b"]
    assert slots.strings("Name").tolist() == ["a"]


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


def test_a_slot_whose_update_cannot_be_read_is_set_aside_and_reported_in_each_cycle_until_it_can():
    """Its earlier ad may show a slot as free that runs a job by now."""
    pool, before = Pool(), None
    for name in "ab":
        pool.change(name, "update", 4)
    seen = []
    for own in ("Memory = 1\n", "Memory = (1\n", "Memory = (1\n", "Memory = 2\n"):
        pool.clock += 10
        pool.slots["b"] = (pool.clock, own)
        pool.clock += 10
        pool.change("a", "update", 4)
        for _ in range(2):
            ads = pool.fetch(before)
            snapshot, before = ads.snapshot(), ads.reading
            seen.append((len(snapshot.slots), len(snapshot.problems)))
    assert seen == [(2, 0), (2, 0), (1, 1), (1, 1), (1, 1), (1, 1), (2, 0), (2, 0)]


def test_slots_are_read_again_after_the_clock_of_the_collector_was_set_back():
    pool = Pool()
    for name in "ab":
        pool.change(name, "update", 4)
    first = pool.fetch(None)
    pool.clock = 50
    pool.change("a", "update", 1)
    second = pool.fetch(first.reading)
    assert found(second) == found(pool.fetch(None))


def test_a_claim_id_that_arrives_between_the_two_queries_of_a_cycle_is_known_in_the_next():
    pool = Pool()
    for name in "ab":
        pool.change(name, "update", 4)

    def between():
        for name in "ab":
            pool.clock += 1
            pool.change(name, "update", 4)

    pool.between = between
    first = pool.fetch(None)
    pool.between = lambda: None
    second = pool.fetch(first.reading)
    assert second.claims.take("a") == f"<a>#1#{pool.slots['a'][0]}#{pool.updates - 1}"


def test_a_slot_without_a_private_ad_has_no_claim_id_in_a_live_pool():
    pool = Pool()
    for name in "ab":
        pool.change(name, "update", 4)
    ads = PoolAds()
    ads.add_claims("collector", list(pool.private())[:1])
    ads.add("collector", pool.texts())
    assert ads.snapshot().claim_ids == (1, 0)


def test_all_slots_are_read_again_once_somebody_has_used_half_of_the_budget():
    """The names and values of all cycles since are stored."""
    pool = Pool()
    pool.change("a", "update", 4)
    first = pool.fetch(None)
    names = "".join(f"Own{number} = 1\n" for number in range(6000))
    first.add("schedd s", [f'MyType = "Job"\nOwner = "eve"\nClusterId = 1\nProcId = 0\n{names}\n'])
    assert not PoolAds(before=first.reading).can_update


def test_an_ad_of_another_kind_than_was_queried_is_set_aside_and_named():
    """A startd could pose as a schedd, a submitter, or a running job of somebody else."""
    ads, slot = (
        PoolAds(),
        'MyType = "Machine"\nName = "slot1@a"\nMyAddress = "<1.1.1.1:1>"\nState = "Owner"\n\n',
    )
    lies = [
        'MyType = "Job"\nClusterId = 1\nProcId = 0\nOwner = "ann"\nJobStatus = 2\nName = "slot2@a"\n\n',
        'MyType = "Submitter"\nName = "ann@d"\nScheddName = "s"\nMyAddress = "<1.1.1.1:2>"\nIdleJobs = 5\n\n',
        'MyType = "Scheduler"\nName = "s"\nMyAddress = "<1.1.1.1:2>"\n\n' * 3,
    ]
    ads.add("collector", ["".join([slot, *lies, slot.replace("slot1", "slot3")])], kind="Machine")
    pool = ads.snapshot()
    assert pool.slots.strings("Name").tolist() == ["slot1@a", "slot3@a"]
    assert (len(pool.jobs), len(pool.submitters), len(pool.schedds)) == (0, 0, 0)
    assert {each.message for each in pool.problems} == {
        "the ad slot2@a is set aside: it is of a job, which was not queried",
        "the ad ann@d is set aside: it is of a submitter, which was not queried",
        "the ad s is set aside: it is of a schedd, which was not queried",
    }


@pytest.mark.parametrize(
    ("address", "claim", "count"),
    [
        ("<1.1.1.1:1?sock=a>", "<1.1.1.1:1?addrs=1.1.1.1-1&sock=a>#2#3#", 1),
        ("<1.1.1.1:1>", "<1.1.1.2:1>#2#3#", 0),
        ("<1.1.1.1:1>", "<1.1.1.1:11?noUDP>#2#3#", 0),
        ("<[::1]:1>", "<[::2]:1>#2#3#", 0),
        ("<[::1]:1>", "<[::1]:1>#2#3#", 1),
        ("<1.1.1.1:1>", "a claim id of no known form", 1),
    ],
)
def test_the_claim_id_of_another_startd_is_not_used_and_who_reports_it_is_named(address, claim, count):
    """The slot is not offered; the claim id is in no message."""
    ads, slot = PoolAds(), f'MyType = "Machine"\nName = "slot1@a"\nMyAddress = "{address}"\n'
    ads.add_claims("collector", [f'{slot}ClaimId = "{claim}"\n\n'])
    ads.add("collector", [f'{slot}State = "Owner"\n\n'], kind="Machine")
    pool = ads.snapshot()
    assert pool.claim_ids == (count,)
    assert [each.message.partition(":")[0] for each in pool.problems] == ["slot1@a"] * (1 - count)
    assert "#2#3#" not in "".join(map(str, pool.problems))


def claimed(name, job, global_id, schedd=None):
    own = f'GlobalJobId = "{global_id}"\n' + (f'JobId = "{job}"\n' if job else "")
    own += f'RemoteScheddName = "{schedd}"\n' if schedd else ""
    return f'MyType = "Machine"\nName = "{name}"\nMyAddress = "<{name}>"\nState = "Claimed"\n{own}\n'


@pytest.mark.parametrize(
    ("job", "global_id", "schedd", "found"),
    [
        ("1.2", "s#1.2#7", "s", ("s", 1, 2, "s#1.2#7")),
        ("1.2", "S#x#1.2#7", "s#X", ("s#X", 1, 2, "S#x#1.2#7")),
        (None, "s#1.2#7", None, ("s", 1, 2, "s#1.2#7")),
        ("1.2", "s#8.0#7", "s", ("s", 1, 2, "s#1.2#0")),
        ("1.2", "other#1.2#7", "s", ("s", 1, 2, "s#1.2#0")),
        ("1.2", "s#8.0#7", None, ("s", 1, 2, "s#1.2#0")),
        ("1.2", "nonsense", "s", ("s", 1, 2, "s#1.2#0")),
        ("1.2", "nonsense", None, None),
        ("all", "s#1.2#7", "s", None),
    ],
)
def test_a_claimed_slot_names_its_job_by_what_users_cannot_write(job, global_id, schedd, found):
    """GlobalJobId is part of the job's ad: a user can write that of somebody's job that is permitted."""
    ads = PoolAds()
    ads.add("collector", [claimed("slot1@a", job, global_id, schedd)], kind="Machine")
    jobs = [(each.schedd, each.cluster, each.proc, each.global_id) for each in ads.running_jobs()]
    assert jobs == ([found] if found else [])


def test_a_job_that_pretends_to_be_another_does_not_hide_that_one():
    ads = PoolAds()
    slots = [claimed("slot1@a", "1.0", "s#1.0#7", "s"), claimed("slot2@a", "2.0", "s#1.0#7", "s")]
    ads.add("collector", slots, kind="Machine")
    assert [(each.cluster, each.slot) for each in ads.running_jobs()] == [(1, "slot1@a"), (2, "slot2@a")]


SCHEDD = 'MyType = "Scheduler"\nName = "s"\nMyAddress = "<s>"\nTotalIdleJobs = {}\n\n'


def fetch_with_schedd(pool, before, idle=0, *more):
    """Return the ads of a cycle with a schedd that has so many idle jobs, after the slots."""
    ads = pool.fetch(before)
    ads.add("collector", [SCHEDD.format(idle)], kind="Scheduler")
    for text in more:
        ads.add("collector", [text], kind="Scheduler")
    return ads


@pytest.fixture
def pool():
    found = Pool(shows_numbers=True)
    found.change("a", "update", 1)
    return found


def test_a_pool_in_which_nothing_changed_has_the_snapshot_of_the_last_cycle(pool):
    first = fetch_with_schedd(pool, None)
    before = first.snapshot()
    later = fetch_with_schedd(pool, first.reading)
    assert later.snapshot() is before
    assert fetch_with_schedd(pool, later.reading).snapshot() is before


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ((), (2,)),
        ((), (0, SCHEDD.format(0).replace('"s"', '"t"'))),
        ((), (0, 'MyType = "Submitter"\nName = "ann@d"\n\n')),
        (("a", "update", 2), ()),
        (("b", "update", 1), ()),
        (("a", "remove", 1), ()),
    ],
    ids=["schedd", "another schedd", "an ad set aside", "slot", "another slot", "no slot"],
)
def test_what_changed_is_in_the_snapshot_as_if_all_was_read_anew(pool, change, more):
    first = fetch_with_schedd(pool, None)
    before = first.snapshot()
    if change:
        pool.change(*change)
    later = fetch_with_schedd(pool, first.reading, *more)
    anew = fetch_with_schedd(pool, None, *more).snapshot()
    assert later.snapshot() is not before
    assert later.snapshot().encode() == anew.encode()
    again = fetch_with_schedd(pool, later.reading, *more)
    assert again.snapshot().encode() == anew.encode()
    assert again.snapshot().problems == anew.problems


def test_an_earlier_snapshot_keeps_its_ads_when_more_are_added_to_those_taken_over(pool):
    first = fetch_with_schedd(pool, None)
    before = first.snapshot()
    fetch_with_schedd(pool, first.reading, 0, SCHEDD.format(5)).snapshot()
    assert before.schedds.numbers("TotalIdleJobs").tolist() == [0]
