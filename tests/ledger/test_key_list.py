"""Keys by number, and the numbers of members: added one by one or many together."""

from hypothesis import given
from hypothesis import strategies as st

from negotiator.ledger.keys import KeyList, MemberNumbers

NAMES = st.lists(st.text(max_size=3), max_size=4)


@given(st.lists(st.tuples(st.text(max_size=2), NAMES)))
def test_a_key_is_found_by_its_number(parts):
    """A part with one member is added as a key by itself."""
    found, wanted = KeyList(), []
    for prefix, members in parts:
        if len(members) == 1:
            found.append((prefix, *members))
        else:
            found.extend((prefix,), members)
        wanted += [(prefix, member) for member in members]
    assert list(found) == wanted
    assert [found[number] for number in range(len(found))] == wanted


@given(st.lists(NAMES))
def test_members_are_found_whether_or_not_others_were_looked_up_before(parts):
    found, wanted = MemberNumbers(), {}
    for number, names in enumerate(parts):
        fresh = [name for name in dict.fromkeys(names) if name not in wanted]
        numbers = range(len(wanted), len(wanted) + len(fresh))
        found.add(fresh, numbers)
        wanted |= dict(zip(fresh, numbers, strict=True))
        assert len(found) == len(wanted)
        if number % 2:
            assert found.numbers == wanted
    assert found.numbers == wanted
