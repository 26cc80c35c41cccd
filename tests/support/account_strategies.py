"""Accounts drawn at random."""

from hypothesis import strategies as st

from negotiator_fairshare.accounts import AccountRecord
from negotiator_fairshare.accounts.account import stored

NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=30)
AMOUNTS = st.floats(0, 1e15).map(stored)
TIMES = st.integers(0, 2**40)
RECORDS = st.builds(
    AccountRecord,
    priority=st.floats(0.5, 1e9).map(stored),
    factor=st.none() | st.floats(1, 1e10).map(stored),
    accumulated_usage=AMOUNTS,
    weighted_accumulated_usage=AMOUNTS,
    begin_usage=TIMES,
    last_usage=TIMES,
    resources_used=st.integers(0, 10**6),
    weighted_resources_used=AMOUNTS,
    hierarchical_weighted_resources_used=AMOUNTS,
    uncharged_time=st.integers(-(10**6), 10**6),
    ceiling=st.integers(-1, 1000),
    floor=st.integers(0, 1000),
    floor_lease_expiration=TIMES,
    factor_before_lease=st.none() | st.just(7.0),
    others=st.dictionaries(st.sampled_from(["Note", "X_1"]), st.sampled_from(['"text"', "1 + 1"])),
)
