"""The ledger beside dictionaries that do the same the slow way."""

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ledger_model import Model, on
from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger, LedgerError, RefusedCharge
from negotiator.records import Mode

MODES = st.sampled_from(Mode)
SUMS = st.tuples(st.sampled_from("ab"), st.sampled_from(("h0", "h1", "h2")))
SETS = st.tuples(st.just("apps"), st.sampled_from("uv"))
AMOUNTS = st.sampled_from((0, 1, 2, 5, 2**62, LARGEST))
LIMITS = st.sampled_from((None, -1, 0, 1, 3, 10, 2**63))
APPS = st.sampled_from(("a1", "a2", "a3"))
CODES = st.lists(st.integers(-1, 2), min_size=8, max_size=8)


@st.composite
def charges(draw):
    groups = st.builds(
        lambda codes, prefix: Grouping(np.array(codes), Family((prefix,), ("h0", "h1", "h2"))),
        CODES,
        st.sampled_from("ab"),
    )
    columns = st.lists(AMOUNTS, min_size=8, max_size=8).map(lambda values: np.array(values, np.int64))
    return Charge(draw(SUMS | groups), draw(AMOUNTS | columns), draw(LIMITS))


class Beside(RuleBasedStateMachine):
    """Whatever is done to a ledger, a model says the same of its counters, and each receipt gives back what it took."""

    def __init__(self):
        super().__init__()
        self.ledger = Ledger()
        self.models = {False: Model(), True: Model()}
        self.held, self.gone = {}, set()
        self.kept = None

    def keep(self, receipt, mode, sums, keys):
        assert receipt not in self.held
        assert receipt not in self.gone
        shadow = mode is not Mode.ENFORCE
        self.models[shadow].add(sums, keys)
        self.held[receipt] = shadow, sums, keys

    @rule(
        sums=st.lists(st.tuples(SUMS, AMOUNTS, LIMITS), max_size=3),
        keys=st.lists(st.tuples(SETS, APPS, LIMITS), max_size=3),
        mode=MODES,
    )
    def charge_one(self, sums, keys, mode):
        """The first charge that does not fit is told, or all are there."""
        model = self.models[mode is not Mode.ENFORCE]
        stop, stop_of_keys = model.stop(sums), model.stop_of_keys(keys)
        answer = self.ledger.try_charge(sums, keys, mode)
        if stop is None and stop_of_keys is None:
            self.keep(answer, mode, sums, keys)
            return
        assert isinstance(answer, RefusedCharge)
        assert (answer.of_keys, answer.position) == (
            (False, stop) if stop is not None else (True, stop_of_keys)
        )
        assert answer.used + answer.needed > answer.limit

    @rule(
        charges=st.lists(charges(), max_size=3),
        keys=st.lists(st.tuples(SETS, st.lists(APPS, min_size=5, max_size=5), LIMITS), max_size=2),
        rows=st.lists(st.integers(0, 7), max_size=8),
        copies=st.integers(0, 5),
        mode=MODES,
    )
    def admit_and_commit(self, charges, keys, rows, copies, mode):
        """What is admitted is what going row by row gives, and each match has a receipt."""
        key_charges = [KeyCharge(*each) for each in keys]
        granted, stops, copy_stops, _ = self.models[mode is not Mode.ENFORCE].admit(
            charges, key_charges, rows, copies
        )
        admission = self.ledger.admit(charges, key_charges, np.array(rows), copies, mode)
        assert (admission.stops.tolist(), admission.copy_stops.tolist()) == (stops, copy_stops)
        receipts = self.ledger.commit(admission)
        for receipt, (position, copy) in zip(receipts, granted, strict=True):
            sums = [on(charge, rows[position]) for charge in charges]
            self.keep(
                receipt, mode, sums, [(counter, members[copy], limit) for counter, members, limit in keys]
            )

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data):
        receipt = data.draw(st.sampled_from(sorted(self.held)))
        shadow, sums, keys = self.held.pop(receipt)
        self.ledger.release(receipt)
        self.models[shadow].add(sums, keys, -1)
        self.gone.add(receipt)

    @precondition(lambda self: self.gone)
    @rule(data=st.data())
    def release_again(self, data):
        """What was given back is not given back twice."""
        with pytest.raises(LedgerError) as raised:
            self.ledger.release(data.draw(st.sampled_from(sorted(self.gone))))
        assert raised.value.code == "already_released"

    @rule(receipt=st.sampled_from((0, -1, 10**9)))
    def release_what_never_was(self, receipt):
        with pytest.raises(LedgerError) as raised:
            self.ledger.release(receipt)
        assert raised.value.code == "never_charged"

    @rule()
    def snapshot(self):
        models = {shadow: model.copy() for shadow, model in self.models.items()}
        self.kept = self.ledger.snapshot(), models, dict(self.held)

    @precondition(lambda self: self.kept)
    @rule()
    def restore(self):
        """What was charged since is gone, what was released since is held again."""
        state, models, held = self.kept
        self.ledger.restore(state)
        self.gone = (self.gone | self.held.keys()) - held.keys()
        self.models = {shadow: model.copy() for shadow, model in models.items()}
        self.held = dict(held)

    @rule(sums=st.lists(st.tuples(SUMS, LIMITS)), sets=st.lists(st.tuples(SETS, LIMITS)), mode=MODES)
    def headroom(self, sums, sets, mode):
        model = self.models[mode is not Mode.ENFORCE]
        used = [model.sums[key] for key, _ in sums] + [len(model.sets.get(key, ())) for key, _ in sets]
        wanted = [
            None if limit is None else limit - there
            for (_, limit), there in zip((*sums, *sets), used, strict=True)
        ]
        assert self.ledger.headroom(sums, sets, mode) == wanted

    @invariant()
    def holds_the_same(self):
        for mode in Mode:
            counters = self.ledger.counters(mode)
            sums, sets = self.models[mode is not Mode.ENFORCE].state()
            assert dict(counters) == sums
            assert dict(counters.key_sets()) == sets
            assert all(counters.used(key) == used for key, used in sums.items())
            assert all(counters.used(key) == len(members) for key, members in sets.items())
        self.ledger.verify()

    @invariant()
    def tells_what_receipts_say(self):
        assert list(self.ledger.receipts()) == sorted(self.held)
        assert len(self.ledger) == len(self.held)
        for receipt, (_, sums, keys) in self.held.items():
            postings = self.ledger.postings(receipt)
            assert postings.sums == tuple((key, amount) for key, amount, *_ in sums if amount)
            assert postings.keys == tuple((counter, key) for counter, key, *_ in keys)


TestBeside = Beside.TestCase
