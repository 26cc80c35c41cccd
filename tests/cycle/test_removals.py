"""The reasons of several turns of one request: each is listed once, with the largest counts."""

import attrs

from negotiator.cycle.reasons import core_reason
from negotiator.cycle.result import ALLOWANCE_USED, Removal, merged_removals
from negotiator.records import Mode, Station, Verdict

FULL = core_reason(Station.CHARGE, Verdict.WAITING, "limit_reached", "the limit is reached")
SMALL = core_reason(Station.MATCH, Verdict.DENIED, "requirements", "the slot is too small")
OBSERVED = attrs.evolve(FULL, mode=Mode.WARN)


def test_the_reasons_of_a_first_turn_stay_as_they_are():
    removals = (Removal(SMALL, 3, 5), Removal(FULL, 1, 2), Removal(ALLOWANCE_USED, 4, 4))
    assert merged_removals((), removals) == removals


def test_a_reason_that_one_turn_gives_twice_is_listed_once_at_the_end():
    removals = (Removal(FULL, 1, 7), Removal(SMALL, 3, 5), Removal(FULL, 2, 6))
    assert merged_removals((), removals) == (Removal(SMALL, 3, 5), Removal(FULL, 2, 7))


def test_reasons_with_one_text_but_other_modes_are_listed_separately():
    removals = (Removal(FULL, 1, 2), Removal(OBSERVED, 3, 4))
    assert merged_removals((), removals) == removals


def test_reasons_of_earlier_turns_come_first_and_an_allowance_counts_for_its_own_turn():
    earlier = (Removal(SMALL, 3, 5), Removal(FULL, 1, 2), Removal(ALLOWANCE_USED, 4, 4))
    last = (Removal(SMALL, 1, 6),)
    assert merged_removals(earlier, last) == (Removal(FULL, 1, 2), Removal(SMALL, 3, 6))
