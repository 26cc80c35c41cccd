"""The rule of each set that applies on each host, its counter and its limit."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import LARGEST
from negotiator_quotasets.matching import Rules
from negotiator_quotasets.matching.names import filter_matches
from negotiator_quotasets.requests import Claimant, RequestedResources
from quota_sets import COMPLEXES, host_index, on_slots, parsed, rules

USERSETS = {"staff": ("roland", "@wheel")}
ONE = RequestedResources({"slots": 1, "lic": 1, "mem": 1}, {})
ALICE = Claimant("alice")


def limits_of(text, claimant=ALICE, index=None):
    return Rules(
        parsed(text), COMPLEXES, USERSETS, host_index("lxa", "lxb", "sol") if index is None else index
    ).for_claimant(claimant)


def charged(text, claimant=ALICE, index=None, requested=ONE):
    """The counter and the limit of each charge, slot by slot."""
    return [on_slots(charge) for charge in limits_of(text, claimant, index).charges(requested)]


@pytest.mark.parametrize(
    ("claimant", "rule", "limit"),
    [
        (Claimant("roland"), 1, 3),
        (Claimant("roland", project="p"), 1, 3),
        (Claimant("alice", project="p"), 2, 2),
        (Claimant("alice"), 3, 1),
        (Claimant("alice", pe="mpi"), 3, 1),
    ],
)
def test_the_first_rule_whose_filters_match_applies(claimant, rule, limit):
    """The specification's example of one set."""
    text = rules("users roland to lic=3", "projects * to lic=2", "users * to lic=1")
    assert charged(text, claimant) == [[(f"r/{rule}/lic/////", limit)]]


def test_the_first_matching_rule_ends_the_search_whatever_it_limits():
    """Even if it limits another resource, or none."""
    other = rules("users alice to lic=9", "users * to slots=1")
    assert charged(other, requested=RequestedResources({"slots": 1}, {})) == []
    assert charged(rules("users alice to NONE", "users * to slots=1")) == []
    assert charged(rules("users bob to NONE", "users * to slots=1")) == [[("r/2/slots/////", 1)]]


def test_one_rule_of_every_enabled_set_applies():
    """A disabled set has no effect."""
    text = rules("to slots=5", name="a") + rules("to slots=3", name="b")
    text += rules("to slots=1", name="c", further="enabled false\n")
    assert charged(text) == [[("a/1/slots/////", 5)], [("b/1/slots/////", 3)]]


def test_a_list_has_one_counter_and_an_expanded_list_one_for_each_name():
    """Of users, projects, environments, queues and hosts alike."""
    claimant = Claimant("alice", (), "p", "mpi", "root.one.two")
    filters = "users {%s} projects {%s} pes {%s} queues {%s} hosts {%s}" % (("*",) * 5)
    (found,) = charged(rules(f"{filters} to slots=1"), claimant)
    assert found == [(f"r/1/slots/alice/p/mpi/one.two/{host}", 1) for host in ("lxa", "lxb", "sol")]
    summed = filters.replace("{", "").replace("}", "")
    assert charged(rules(f"{summed} to slots=1"), claimant) == [[("r/1/slots/////", 1)]]


def test_the_rule_that_applies_differs_from_host_to_host():
    """The first that matches a host applies there, and only there."""
    text = rules("hosts lxa to slots=1", "hosts {@lx} to slots=2", "users {*} to slots=3")
    assert charged(text) == [
        [("r/1/slots/////", 1), None, None],
        [None, ("r/2/slots/////lxb", 2), None],
        [None, None, ("r/3/slots/alice////", 3)],
    ]


def test_all_slots_of_a_host_share_its_counter():
    (found,) = charged(rules("hosts {*} to slots=1"), index=host_index("a", "b", slots=2))
    assert found == [("r/1/slots/////a", 1)] * 2 + [("r/1/slots/////b", 1)] * 2


@pytest.mark.parametrize(
    ("filters", "claimant", "counts"),
    [
        ("users @staff,!roland", Claimant("roland"), False),
        ("users @staff,!roland,roland", Claimant("roland"), False),
        ("users @staff,!roland", Claimant("andre", ("wheel",)), True),
        ("users !@staff", Claimant("andre", ("wheel",)), False),
        ("users !@staff", Claimant("eve"), True),
        ("projects *", Claimant("eve"), False),
        ("projects !*", Claimant("eve"), True),
        ("projects !*", Claimant("eve", project="p"), False),
        ("projects !p", Claimant("eve"), True),
        ("pes *,!smp", Claimant("eve"), False),
        ("pes *,!smp", Claimant("eve", pe="mpi"), True),
        ("queues one", Claimant("eve", queue="root.a.one"), True),
        ("queues a.one", Claimant("eve", queue="root.a.one"), True),
        ("queues !a.*", Claimant("eve", queue="root.a.one"), False),
        ("hosts !*", Claimant("eve"), False),
    ],
)
def test_which_claimants_a_rule_applies_to(filters, claimant, counts):
    """Exclusions win; a job without a project or an environment matches no list of names."""
    assert bool(charged(rules(f"{filters} to slots=1"), claimant)) is counts


