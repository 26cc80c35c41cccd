"""Admission by columns gives the results of admission row by row, and the same refusing charges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger_model import Model, Postings, charge_all
from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger

SLOTS, MANY = 12, 40
AMOUNTS = st.sampled_from((0, 1, 1, 1, 2, 3, 2**61, 2**62, LARGEST // 3, LARGEST - 1, LARGEST))
SMALL = st.sampled_from((0, 1, 1, 2, 3))
LIMITS = st.sampled_from((-(2**70), -1, 0, 1, 2, 3, 4, 5, 8, 20, 2**62, LARGEST - 1, LARGEST, 2**70, None))
APPS = st.sampled_from(("a1", "a2", "a3", "a4"))


def column(draw, values, low=-(2**63)):
    numbers = [max(low, min(LARGEST, draw(values) or 0)) for _ in range(SLOTS)]
    return np.array(numbers, np.int64)


@st.composite
def groupings(draw, number):
    """Return a strategy for groupings: hosts, racks, or groups that cross them; some slots may be uncharged."""
    sort = draw(st.sampled_from(("host", "rack", "crossing", "shared")))
    slots = np.arange(SLOTS)
    codes = {"host": slots // 2, "rack": slots // 4, "crossing": slots % 4, "shared": slots // 3}[sort]
    if draw(st.booleans()):
        hole = draw(st.sampled_from((slots % 3 == 0, codes == codes[draw(st.integers(0, SLOTS - 1))])))
        codes = np.where(hole, -1, codes)
    names = [f"{sort}{code}" for code in range(6)]
    if sort == "shared":
        return Grouping(codes, [("g", names[code // 2]) for code in range(6)])
    keys = Family(("g", str(number), sort), names)
    return Grouping(codes, keys if draw(st.booleans()) else list(keys))


@st.composite
def charge_lists(draw):
    charges = []
    constant, amounts = draw(st.booleans()), draw(st.sampled_from((SMALL, SMALL, AMOUNTS)))
    for number in range(draw(st.integers(0, 5))):
        earlier = [charge.counter for charge in charges]
        counter = draw(
            st.one_of(
                st.just(("user", str(number))),
                groupings(number),
                st.sampled_from((*earlier, ("user", "0"), ("g", "shared0"), ("g", "0", "host", "host1"))),
            )
            if draw(st.integers(0, 4)) == 0
            else st.one_of(st.just(("user", str(number))), groupings(number))
        )
        amount = draw(amounts) if constant or draw(st.booleans()) else column(draw, amounts, 0)
        limit = draw(LIMITS) if constant or draw(st.booleans()) else column(draw, LIMITS)
        charges.append(Charge(counter, amount, limit, f"charge {number}"))
    return charges


@st.composite
def requests(draw):
    charges = draw(charge_lists())
    copies = draw(st.integers(0, 14))
    keys = [draw(st.lists(APPS, min_size=copies, max_size=copies)) for _ in range(2)]
    key_charges = [
        KeyCharge(
            ("apps", draw(st.sampled_from("uv"))),
            draw(st.sampled_from(keys)),
            draw(st.sampled_from((None, 0, 1, 2, 3))),
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    rows = draw(st.lists(st.integers(0, SLOTS - 1), max_size=14, unique=draw(st.booleans())))
    return charges, key_charges, np.array(rows, np.int64), copies


def used_before(draw, charges, key_charges):
    """Return a strategy for earlier usage of a request's counters."""
    counters = []
    for charge in charges:
        counters += list(charge.counter.keys) if isinstance(charge.counter, Grouping) else [charge.counter]
    sums = {
        key: draw(SMALL | st.sampled_from((7, 2**62))) for key in counters if draw(st.integers(0, 3)) == 0
    }
    keys = {(charge.counter, draw(APPS)) for charge in key_charges if draw(st.booleans())}
    return Postings(tuple(sums.items()), tuple(sorted(keys)))


def check(ledger, model, request):
    """Admit and commit both ways, and compare."""
    granted, stops, copy_stops, after = model.admit(*request)
    admission = ledger.admit(*request)
    assert list(zip(admission.positions.tolist(), admission.copies.tolist(), strict=True)) == granted
    assert admission.rows.tolist() == [request[2][position] for position, _ in granted]
    assert admission.stops.tolist() == stops
    assert admission.copy_stops.tolist() == copy_stops
    assert list(admission.refused) == [stops.count(number) for number in range(len(request[0]))]
    assert list(admission.copies_refused) == [copy_stops.count(number) for number in range(len(request[1]))]
    assert state(ledger) == model.state()
    receipts = ledger.commit(admission)
    assert len(receipts) == len(granted)
    assert state(ledger) == after.state()
    ledger.verify()
    for receipt in receipts:
        ledger.release(receipt)
    assert state(ledger) == model.state()


def state(ledger):
    counters = ledger.counters()
    return dict(counters), {key: dict(members) for key, members in counters.key_sets()}


WAYS = {  # what each way leaves to the loop over rows; None: plain integers are tried before
    "in plain integers": None,
    "small requests": (64, 128, 8),
    "what a round leaves open": (0, 128, 8),
    "nothing": (0, 1, LARGEST),
}


