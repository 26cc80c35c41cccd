"""Access control lists only grant access: subjects that they do not name have none."""

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


@pytest.mark.parametrize(("text", "user", "groups", "expected"), WHO)
def test_users_and_groups_with_access(text, user, groups, expected):
    """By name or by a group; the answer has the matching entry."""
    assert Acl.parse(text).allows(user, groups) == expected


@pytest.mark.parametrize("text", ["sue  dev", "a b c", "  *", "sue dev ", " dev "])
def test_more_than_one_space_is_refused(text):
    """The groups would be ambiguous."""
    with pytest.raises(AclError, match="more than one space"):
        Acl.parse(text)


@pytest.mark.parametrize("text", ["  ", "   ", "\t", "\n", " \t", "\u00a0"])
def test_a_blank_list_is_refused_unless_it_is_a_single_space(text):
    """An empty list has two forms only."""
    with pytest.raises(AclError, match="blank list"):
        Acl.parse(text)


def test_a_tab_is_part_of_a_name_that_never_matches():
    """As in YuniKorn; a warning names it."""
    assert Acl.parse("sue\tdev").ignored == ("sue\tdev",)


@pytest.mark.parametrize("text", [*(who[0] for who in WHO), "sue,bob dev,ops", "9u,sue 9,dev"])
def test_a_list_is_read_back_from_its_text(text):
    """Without the entries that never match."""
    acl = Acl.parse(text)
    assert Acl.parse(str(acl)) == attrs.evolve(acl, ignored=())


def test_entries_that_never_match_are_reported():
    """They are no errors, as in YuniKorn."""
    assert Acl.parse("sue,9u dev,a.b,*").ignored == ("9u", "a.b", "*")


@given(USERS, USERS, USERS, USERS, NAMES, USERS)
def test_a_longer_list_revokes_no_access(users, more, groups, others, user, of_user):
    """Additional entries revoke nothing."""
    short = Acl.parse(f"{','.join(users)} {','.join(groups)}")
    long = Acl.parse(f"{','.join(users + more)} {','.join(groups + others)}")
    assert not short.allows(user, of_user) or long.allows(user, of_user)
    assert bool(long.allows(user, ())) == (user in users + more)


@pytest.mark.parametrize(
    ("text", "nobody"), [("", True), (" ", True), ("sue", False), (" dev", False), ("*", False)]
)
def test_a_list_without_entries_grants_nobody(text, nobody):
    assert Acl.parse(text).grants_nobody is nobody
