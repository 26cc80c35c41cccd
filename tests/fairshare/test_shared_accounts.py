"""Accounts that several negotiators of one pool share: each charges the use of its own slots, and all of it counts for each."""

import math

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fair_share import FAIR, jobs_of, run, shares, submitter
from negotiator.plugin import AccountChangeKind, PoolNegotiators
from negotiator_fairshare.account_requests import AccountsImport, change_rows
from negotiator_fairshare.accounts import AccountRecord, Accounts, AccountSettings, UseCounter
from negotiator_fairshare.accounts.changes import AccountChange
from negotiator_fairshare.accounts.state_rows import accounts_of, check_row, is_shared, rows_of
from negotiator_fairshare.accounts.use import LASTS, NegotiatorUse, PoolUse
from negotiator_fairshare.hooks import negotiator_orders
from negotiator_fairshare.shared_accounts import rebased_rows
from pools import NOW, slot, snapshot, write_bundle

(ORDER,) = negotiator_orders()
CONSTRAINTS = {"north": 'MY.Part == "north"', "south": 'MY.Part == "south"'}
HALF_LIFE = 86_400


class Pool:
    """The shared rows of a pool, and those of each negotiator, with its cycles."""

    def __init__(self, folder, constraints=CONSTRAINTS, conf=None):
        self.constraints, self.shared, self.states = constraints, {}, {}
        self.bundles = {
            name: write_bundle(folder / name, FAIR, conf=f"NEGOTIATOR_SLOT_CONSTRAINT = {text}\n{conf or ''}")
            for name, text in constraints.items()
        }

    def rows(self, name):
        """Return the rows with which a cycle of a negotiator begins."""
        own = self.states.get(name, {})
        return ORDER.sharing.begin({**own, **self.shared}, PoolNegotiators(name, self.constraints))

    def decide(self, name, pool, now, journal=()):
        """Run a cycle, and return its result: nothing is stored."""
        state = run(self.bundles[name], pool, None, now).state
        state = attrs.evolve(state, journal=journal, order_rows={"submitters": self.rows(name)})
        return run(self.bundles[name], pool, state, now)

    def store(self, name, rows):
        self.shared = {key: row for key, row in rows.items() if is_shared(key)}
        self.states[name] = {key: row for key, row in rows.items() if not is_shared(key)}

    def cycle(self, name, pool, now, journal=()):
        """Run a cycle, and store what it leaves."""
        result = self.decide(name, pool, now, journal)
        self.store(name, result.state.order_rows["submitters"])
        return result

    def account(self, user):
        """Return an account as all negotiators see it."""
        name = next(iter(self.constraints))
        return accounts_of(self.rows(name), 0).whole().get(f"{user}@d")


def claimed(part, count, user, first=0):
    return [
        slot(
            number,
            Name=f'"{part}{number}@h"',
            Part=f'"{part}"',
            Cpus="1",
            State='"Claimed"',
            AccountingGroup=f'"{user}@d"',
        )
        for number in range(first, first + count)
    ]


def free(part, count, first=0):
    return [
        slot(number, Name=f'"{part}{number}@h"', Part=f'"{part}"', Cpus="1")
        for number in range(first, first + count)
    ]


def pool_of(slots, **counts):
    jobs = [each for at, (name, count) in enumerate(counts.items()) for each in jobs_of(name, count, at + 1)]
    return snapshot(slots, jobs, submitters=[submitter(name, count) for name, count in counts.items()])


@pytest.fixture
def pool(tmp_path):
    return Pool(tmp_path)


def test_who_uses_much_of_one_negotiator_has_the_worse_priority_at_another(pool):
    used = [*claimed("north", 10, "ann"), *free("south", 10)]
    for day in range(4):
        pool.cycle("north", pool_of(used), NOW + day * HALF_LIFE)
    assert pool.account("ann").priority > 8
    later = pool.cycle("south", pool_of(free("south", 10), ann=20, sue=20), NOW + 4 * HALF_LIFE)
    assert shares(later)["sue"] > shares(later)["ann"]


def test_shares_are_those_of_the_whole_pool(pool):
    """Who has half of the pool at one negotiator already gets what the others leave at another."""
    both = [*claimed("north", 10, "ann"), *free("south", 10)]
    pool.cycle("north", pool_of(both, ann=0), NOW)
    assert shares(pool.cycle("south", pool_of(both, ann=20, sue=20), NOW + 1)) == {"sue": 10}
    assert shares(pool.decide("south", pool_of(both, ann=20, sue=4), NOW + 2)) == {"ann": 6, "sue": 4}