HOSTS = ("lxa", "lxb", "sol")
LISTS = st.lists(
    st.sampled_from(("*", "lxa", "l*", "@lx", "!lxb", "!s*", "nowhere")), min_size=1, max_size=3, unique=True
)


@given(st.lists(st.tuples(st.sampled_from(("*", "alice", "bob", "!alice")), LISTS), min_size=1, max_size=5))
def test_only_the_first_matching_rule_of_each_host_is_charged(drawn):
    """Whatever the filters, the result is that of matching each host separately."""
    text = rules(
        *[f"users {user} hosts {','.join(hosts)} to slots={n}" for n, (user, hosts) in enumerate(drawn)]
    )
    (found,) = parsed(text)
    members = {"@lx": ("lxa", "lxb")}
    expected = [
        next(
            (
                number
                for number, rule in enumerate(found.rules)
                if filter_matches(rule.users, "alice")
                and filter_matches(rule.hosts, host, lambda name, host: _is(name, host, members))
            ),
            None,
        )
        for host in HOSTS
    ]
    columns = [on_slots(charge) for charge in limits_of(text).charges(ONE)]
    columns = [column * len(HOSTS) if len(column) == 1 else column for column in columns]
    for place, wanted in enumerate(expected):
        limits = [column[place][1] for column in columns if column[place]]
        assert limits == ([] if wanted is None else [wanted])


def _is(name, host, groups):
    return host in groups.get(name, ()) or name in ("*", host, f"{host[0]}*")


@pytest.mark.parametrize(
    ("formula", "value", "limit"),
    [
        ("slots=$num_proc*2", 3, 6),
        ("slots=$num_proc*1.5", 1, 1),
        ("slots=$num_proc-4", 2, -2),
        ("slots=10-$num_proc*2+1", 3, 5),
        ("slots=$num_proc*2", None, 0),
        ("shared=$num_proc*0.5", 1, 500_000),
        ("mem=$mem_total*0.5", 5, 2),
        ("slots=$num_proc*2", 10**40, LARGEST),
        ("slots=$num_proc*2", -(10**40), -LARGEST),
    ],
)
def test_a_formula_is_computed_for_each_host(formula, value, limit):
    """Rounded down; 0 on a host without the value; huge numbers are cut off at the largest counter."""
    index = host_index("a", "b", num_proc=[value, 1], mem_total=[value, 1])
    requested = RequestedResources({"slots": 1, "shared": 1, "mem": 1}, {})
    (found,) = charged(rules(f"hosts {{*}} to {formula}"), index=index, requested=requested)
    assert found[0][1] == limit


def test_a_request_of_0_probes_the_limit_and_a_missing_request_is_not_charged():
    charges = list(limits_of(rules("to slots=1,lic=2")).charges(RequestedResources({"lic": 0}, {})))
    assert [(charge.amount, charge.probes, charge.limit) for charge in charges] == [(0, True, 2)]
    charges = list(limits_of(rules("to slots=1,lic=2")).charges(RequestedResources({"slots": 3}, {})))
    assert [(charge.amount, charge.probes) for charge in charges] == [(3, False)]


def test_limits_are_in_units_of_the_counter():
    """Decimals in millionths, memory in bytes, time in seconds."""
    requested = RequestedResources({"shared": 1, "mem": 1, "tm": 1}, {})
    assert [
        found[0][1] for found in charged(rules("to shared=0.3,mem=1.5K,tm=1:00:00"), requested=requested)
    ] == [
        300_000,
        1536,
        3600,
    ]


@pytest.mark.parametrize(
    ("limit", "value", "refused"),
    [
        ("arch=lx-amd64", "lx-amd64", False),
        ("arch=lx-amd64", "lx-*", False),
        ("arch=lx-amd64", "lx-x86|lx-amd64", False),
        ("arch=lx-amd64", "!lx-amd64", True),
        ("arch=lx-amd64", "sol", True),
        ("h_rt=1:00:00", "3600", False),
        ("h_rt=1:00:00", "3601", True),
        ("num_proc=4", "4", False),
        ("num_proc=4", "3", True),
        ("virtual_used=1G", "2G", False),
        ("virtual_used=1G", "1M", True),
    ],
)
def test_complexes_that_are_not_consumed_are_compared_by_their_relation(limit, value, refused):
    """Only if a job requests them; nothing is charged."""
    found = limits_of(rules(f"to {limit}"))
    requested = RequestedResources({}, {limit.partition("=")[0]: value})
    assert bool(list(found.violated(requested))) is refused
    assert list(found.charges(requested)) == []
    assert list(found.violated(ONE)) == []


