"""Several negotiators of one pool, with a state each in a real PostgreSQL: quotas hold for all of them together, at each moment."""

import threading

import pytest

from negotiator.bundle import load_bundle
from negotiator.errors import LeadershipLostError, StateError
from negotiator.hooks.state_location import DatabaseUrl, StateLocation
from negotiator.runtime.peer_matches import register_negotiator
from negotiator.runtime.state import StateStore
from several_negotiators import NAMES, job, negotiators, one_queue, slot

JOBS, LIMIT = 8, 5
PATIENCE = 60.0


@pytest.fixture
def pool(tmp_path, postgresql):
    ads = "".join(job(number) for number in range(1, JOBS + 1))
    ads += "".join(slot(number, part) for part in NAMES for number in range(JOBS))
    (tmp_path / "pool.ads").write_text(ads)
    url = postgresql.url()
    found = negotiators(tmp_path, url, {"queues.yaml": one_queue(LIMIT)})
    yield found, tmp_path, url
    for each in found.values():
        each.store.close()


def test_matches_that_another_negotiator_records_during_a_cycle_count_in_its_quotas(pool):
    """They also take their jobs: no job is matched twice, and the whole quota is used."""
    north, south = pool[0].values()
    for each in (north, south):
        register_negotiator(each.store, each.bundle)
    early = []
    late = south.matches(lambda: early.extend(north.matches()))
    assert len(early) == LIMIT
    assert late == []
    assert {slot[:5] for _, slot in early} == {"north"}
    assert north.matches() == south.matches() == []


def test_no_other_negotiator_records_matches_in_the_turn_of_one(pool):
    """It waits with its decisions made, and counts then what was recorded in the turn."""
    north, south = pool[0].values()
    south.begin()
    late, has_read = [], threading.Event()
    waiting = threading.Thread(target=lambda: late.extend(south.matches(has_read.set)))
    with north.store.peers.turn():
        waiting.start()
        assert has_read.wait(PATIENCE)
        waiting.join(0.5)  # without the turn it would end
        early = north.matches()
    waiting.join(PATIENCE)
    assert (len(early), late) == (LIMIT, [])


def test_the_turn_of_a_negotiator_ends_with_its_session(pool, postgresql):
    """However the process ends: what it decided is not recorded, and nobody waits for it."""
    north, south = pool[0].values()
    with north.store.peers.turn():
        postgresql.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1852142179"
        )
        assert len(south.matches()) == LIMIT
    with pytest.raises(LeadershipLostError):
        north.matches()


@pytest.mark.parametrize("first", ["north", "south"])
def test_a_negotiator_that_begins_anew_counts_what_the_others_recorded(pool, first):
    both = pool[0]
    one = both.pop(first)
    (other,) = both.values()
    assert len(one.matches()) == LIMIT
    other.begin()
    assert other.matches() == []
    pool[0][first] = one


def test_what_another_negotiator_removes_counts_no_more(pool):
    north, south = pool[0].values()
    made = north.matches()
    keys = [entry.key for entry in north.runtime.state_manager.journal.entries]
    assert south.matches() == []
    north.store.drop_matches(keys[:2])
    assert len(south.matches()) == 2
    assert len(made) == LIMIT


def test_a_quota_is_shared_out_whatever_the_interleaving(pool):
    """Each begins while the other one decides, again and again, while the matches of some cycles end."""
    north, south = pool[0].values()
    in_use = []
    for number in range(6):
        one, other = (north, south) if number % 2 else (south, north)
        found = []
        found += one.matches(lambda found=found, other=other: found.extend(other.matches()))
        in_use += found
        assert len(in_use) <= LIMIT
        for column in (0, 1):
            assert len({each[column] for each in in_use}) == len(in_use)
        assert len(in_use) == LIMIT
        for each in (north, south):
            keys = [entry.key for entry in each.runtime.state_manager.journal.entries][:1]
            gone = {(e.job, e.slot) for e in each.runtime.state_manager.journal.entries if e.key in keys}
            each.runtime.state_manager.journal.drop(keys)
            each.store.drop_matches(keys)
            in_use = [(job, slot) for job, slot in in_use if slot not in {slot for _, slot in gone}]


def test_negotiators_with_the_same_slots_or_without_any_are_refused(pool):
    north, south = pool[0].values()
    register_negotiator(north.store, north.bundle)
    with pytest.raises(StateError, match="negotiator north leads with the same NEGOTIATOR_SLOT_CONSTRAINT"):
        register_negotiator(south.store, north.bundle)
    (north.bundle.folder / "slots.conf").unlink()
    with pytest.raises(StateError, match="needs NEGOTIATOR_SLOT_CONSTRAINT in its bundle"):
        register_negotiator(south.store, load_bundle(north.bundle.folder))


def test_a_negotiator_without_a_name_beside_others_is_refused(pool):
    both, folder, url = pool
    alone = StateLocation(folder / "alone", DatabaseUrl(url))
    with StateStore.open(alone) as store:
        with pytest.raises(StateError, match="negotiator north leads: give this one a name too"):
            store.hold_lock()
        for each in both.values():
            each.store.close()
        assert store.hold_lock()
        with StateStore.open(StateLocation(folder / "new", DatabaseUrl(url), "new")) as named:
            assert named.hold_lock()
            with pytest.raises(StateError, match="a negotiator without a name leads"):
                named.peers.register("MY.Part == 1")


def test_a_damaged_match_of_another_negotiator_stops_the_cycle(pool):
    """Its amounts are not known, and no quota may be exceeded."""
    north, south = pool[0].values()
    north.matches()
    with north.store.database.writing() as db:
        db.execute("UPDATE matches SET entry = '{}' WHERE number = 1")
    south.begin()
    with pytest.raises(StateError, match="row 1 of the matches of negotiator north is damaged"):
        south.matches()
