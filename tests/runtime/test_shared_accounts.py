"""Several negotiators of one pool with one PostgreSQL share the accounts: what one charges or an administrator sets counts for all."""

from contextlib import suppress

import pytest

from negotiator.audit.recorded_cycle import RecordedCycle
from negotiator.errors import LeadershipLostError, StateError
from negotiator.explain.replay import replay
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore
from negotiator_fairshare.accounts import AccountRecord, Accounts
from negotiator_fairshare.accounts.state_rows import accounts_of, rows_of
from several_negotiators import NAMES, job, negotiators, slot

DAY = 86_400.0
FILES = {"pool.yaml": "order: submitters\nscheduleracl: boss\naccounting: {trust_names: true}\n"}


class Site:
    """Two negotiators and their pool."""

    def __init__(self, folder, postgresql):
        self.folder, self.url = folder, postgresql.url()
        self.write()
        found = negotiators(folder, self.url, FILES)
        self.north, self.south = self.both = list(found.values())
        for each in self.both:
            each.register()

    def write(self, used=(), **jobs):
        """Write the pool: two slots of each, those in use by part and user, and idle jobs of users."""
        ads = [
            job(10 * place + number, user)
            for place, (user, count) in enumerate(jobs.items(), 1)
            for number in range(count)
        ]
        for part in NAMES:
            users = [user for of, user in used if of == part]
            for number, user in enumerate([*users, *[""] * (2 - len(users))]):
                ads.append(slot(number, part, user))
        (self.folder / "pool.ads").write_text("".join(ads))

    def wait(self, seconds):
        """Let time pass for both."""
        for each in self.both:
            each.now = max(each.now for each in self.both) + seconds

    def account(self, user, negotiator=None):
        """Return an account as commands read it at a negotiator."""
        with StateStore.read((negotiator or self.south).location) as store:
            rows, damaged = store.order_rows("submitters")
        assert damaged == ()
        return accounts_of(rows, 0).whole().get(f"{user}@d")

    def change(self, negotiator, text):
        """Write a request of an administrator into the state of a negotiator."""
        request = AdminRequest(0, 1.0, "boss", (), AdminAction.CHANGE_ORDER, order="submitters", change=text)
        return negotiator.store.request(request)


@pytest.fixture
def site(tmp_path, postgresql):
    found = Site(tmp_path, postgresql)
    yield found
    for each in found.both:
        with suppress(StateError):
            each.store.close()


def test_who_used_much_of_one_negotiator_has_the_worse_priority_at_the_other(site):
    site.write([("north", "ann"), ("north", "ann")])
    for _ in range(4):
        site.north.cycle()
        site.wait(DAY)
    site.north.cycle()
    for negotiator in site.both:
        assert site.account("ann", negotiator).priority > 1.8
    site.write(ann=2, sue=1)
    (first, *_) = site.south.cycle().result.journal
    assert first.submitter == "sue@d"


def test_use_is_charged_once_whoever_has_cycles_when(site):
    site.write([("north", "ann"), ("south", "ann"), ("south", "ann")])
    for each in site.both:
        each.cycle()
    began = {each: each.now for each in site.both}
    for _ in range(3):
        site.wait(100)
        site.south.cycle(site.north.cycle)  # north has a cycle while south decides
    charged = site.account("ann").weighted_accumulated_usage
    seconds = {each: each.now - began[each] for each in site.both}
    assert charged == pytest.approx(seconds[site.north] + 2 * seconds[site.south], abs=12)
    assert site.account("ann").resources_used == 3


def test_a_factor_that_is_set_at_one_holds_at_the_other(site):
    site.write(ann=3)
    number = site.change(site.south, '{"kind":"setfactor","name":"ann@d","value":7.0}')
    site.north.cycle(site.south.runtime.between_cycles)  # carried out while north decides
    assert site.south.store.answered(number).ok
    for negotiator in site.both:
        assert site.account("ann", negotiator).factor == 7.0
    (share,) = site.south.cycle().result.shares
    assert share.priority == pytest.approx(3.5, abs=0.01)
    number = site.change(site.north, '{"kind":"setprio","name":"ann@d","value":50}')
    site.north.runtime.between_cycles()
    assert site.account("ann", site.south).priority == 50.0


def test_a_ceiling_is_exact_while_several_negotiators_match(site):
    """Also if it is set while one decides: with the matches of the other one it decides again."""
    site.write(ann=4)
    site.change(site.south, '{"kind":"setceiling","name":"ann@d","value":3}')

    def meanwhile():
        site.south.runtime.between_cycles()
        made.extend(site.south.matches())

    made = []
    late = site.north.matches(meanwhile)
    assert (len(made), len(late)) == (2, 1)
    assert (site.account("ann").ceiling, site.account("ann").resources_used) == (3, 3)


def test_an_account_is_removed_for_all(site):
    site.write(ann=1)
    for each in site.both:
        each.cycle()
    site.write()
    site.change(site.south, '{"kind":"delete","name":"ann@d"}')
    site.south.runtime.between_cycles()
    with StateStore.read(site.north.location) as store:
        assert "account:ann@d" not in store.order_rows("submitters")[0]


def test_a_negotiator_that_begins_anew_has_the_shared_accounts(site):
    site.write([("north", "ann")])
    site.north.cycle()
    site.wait(100)
    site.south.begin()
    site.south.cycle()
    site.north.begin()
    site.north.cycle()
    assert site.account("ann").accumulated_usage == pytest.approx(100, abs=4)