def test_a_violated_constraint_names_its_rule_its_counter_and_its_slots():
    """Of several hosts the first, and how many more."""
    text = rules("name no_rt users {*} hosts {@lx} to h_rt=0")
    (constraint,) = limits_of(text).violated(RequestedResources({}, {"h_rt": "1"}))
    assert constraint.where.tolist() == [True, True, False]
    assert (
        constraint.text()
        == 'cannot run because it exceeds limit "alice////lxa/" in rule "r/no_rt" and 1 more'
    )
    (everywhere,) = limits_of(rules("users {*} to h_rt=0")).violated(RequestedResources({}, {"h_rt": "1"}))
    assert (everywhere.where, everywhere.text()) == (
        None,
        'cannot run because it exceeds limit "alice/////" in rule "r/1"',
    )


def test_a_charge_names_its_rule_and_its_line_in_the_words_of_grid_engine():
    """Long names are cut off in reasons, but not in counters."""
    (charge,) = limits_of(rules("users {*} to slots=1")).charges(ONE)
    assert charge.label.text == 'cannot run because it exceeds limit "alice/////" in rule "r/1"'
    assert (charge.label.rule, charge.label.resource, charge.label.source.line) == ("r/1", "slots", 3)
    name = "n" * 400
    text = rules(f"name {name}a users bob to slots=1", f"name {name}b to slots=2", name="s" * 500)
    (charge,) = limits_of(text).charges(ONE)
    assert len(charge.label.rule) == 200
    assert charge.counter[0].endswith("nb")


def test_names_with_slashes_do_not_share_a_counter():
    """Project ``a/b`` in environment ``c`` is not project ``a`` in environment ``b/c``."""
    text = rules("users {*} projects {*} pes {*} to slots=1")
    one, other = Claimant("u", project="a/b", pe="c"), Claimant("u", project="a", pe="b/c")
    made = Rules(parsed(text), COMPLEXES, {}, host_index("h"))
    keys = [next(made.for_claimant(each).charges(ONE)).counter for each in (one, other)]
    assert keys[0] != keys[1]


def test_claimants_share_the_columns_of_a_rule():
    """The codes of slots are one array, so that the ledger sorts it once."""
    made = Rules(
        parsed(rules("users {*} hosts {*} to slots=$num_proc")),
        COMPLEXES,
        {},
        host_index("a", "b", num_proc=[1, 2]),
    )
    (one,), (other,) = (list(made.for_claimant(Claimant(user)).charges(ONE)) for user in "xy")
    assert one.counter.codes is other.counter.codes
    assert one.limit is other.limit
    assert made.for_claimant(Claimant("x")) is made.for_claimant(Claimant("x"))


def test_the_cache_of_claimants_is_bounded(monkeypatch):
    """Jobs choose their projects freely: only the latest stay in the cache."""
    monkeypatch.setattr("negotiator_quotasets.matching.rules._MAX_COUNTERS", 200)
    made = Rules(parsed(rules("projects {*} hosts {*} to slots=1")), COMPLEXES, {}, host_index("a", "b"))
    first = made.for_claimant(Claimant("x", project="0"))
    for number in range(1, 100):
        made.for_claimant(Claimant("x", project=str(number)))
    assert made.for_claimant(Claimant("x", project="0")) is not first
    last = made.for_claimant(Claimant("x", project="99"))
    assert made.for_claimant(Claimant("x", project="99")) is last


def test_only_enabled_sets_limit():
    text = rules("to slots=1,lic=2") + rules("to mem=1", name="off", further="enabled false\n")
    limits = Rules(parsed(text), COMPLEXES, {}, host_index("h")).for_claimant(Claimant("anyone"))
    assert [each.complex.name for each in limits.rule_charges] == ["slots", "lic"]


def test_a_pool_without_slots_has_no_rules_about_hosts():
    none = host_index()
    assert charged(rules("hosts {*} to slots=1", "hosts * to slots=1"), index=none) == []
    assert (
        list(
            limits_of(rules("hosts {*} to h_rt=0"), index=none).violated(
                RequestedResources({}, {"h_rt": "1"})
            )
        )
        == []
    )
    assert charged(rules("users {*} to slots=1"), index=none) == [[("r/1/slots/alice////", 1)]]


def test_a_limit_of_an_unknown_complex_is_ignored_and_those_after_it_are_charged():
    """The bundle reports it."""
    (made,) = parsed(rules("to mem=1,slots=2,lic=3"))
    (rule,) = made.rules
    unknown = attrs.evolve(rule.limits[0], resource="nowhere")
    made = attrs.evolve(made, rules=(attrs.evolve(rule, limits=(unknown, *rule.limits[1:])),))
    limits = Rules([made], COMPLEXES, USERSETS, host_index("lxa")).for_claimant(ALICE)
    assert [on_slots(charge) for charge in limits.charges(ONE)] == [
        [("r/1/slots/////", 2)],
        [("r/1/lic/////", 3)],
    ]