@given(
    st.lists(
        st.tuples(st.sampled_from(["north", "south"]), st.integers(1, 90_000), st.integers(0, 50)),
        min_size=1,
        max_size=12,
    ),
    st.floats(200, 1e4),
)
def test_all_of_them_charge_what_one_negotiator_would(steps, priority):
    """Whichever has cycles when: the priority and the usage are those of one that counts all slots at each change."""
    settings, start = AccountSettings(halflife=HALF_LIFE), int(NOW)
    record = AccountRecord(priority=priority)
    one = Accounts(records={"ann@d": record}, last_update=start)
    rows = rows_of(
        Accounts(
            records={"ann@d": record},
            last_update=start,
            pool=PoolUse(
                own="north",
                constraints=CONSTRAINTS,
                negotiators={name: NegotiatorUse(charged_until=start) for name in CONSTRAINTS},
            ),
        )
    )
    now, slots = start, dict.fromkeys(CONSTRAINTS, 0)
    for name, seconds, count in [*steps, ("north", 5, 0), ("south", 0, 0)]:
        now += seconds
        slots[name] = count
        rows = rows_of(charged(rows, name, now, count, settings))
        one = one.updated(now, settings).recounted(counter(sum(slots.values())))
    found, wanted = accounts_of(rows, 0).get("ann@d"), one.get("ann@d")
    assert math.isclose(found.priority, wanted.priority, abs_tol=1e-4)
    assert found.accumulated_usage == wanted.accumulated_usage
    assert math.isclose(found.weighted_accumulated_usage, wanted.weighted_accumulated_usage)
    assert (found.begin_usage > 0) == (wanted.begin_usage > 0)


@given(st.integers(0, 3_600), st.integers(0, 50), st.integers(0, 50), st.floats(100, 1e4))
def test_who_stores_an_earlier_cycle_later_charges_the_same(late, north, south, priority):
    settings, start = AccountSettings(halflife=HALF_LIFE), int(NOW)
    accounts = Accounts(records={"ann@d": AccountRecord(priority=priority)}, last_update=start)
    rows = rows_of(attrs.evolve(accounts, pool=PoolUse(own="north", constraints=CONSTRAINTS)))
    for name, count in (("north", north), ("south", south)):
        rows = rows_of(charged(rows, name, start, count, settings))
    cycles = [("north", start + 9_000 - late), ("south", start + 9_000)]
    found = []
    for order in (cycles, cycles[::-1]):
        each = rows
        for name, now in order:
            each = rows_of(charged(each, name, now, 0, settings))
        found.append(accounts_of(each, 0))
    assert found[0].last_update == found[1].last_update == start + 9_000
    one, other = (each.get("ann@d") for each in found)
    assert math.isclose(one.priority, other.priority, abs_tol=1e-5)
    assert one.accumulated_usage == other.accumulated_usage


def charged(rows, name, now, count, settings):
    """Return the accounts after a cycle of a negotiator whose slots are then in use by ann."""
    begun = ORDER.sharing.begin(rows, PoolNegotiators(name, CONSTRAINTS))
    accounts = accounts_of(begun, now).updated(now, settings).recounted(counter(count))
    return accounts.left_by(NegotiatorUse(charged_until=now))


def counter(count):
    use = UseCounter(lambda _: "<none>")
    if count:
        use.add("ann@d", 1.0, count)
    return use


def test_a_negotiator_that_runs_no_cycles_is_charged_when_it_runs_again(pool):
    """Meanwhile priorities age, and what its slots were used for counts in shares for an hour."""
    used = pool_of([*claimed("north", 10, "ann"), *free("south", 10)], ann=20, sue=20)
    pool.cycle("north", used, NOW)
    pool.cycle("north", used, NOW + 2 * HALF_LIFE)
    before = pool.account("ann")
    soon = pool.decide("south", used, NOW + 2 * HALF_LIFE + LASTS)
    late = pool.cycle("south", used, NOW + 3 * HALF_LIFE)
    assert shares(soon) == {"sue": 10}
    assert shares(late)["ann"] > 0
    aged = pool.account("ann")
    assert aged.priority == pytest.approx(before.priority / 2, abs=1e-3)
    assert aged.weighted_accumulated_usage == before.weighted_accumulated_usage
    pool.cycle("north", used, NOW + 3 * HALF_LIFE)
    assert pool.account("ann").weighted_accumulated_usage == 10 * 3 * HALF_LIFE