def test_a_recorded_cycle_is_decided_again_with_what_the_others_used_then(site):
    """Their matches, the use of their slots and the accounts are in the recorded state, whatever they are now."""
    site.write([("north", "ann")], ann=2, sue=2)
    site.north.cycle()
    report = site.south.cycle(site.north.cycle)
    assert report.result.matches
    bundle = site.south.bundle
    recorded = RecordedCycle.of(report.decided, report.snapshot, report.state, bundle.files).encode()
    site.wait(DAY)
    site.north.cycle()
    found = replay(RecordedCycle.decode(recorded), bundle)
    assert found.difference == ""
    assert found.result.state.order_rows == report.decided.state.order_rows
    assert "use:north" in report.state.order_rows["submitters"]
    assert {entry.slot[:5] for entry in report.state.journal} == {"north"}


def test_a_cycle_that_is_not_recorded_changes_no_account(site, postgresql):
    """Its session ends in its turn: the interval is charged by the next cycle, once."""
    site.write([("north", "ann")])
    site.north.cycle()
    site.wait(100)

    def end():
        postgresql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1852142177"  # noqa: S608
            f" AND objid = ((hashtext('{schema}:north')::bigint + 4294967296) % 4294967296)::oid"
        )

    schema = site.url.rpartition("%3D")[2]
    before = site.account("ann")
    with pytest.raises(LeadershipLostError):
        site.north.cycle(end)
    assert site.account("ann") == before
    with suppress(StateError):
        site.north.store.close()
    site.north.store = StateStore.open(site.north.location)
    assert site.north.store.hold_lock()
    site.north.begin()
    site.north.cycle()
    assert site.account("ann").accumulated_usage == pytest.approx(100, abs=6)


def test_a_change_outside_of_a_turn_is_noticed_and_nothing_is_written(site):
    site.write(ann=1)
    site.north.cycle()
    manager = site.north.runtime.state_manager
    with manager.turn():
        for last in (7, 6):  # in a turn it may write more than once
            rows = {**manager.order_rows["submitters"], "clock": {"last_update": last}}
            manager.order_rows = {**manager.order_rows, "submitters": rows}
            manager.write()
    site.south.cycle()
    site.wait(100)
    site.south.cycle()
    before = site.account("ann")
    rows = {**manager.order_rows["submitters"], "clock": {"last_update": 5}}
    manager.order_rows = {**manager.order_rows, "submitters": rows}
    with pytest.raises(StateError, match="outside of its turn: nothing was written"):
        manager.write()
    assert site.account("ann") == before


def test_a_damaged_account_is_set_aside_and_the_others_are_used(site, postgresql):
    site.write([("north", "ann"), ("north", "sue")])
    site.north.cycle()
    schema = site.url.rpartition("%3D")[2]
    postgresql.execute(
        f"UPDATE {schema}.shared_order_rows SET row = '{{\"Name\": 1}}' WHERE key = 'account:ann@d'"  # noqa: S608
    )
    site.south.begin()
    (sentence,) = site.south.runtime.state_manager.damaged
    assert "row 'account:ann@d' of the order submitters is damaged and was set aside" in sentence
    site.south.cycle()
    assert "account:sue@d" in site.south.runtime.state_manager.order_rows["submitters"]


def test_accounts_of_a_negotiator_that_had_its_own_are_shared_from_its_next_start_on(site):
    """Once: the rows are moved in one transaction."""
    alone = rows_of(
        Accounts(records={"ann@d": AccountRecord(priority=30.0, factor=5.0)}, last_update=int(site.north.now))
    )
    site.north.store.save(*((), (), ()), order_rows={("submitters", key): row for key, row in alone.items()})
    for _ in range(2):
        site.north.begin()
        site.north.cycle()
        found = site.account("ann", site.south)
        assert (found.factor, found.priority) == (5.0, pytest.approx(30.0, abs=0.01))


QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - {name: ann, resources: {guaranteed: {vcore: 2000}}}
          - {name: sue, resources: {guaranteed: {vcore: 2000}}}
    placementrules:
      - name: user
"""


def test_guaranteed_amounts_of_queues_count_the_slots_of_all_negotiators(tmp_path, postgresql):
    """Running jobs and matches: the pool shows them to each negotiator."""
    ads = [job(number, user) for user, number in (("ann", 1), ("ann", 2), ("sue", 3))]
    users = {("north", 0): "ann", ("north", 1): "ann"}
    for part, number in (("north", 0), ("north", 1), ("south", 0), ("south", 1)):
        ads.append(slot(number, part, users.get((part, number), "")))
    (tmp_path / "pool.ads").write_text("".join(ads))
    files = {"pool.yaml": "order: queues\naccounting: {trust_names: true}\n", "queues.yaml": QUEUES}
    both = negotiators(tmp_path, postgresql.url(), files)
    assert [job for job, _ in both["south"].matches()] == ["3.0", "1.0"]
    for each in both.values():
        each.store.close()


def test_negotiators_under_another_order_share_nothing(tmp_path, postgresql):
    (tmp_path / "pool.ads").write_text(job(1, "ann") + slot(0, "north"))
    both = negotiators(tmp_path, postgresql.url(), {"pool.yaml": "order: names\n"})
    assert len(both["north"].matches()) == 1
    with StateStore.read(both["south"].location) as store:
        assert store.order_rows("submitters") == ({}, ())
    for each in both.values():
        each.store.close()