def force(patch, way):
    if way is None:
        return
    patch.setattr("negotiator.ledger.admission.grant_sums", lambda *_: None)
    patch.setattr("negotiator.ledger.columnar_admission.SMALL", way[0])
    patch.setattr("negotiator.ledger.columnar_admission.FEW", way[1])
    patch.setattr("negotiator.ledger.columnar_admission.PART", way[2])


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@settings(max_examples=150)
@given(data=st.data())
def test_admission_equals_row_by_row_admission(way, data):
    """For any charges: nested and crossing groups, shared counters, columns, and numbers near the largest."""
    request = data.draw(requests())
    before = used_before(data.draw, *request[:2])
    ledger, model = Ledger(), Model()
    charge_all(ledger, before)
    model.add(before.sums, before.keys)
    with pytest.MonkeyPatch.context() as patch:
        force(patch, way)
        check(ledger, model, request)


def random_grouping(random, number, slots):
    """Groups of adjacent slots, groups of any slots, and uncharged slots, single ones or whole racks."""
    at = np.arange(slots)
    codes = (at // 3, at // 12, at // 30, at % random.integers(2, 40), random.integers(0, 20, slots))[
        random.integers(5)
    ]
    left_out = (random.random(slots) < 0.2, at // 12 % 3 == 0, at < 0, at < 0)[random.integers(4)]
    sort = random.choice([np.int64, np.int32, np.int16])
    return Grouping(
        np.where(left_out, -1, codes).astype(sort),
        Family(("g", str(number)), [str(code) for code in range(300)]),
    )


def random_charge(random, number, slots, *, constant):
    """An amount and a limit, each for all slots, by group, or by slot; sometimes near the largest."""
    counter = random_grouping(random, number, slots) if random.random() < 0.7 else ("s", str(number))
    amount = int(random.integers(4))
    if not constant and random.random() < 0.5:
        huge = LARGEST // 50 if random.random() < 0.3 else 1
        amount = random.integers(0, random.choice([2, 5, 50]), slots) * huge
    top = random.choice([2, 6, 20, 100, 400])
    limit = int(random.integers(top + 1))
    if isinstance(counter, Grouping) and random.random() < 0.2:
        limit = random.integers(0, top + 1, 301)[counter.codes]
    elif random.random() < 0.1:
        limit = None if constant else random.integers(-1, top + 1, slots)
    return Charge(counter, amount, limit)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@settings(max_examples=100)
@given(seed=st.integers(0, 2**32))
def test_larger_requests_are_admitted_alike(way, seed):
    """With enough groups and candidates for several rounds."""
    random = np.random.default_rng(seed)
    slots = int(random.integers(1, 300))
    constant = bool(random.random() < 0.5)
    charges = [
        random_charge(random, number, slots, constant=constant) for number in range(random.integers(1, 6))
    ]
    rows = random.permutation(slots)[: random.integers(1, slots + 1)]
    rows = np.sort(rows) if random.random() < 0.3 else rows
    used = {
        key: int(random.integers(1, 4))
        for charge in charges
        for key in (charge.counter.keys if isinstance(charge.counter, Grouping) else (charge.counter,))
        if random.random() < 0.2
    }
    ledger, model = Ledger(), Model()
    charge_all(ledger, Postings(tuple(used.items())))
    model.add(used.items(), ())
    with pytest.MonkeyPatch.context() as patch:
        force(patch, way)
        check(ledger, model, (charges, [], rows, int(random.integers(slots + 5))))


@st.composite
def quotas_by_group(draw):
    """A quota for each group, perhaps of some slots, between charges that are the same everywhere; with earlier usage."""
    groups = draw(st.integers(1, 12))
    codes = np.array(draw(st.lists(st.integers(-1, groups - 1), min_size=MANY, max_size=MANY)), np.int32)
    quota = Charge(
        Grouping(codes, Family(("host",), [str(code) for code in range(groups)])),
        draw(st.integers(1, 3)),
        draw(st.integers(0, 7)),
    )
    alike = [
        Charge(("user", str(number)), draw(st.integers(0, 2)), draw(st.sampled_from((None, 30, 60, 2**70))))
        for number in range(draw(st.integers(0, 2)))
    ]
    alike.insert(draw(st.integers(0, len(alike))), quota)
    used = {("host", str(code)): draw(st.integers(0, 8)) for code in range(groups) if draw(st.booleans())}
    used |= {("user", "0"): draw(st.integers(0, 30))}
    rows = draw(st.permutations(range(MANY)))[: draw(st.integers(1, MANY))]
    return alike, used, np.array(rows), draw(st.integers(1, MANY))


@given(quotas_by_group())
def test_a_quota_for_each_group_is_admitted_as_slot_by_slot(request):
    charges, used, rows, copies = request
    ledger, model = Ledger(), Model()
    charge_all(ledger, Postings(tuple(used.items())))
    model.add(used.items(), ())
    check(ledger, model, (charges, [], rows, copies))


def test_a_limit_of_two_on_each_host_grants_the_first_two_slots_of_each():
    ledger, hosts = Ledger(), Grouping(np.arange(MANY) // 4, Family(("host",), [*map(str, range(MANY // 4))]))
    charge_all(ledger, Postings(((("host", "1"), 1),)))
    charges = [Charge(("user",), 1, 12), Charge(hosts, 1, 2)]
    admission = ledger.admit(charges, (), np.arange(MANY), 5)
    assert admission.stops.tolist() == [-1, -1, 1, 1, -1, 1, 1, 1, -1, -1]


def test_uncharged_slots_are_granted_however_large_the_amount_is():
    hosts = Grouping(np.where(np.arange(MANY) < 2, 0, -1), Family(("host",), ["h"]))
    admission = Ledger().admit([Charge(hosts, 2**62, LARGEST)], (), np.arange(MANY), MANY)
    assert admission.rows.tolist() == [0, *range(2, MANY)]