def test_a_slot_of_several_constraints_is_counted_by_the_first_by_name(tmp_path):
    pool = Pool(tmp_path, {"north": "true", "south": 'MY.Part == "south"', "west": "MY.Cpus > 0"})
    both = pool_of([*claimed("north", 3, "ann"), *claimed("south", 4, "ann")])
    for name in ("west", "south", "north"):
        pool.cycle(name, both, NOW)
    assert pool.account("ann").resources_used == 7
    assert {name: row["size"][0] for name, row in uses(pool).items()} == {"north": 7, "south": 0, "west": 0}


def uses(pool):
    return {key[4:]: row for key, row in pool.shared.items() if key.startswith("use:")}


def test_the_slots_in_use_are_in_the_rows_of_negotiators_alone(pool):
    """One that was removed from the pool counts no more."""
    both = pool_of([*claimed("north", 3, "ann"), *claimed("south", 4, "ann")])
    for name in CONSTRAINTS:
        pool.cycle(name, both, NOW)
    assert not {key for key in pool.shared["account:ann@d"] if "Resources" in key}
    assert pool.account("ann").weighted_resources_used == 7.0
    pool.constraints = {"north": CONSTRAINTS["north"]}
    assert pool.account("ann").weighted_resources_used == 3.0


def test_a_counter_adds_what_other_negotiators_count():
    use = UseCounter(lambda _: "a", {"ann@d": (2, 3_000_000, 0), "a": (2, 3_000_000, 3_000_000)})
    use.add("ann@d", 1.0)
    assert (use.slots("ann@d"), use.weighted("ann@d"), use.hierarchical("a")) == (3, 4.0, 4.0)
    assert (use.own("ann@d"), use.own("a")) == ((1, 1.0, 0.0), (1, 1.0, 1.0))


def test_a_match_is_use_of_the_negotiator_of_its_slot_until_the_slot_shows_it(pool):
    """Also of a dynamic slot: it is that of a constraint like any other."""
    idle = pool_of([*free("north", 2), *free("south", 2)], ann=2)
    made = pool.cycle("north", idle, NOW)
    assert [entry.slot[:5] for entry in made.journal] == ["north", "north"]
    pool.cycle("south", idle, NOW + 10, made.journal)
    assert {name: row["use"].get("ann@d") for name, row in uses(pool).items()} == {
        "north": [2, 2.0, 0.0],
        "south": None,
    }
    assert pool.account("ann").resources_used == 2
    pool.cycle("north", pool_of([*claimed("north", 2, "ann"), *free("south", 2)]), NOW + 20)
    assert (pool.account("ann").resources_used, pool.account("ann").accumulated_usage) == (2, 40)


def test_a_ceiling_counts_the_slots_of_all_negotiators(pool):
    both = [*claimed("north", 3, "ann"), *free("south", 10)]
    pool.cycle("north", pool_of(both), NOW)
    change(pool, "south", AccountChange(AccountChangeKind.CEILING, "ann@d", 5))
    later = pool.cycle("south", pool_of(both, ann=20), NOW + 1)
    assert shares(later) == {"ann": 2}
    assert "it uses 5 of 5 weighted slots" in str(later.outcomes)


def test_a_group_quota_counts_the_slots_of_all_negotiators(tmp_path):
    pool = Pool(tmp_path, conf="GROUP_NAMES = a\nGROUP_QUOTA_a = 5\n")
    both = [*claimed("north", 3, "a.ann"), *free("south", 10)]
    pool.cycle("north", pool_of(both), NOW)
    jobs = jobs_of("ann", 9, 1, AccountingGroup='"a.ann"')
    later = pool.cycle("south", snapshot(both, jobs, submitters=[submitter("a.ann", 9)]), NOW + 1)
    assert shares(later) == {"a.ann": 2}


def change(pool, name, wanted, now=NOW):
    """Change the accounts as a request of an administrator at a negotiator does."""
    pool.store(name, change_rows(pool.rows(name), wanted.to_text(), None, now).rows)


