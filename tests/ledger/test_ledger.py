"""The ledger compared with a model in dictionaries."""

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ledger_model import Model, on
from negotiator.ledger import LARGEST, Charge, Family, Grouping, KeyCharge, Ledger, LedgerError
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


class LedgerComparison(RuleBasedStateMachine):
    """After each step the counters equal those of a model, and each receipt releases exactly what it charged."""

    def __init__(self):
        super().__init__()
        self.ledger = Ledger()
        self.models = {False: Model(), True: Model()}
        self.held, self.gone = {}, set()

    def keep(self, receipt, mode, sums, keys):
        assert receipt not in self.held
        assert receipt not in self.gone
        shadow = mode is not Mode.ENFORCE
        self.models[shadow].add(sums, keys)
        self.held[receipt] = shadow, sums, keys

    @rule(
        charges=st.lists(charges(), max_size=3),
        keys=st.lists(st.tuples(SETS, st.lists(APPS, min_size=5, max_size=5), LIMITS), max_size=2),
        rows=st.lists(st.integers(0, 7), max_size=8),
        copies=st.integers(0, 5),
        mode=MODES,
    )
    def admit_and_commit(self, charges, keys, rows, copies, mode):
        """The admission equals going row by row, and each match has a receipt."""
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
        """A receipt is released once."""
        with pytest.raises(LedgerError) as raised:
            self.ledger.release(data.draw(st.sampled_from(sorted(self.gone))))
        assert raised.value.code == "already_released"

    @rule(receipt=st.sampled_from((0, -1, 10**9)))
    def release_an_unknown_receipt(self, receipt):
        with pytest.raises(LedgerError) as raised:
            self.ledger.release(receipt)
        assert raised.value.code == "never_charged"

    @invariant()
    def counters_are_those_of_the_model(self):
        for mode in Mode:
            counters = self.ledger.counters(mode)
            sums, sets = self.models[mode is not Mode.ENFORCE].state()
            assert dict(counters) == sums
            assert dict(counters.key_sets()) == sets
            assert all(counters.used(key) == used for key, used in sums.items())
            assert all(counters.used(key) == len(members) for key, members in sets.items())
        self.ledger.verify()


TestBeside = LedgerComparison.TestCase
TestBeside.settings = settings(max_examples=40)
