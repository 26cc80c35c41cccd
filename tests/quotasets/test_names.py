"""The users, projects, queues and hosts that a filter matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import matcher, queue_matches
from negotiator_quotasets.language import NameFilter
from negotiator_quotasets.matching import Hosts
from negotiator_quotasets.matching.names import filter_matches, user_filter_matches

NAMES = [
    # names, excluded, value, matches
    (("alice",), (), "alice", True),
    (("alice",), (), "Alice", False),
    (("alice", "bob"), (), "bob", True),
    (("al*",), (), "alice", True),
    (("al?ce",), (), "alice", True),
    (("[ab]lice",), (), "blice", True),
    (("[^a]lice",), (), "alice", False),
    (("[!a]lice",), (), "blice", True),
    (("*",), (), "alice", True),
    (("*",), ("alice",), "alice", False),
    (("alice",), ("alice",), "alice", False),
    ((), ("alice",), "bob", True),
    ((), ("alice",), "alice", False),
    ((), ("*",), "bob", False),
    (("a.c",), (), "abc", False),
    (("*",), (), "", True),
]


@pytest.mark.parametrize(("names", "excluded", "value", "wanted"), NAMES)
def test_exclusions_take_precedence(names, excluded, value, wanted):
    """Wildcards as in fnmatch(3), case-sensitively; exclusions alone match everybody else."""
    assert filter_matches(NameFilter(names, excluded), value) is wanted


@pytest.mark.parametrize(
    ("names", "excluded", "wanted"),
    [
        ((), ("x",), True),
        ((), ("*",), True),
        (("*",), (), False),
        (("x",), (), False),
        (("*",), ("x",), False),
    ],
)
def test_a_job_without_a_project_matches_exclusions_only(names, excluded, wanted):
    """Even ``!*``: so are rules for jobs without a project written."""
    assert filter_matches(NameFilter(names, excluded), None) is wanted


@pytest.mark.parametrize("value", ["anything", None])
def test_a_missing_filter_matches_all(value):
    """Also jobs without a name in that scope."""
    assert filter_matches(None, value)


@given(st.text(alphabet="ab*?[]!^-.", max_size=6), st.text(alphabet="ab*.", max_size=6))
def test_a_pattern_without_wildcards_matches_only_itself(text, value):
    """And no pattern raises an error."""
    found = bool(matcher(text)(value))
    if not set(text) & set("*?["):
        assert found is (text == value)


USERSETS = {"staff": ("roland", "@wheel"), "stuff": ("eve",), "empty": ()}


@pytest.mark.parametrize(
    ("names", "excluded", "user", "groups", "wanted"),
    [
        (("@staff",), (), "roland", (), True),
        (("@staff",), (), "andre", (), False),
        (("@staff",), (), "andre", ("users", "wheel"), True),
        (("@staff",), (), "wheel", (), False),
        (("@wheel",), (), "andre", ("wheel",), False),
        (("@st*",), (), "eve", (), True),
        (("@empty", "@nobody"), (), "eve", (), False),
        (("*",), ("@staff",), "roland", (), False),
        (("@staff", "roland"), ("roland",), "roland", (), False),
        (("@staff",), ("roland",), "andre", ("wheel",), True),
        (("@staff",), (), "@wheel", (), False),
        ((), ("@st*",), "andre", ("wheel",), False),
    ],
)
def test_a_user_set_matches_its_members_and_the_members_of_its_groups(names, excluded, user, groups, wanted):
    """A Unix group counts if the user set names it; no user is mistaken for a group."""
    assert user_filter_matches(NameFilter(names, excluded), user, groups, USERSETS) is wanted


GROUPS = {
    "@lx": ("lxa", "LXB"),
    "@all": ("@lx", "@sol"),
    "@sol": ("sol*", "@all"),
    "@self": ("@self",),
    "@gone": ("@nowhere", "elsewhere"),
}


def hosts(wanted, names=("lxa", "lxb.site", "sol1", "sol2"), **options):
    known = Hosts(list(names), GROUPS, **options)
    return [name for name, there in zip(names, known.mask(wanted).tolist(), strict=True) if there]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (NameFilter(("lxa",)), ["lxa"]),
        (NameFilter(("LXA",)), ["lxa"]),
        (NameFilter(("lxa.other",)), ["lxa"]),
        (NameFilter(("lxb",)), ["lxb.site"]),
        (NameFilter(("lxb.other",)), ["lxb.site"]),
        (NameFilter(("@lx",)), ["lxa", "lxb.site"]),
        (NameFilter(("@LX",)), ["lxa", "lxb.site"]),
        (NameFilter(("@all",)), ["lxa", "lxb.site", "sol1", "sol2"]),
        (NameFilter(("@sol",), ("@lx",)), ["sol1", "sol2"]),
        (NameFilter(("@s*",), ("sol2",)), ["lxa", "lxb.site", "sol1"]),
        (NameFilter(("@self",)), []),
        (NameFilter(("@gone",)), []),
        (NameFilter(("sol?",)), ["sol1", "sol2"]),
        (NameFilter(("*.site",)), ["lxb.site"]),
        (NameFilter((), ("@lx",)), ["sol1", "sol2"]),
        (NameFilter((), ("*",)), []),
        (NameFilter(("*",), ("lxa",)), ["lxb.site", "sol1", "sol2"]),
        (NameFilter(("nowhere",)), []),
    ],
)
def test_hosts_match_by_name_wildcard_and_group(wanted, found):
    """Groups nest, even in each other; case and domains are ignored; unknown names match nothing."""
    assert hosts(wanted) == found


def test_domains_are_compared_unless_ignored():
    """``ignore_fqdn`` of sge_bootstrap(5)."""
    assert hosts(NameFilter(("lxb",)), ignore_domain=False) == []
    assert hosts(NameFilter(("lxb.SITE",)), ignore_domain=False) == ["lxb.site"]


def test_hosts_of_two_domains_differ_by_their_full_names():
    """The short name matches both."""
    names = ("a.north", "a.south")
    assert hosts(NameFilter(("a.north",)), names) == ["a.north"]
    assert hosts(NameFilter(("a",)), names) == ["a.north", "a.south"]
    assert Hosts(names, {}).canonical("A.NORTH") == "a.north"
    assert Hosts(names, {}).canonical("A") == "A"


def test_long_chains_of_groups_and_large_groups_take_linear_time():
    """Each group and each member is visited once."""
    size = 20_000
    groups = {f"@g{number}": (f"@g{number + 1}", "@g0") for number in range(size)}
    groups[f"@g{size}"] = tuple(f"h{number}" for number in range(size))
    known = Hosts([f"h{number}" for number in range(100)], groups)
    assert known.mask(NameFilter(("@g0",))).all()


@pytest.mark.parametrize(
    ("name", "queue", "wanted"),
    [
        ("one", "root.one", True),
        ("one", "root.one.two", False),
        ("two", "root.one.two", True),
        ("t*", "root.one.two", True),
        ("root", "root.one", False),
        ("one.two", "root.one.two", True),
        ("root.one.two", "root.one.two", True),
        ("root.*", "root.one.two", True),
        ("one.*", "root.one", False),
        ("all.q", "root.all.q", True),
        ("Two", "root.one.two", True),
        ("root.One.*", "root.one.two", True),
        ("root.two", "root.one.two", False),
    ],
)
def test_a_queue_matches_by_its_leaf_or_with_a_dot_by_its_path(name, queue, wanted):
    """With or without its root; names of queues ignore case."""
    assert queue_matches(name, queue) is wanted