def test_what_an_administrator_sets_at_one_negotiator_holds_at_all(pool):
    used = pool_of([*claimed("north", 4, "ann"), *claimed("south", 4, "ann")])
    for name in CONSTRAINTS:
        pool.cycle(name, used, NOW)
    change(pool, "south", AccountChange(AccountChangeKind.FACTOR, "ann@d", 7.0))
    change(pool, "south", AccountChange(AccountChangeKind.PRIORITY, "ann@d", 100.0))
    change(pool, "south", AccountChange(AccountChangeKind.ACCUMULATED, "ann@d", 0.0))
    pool.cycle("north", used, NOW + 100)
    found = pool.account("ann")
    assert (found.factor, found.resources_used, found.weighted_accumulated_usage) == (7.0, 8, 400.0)
    assert 99 < found.priority < 100
    change(pool, "north", AccountChange(AccountChangeKind.DELETE, "ann@d"))
    assert "account:ann@d" not in pool.shared


def test_an_import_replaces_the_accounts_of_all_negotiators_and_leaves_the_slots_in_use(pool):
    used = pool_of([*claimed("north", 4, "ann"), *claimed("south", 4, "ann")])
    for name in CONSTRAINTS:
        pool.cycle(name, used, NOW)
    log = Accounts(records={"ann@d": AccountRecord(priority=9.0, resources_used=99)}, last_update=int(NOW))
    pool.store(
        "south", change_rows(pool.rows("south"), AccountsImport.of("log", log).to_text(), None, NOW).rows
    )
    found = pool.account("ann")
    assert (found.priority, found.resources_used) == (9.0, 8)


def test_what_a_cycle_leaves_is_applied_to_what_others_changed_meanwhile(pool):
    """A factor of an administrator stays, an account that was removed is not made again, and no time is charged twice."""
    used = pool_of([*claimed("north", 4, "ann"), *claimed("south", 2, "sue")], bob=1)
    for name in CONSTRAINTS:
        pool.cycle(name, used, NOW)
    late = pool.decide("north", used, NOW + 100).state.order_rows["submitters"]
    change(pool, "south", AccountChange(AccountChangeKind.FACTOR, "ann@d", 7.0), NOW + 120)
    change(pool, "south", AccountChange(AccountChangeKind.DELETE, "bob@d"), NOW + 120)
    pool.cycle("south", pool_of(claimed("south", 2, "sue")), NOW + 130)
    pool.store("north", rebased_rows(late, pool.rows("north"), None))
    assert pool.shared["clock"]["last_update"] == NOW + 130
    assert "account:bob@d" not in pool.shared
    assert (pool.account("ann").factor, pool.account("ann").accumulated_usage) == (7.0, 400)
    assert pool.account("sue").accumulated_usage == 260
    pool.cycle("north", used, NOW + 200)
    assert pool.account("ann").accumulated_usage == 800


def test_a_clock_that_is_far_ahead_at_one_negotiator_stops_no_other_one(pool):
    used = pool_of([*claimed("north", 4, "ann"), *free("south", 1)])
    pool.cycle("north", used, NOW)
    pool.cycle("south", used, NOW + 1e9)
    pool.cycle("north", used, NOW + 100)
    assert (pool.shared["clock"]["last_update"], pool.account("ann").accumulated_usage) == (NOW + 100, 400)


def test_accounts_of_a_negotiator_that_was_the_only_one_are_added(pool):
    used = pool_of(claimed("south", 2, "ann"), ann=1)
    pool.cycle("south", used, NOW)
    pool.cycle("south", used, NOW + 100)
    alone = Accounts(
        records={
            "ann@d": AccountRecord(
                priority=4.0,
                factor=3.0,
                accumulated_usage=50.0,
                resources_used=1,
                begin_usage=5,
                last_usage=7,
            ),
            "sue@d": AccountRecord(priority=2.0, factor=9.0),
        },
        last_update=int(NOW) + 50,
    )
    pool.store("north", ORDER.sharing.join(rows_of(alone), pool.rows("north")))
    ann = pool.account("ann")
    assert (ann.factor, ann.accumulated_usage, ann.begin_usage) == (1000.0, 250.0, 5)
    assert ann.priority == pytest.approx(4.5, abs=0.01)
    assert (ann.resources_used, pool.account("sue").factor) == (3, 9.0)


@pytest.mark.parametrize(
    ("key", "row"),
    [
        ("use:north", {}),
        ("use:north", {"last_update": 1, "size": [1, 1.0], "use": {}}),
        ("use:north", {"last_update": 1, "size": [1, 1.0, 1.0], "use": {"ann": [1, -1.0, 0.0]}}),
        ("use:north", {"last_update": 1, "size": [1, 1.0, math.nan], "use": {}}),
        ("negotiators", {"own": 1, "slots": {}}),
    ],
)
def test_damaged_rows_are_refused(key, row):
    with pytest.raises(ValueError, match="expected"):
        check_row(key, row)
