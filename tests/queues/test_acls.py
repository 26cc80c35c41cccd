"""Access control lists: they only ever give access, and what they do not name has none."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator.queues import Acl
from negotiator.queues.acl import AclError

NAMES = st.sampled_from(["sue", "bob", "dev", "ops", "_x", "a.b"])
USERS = st.lists(NAMES, max_size=3)

WHO = [
    ("", "sue", ["dev"], ""),
    (" ", "sue", ["dev"], ""),
    ("*", "", [], "everybody"),
    (" *", "sue", [], "everybody"),
    ("sue *", "bob", [], "everybody"),
    ("* dev", "bob", [], "everybody"),
    ("sue,*", "bob", [], ""),
    ("sue", "sue", [], "user sue"),
    ("sue", "Sue", [], ""),
    ("sue", "dev", ["sue"], ""),
    (" dev", "dev", [], ""),
    (" dev,ops", "sue", ["staff", "ops", "dev"], "group ops"),
    ("svc$", "svc$", [], "user svc$"),
    ("9u", "9u", [], ""),
    (" a.b", "sue", ["a.b"], ""),
    (",,sue,", "", [""], ""),
]


@pytest.mark.parametrize(("text", "user", "groups", "whom"), WHO)
def test_who_has_access(text, user, groups, whom):
    """By name or by a group, and it says by which."""
    assert Acl.parse(text).allows(user, groups) == whom


@pytest.mark.parametrize("text", ["sue  dev", "a b c", "  ", "  *", "sue dev ", " dev "])
def test_more_than_one_space_is_refused(text):
    """It is never guessed which of the parts are groups."""
    with pytest.raises(AclError, match="more than one space"):
        Acl.parse(text)


@pytest.mark.parametrize("text", [*(who[0] for who in WHO), "sue,bob dev,ops", "9u,sue 9,dev"])
def test_a_list_is_read_back_from_its_text_as_it_was(text):
    """Without the entries that never match."""
    acl = Acl.parse(text)
    assert Acl.parse(str(acl)) == attrs.evolve(acl, ignored=())


def test_entries_that_never_match_are_told():
    """They are no error, as they are none in YuniKorn."""
    assert Acl.parse("sue,9u dev,a.b,*").ignored == ("9u", "a.b", "*")


@given(USERS, USERS, USERS, USERS, NAMES, USERS)
def test_a_longer_list_takes_nothing_away(users, more, groups, others, user, of_user):
    """Whoever has access by a list has it by every list that names more."""
    short = Acl.parse(f"{','.join(users)} {','.join(groups)}")
    long = Acl.parse(f"{','.join(users + more)} {','.join(groups + others)}")
    assert not short.allows(user, of_user) or long.allows(user, of_user)
    assert bool(long.allows(user, ())) == (user in users + more)
