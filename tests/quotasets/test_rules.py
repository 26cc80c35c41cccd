"""Which rule of each set counts where, on which counter, and up to which limit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from negotiator_quotasets.complexes import LARGEST
from negotiator_quotasets.matching import Rules
from negotiator_quotasets.matching.names import is_for
from negotiator_quotasets.requests import Claimant, RequestedResources
from quota_sets import COMPLEXES, on_slots, parsed, rules, spots

USERSETS = {"staff": ("roland", "@wheel")}
ONE = RequestedResources({"slots": 1, "lic": 1, "mem": 1}, {})
ALICE = Claimant("alice")


def account(text, claimant=ALICE, places=None):
    return Rules(
        parsed(text), COMPLEXES, USERSETS, spots("lxa", "lxb", "sol") if places is None else places
    ).account(claimant)


def charged(text, claimant=ALICE, places=None, asked=ONE):
    """What each charge is, slot by slot: its counter and its limit."""
    return [on_slots(charge) for charge in account(text, claimant, places).charges(asked)]


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
def test_the_first_rule_whose_filters_match_counts(claimant, rule, limit):
    """The example of the specification, of one set."""
    text = rules("users roland to lic=3", "projects * to lic=2", "users * to lic=1")
    assert charged(text, claimant) == [[(f"r/{rule}/lic/////", limit)]]


def test_it_counts_whatever_it_limits():
    """A rule about another resource, or about none, ends the search all the same."""
    other = rules("users alice to lic=9", "users * to slots=1")
    assert charged(other, asked=RequestedResources({"slots": 1}, {})) == []
    assert charged(rules("users alice to NONE", "users * to slots=1")) == []
    assert charged(rules("users bob to NONE", "users * to slots=1")) == [[("r/2/slots/////", 1)]]


def test_every_enabled_set_counts():
    """Each with one rule; one that is not enabled has none."""
    text = rules("to slots=5", name="a") + rules("to slots=3", name="b")
    text += rules("to slots=1", name="c", further="enabled false\n")
    assert charged(text) == [[("a/1/slots/////", 5)], [("b/1/slots/////", 3)]]


def test_a_list_is_one_counter_and_an_expanded_one_has_one_for_each():
    """For users, projects, environments, queues and hosts alike."""
    claimant = Claimant("alice", (), "p", "mpi", "root.one.two")
    filters = "users {%s} projects {%s} pes {%s} queues {%s} hosts {%s}" % (("*",) * 5)
    (found,) = charged(rules(f"{filters} to slots=1"), claimant)
    assert found == [(f"r/1/slots/alice/p/mpi/one.two/{host}", 1) for host in ("lxa", "lxb", "sol")]
    summed = filters.replace("{", "").replace("}", "")
    assert charged(rules(f"{summed} to slots=1"), claimant) == [[("r/1/slots/////", 1)]]


def test_rules_differ_from_host_to_host():
    """The first that is for a host counts there, and only there."""
    text = rules("hosts lxa to slots=1", "hosts {@lx} to slots=2", "users {*} to slots=3")
    assert charged(text) == [
        [("r/1/slots/////", 1), None, None],
        [None, ("r/2/slots/////lxb", 2), None],
        [None, None, ("r/3/slots/alice////", 3)],
    ]


def test_all_slots_of_a_host_share_its_counter():
    """However many there are."""
    (found,) = charged(rules("hosts {*} to slots=1"), places=spots("a", "b", slots=2))
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
def test_whom_a_rule_is_for(filters, claimant, counts):
    """What is left out wins; a job without a project or an environment is in no list of them."""
    assert bool(charged(rules(f"{filters} to slots=1"), claimant)) is counts


HOSTS = ("lxa", "lxb", "sol")
LISTS = st.lists(
    st.sampled_from(("*", "lxa", "l*", "@lx", "!lxb", "!s*", "nowhere")), min_size=1, max_size=3, unique=True
)


@given(st.lists(st.tuples(st.sampled_from(("*", "alice", "bob", "!alice")), LISTS), min_size=1, max_size=5))
def test_on_each_host_the_first_matching_rule_charges_and_no_other(drawn):
    """Whatever the filters: the same as looking at each host by itself."""
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
                if is_for(rule.users, "alice")
                and is_for(rule.hosts, host, lambda name, host: _is(name, host, members))
            ),
            None,
        )
        for host in HOSTS
    ]
    columns = [on_slots(charge) for charge in account(text).charges(ONE)]
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
def test_a_formula_gives_each_host_its_limit(formula, value, limit):
    """Rounded down; a host that does not tell gets nothing; the largest numbers are no others."""
    places = spots("a", "b", num_proc=[value, 1], mem_total=[value, 1])
    asked = RequestedResources({"slots": 1, "shared": 1, "mem": 1}, {})
    (found,) = charged(rules(f"hosts {{*}} to {formula}"), places=places, asked=asked)
    assert found[0][1] == limit


def test_what_is_not_asked_for_is_not_charged_and_nothing_is_held_against_the_limit():
    """A request of 0 probes."""
    charges = list(account(rules("to slots=1,lic=2")).charges(RequestedResources({"lic": 0}, {})))
    assert [(charge.amount, charge.probes, charge.limit) for charge in charges] == [(0, True, 2)]
    charges = list(account(rules("to slots=1,lic=2")).charges(RequestedResources({"slots": 3}, {})))
    assert [(charge.amount, charge.probes) for charge in charges] == [(3, False)]


def test_limits_keep_their_fractions():
    """Decimals in millionths, memory in bytes, time in seconds."""
    asked = RequestedResources({"shared": 1, "mem": 1, "tm": 1}, {})
    assert [found[0][1] for found in charged(rules("to shared=0.3,mem=1.5K,tm=1:00:00"), asked=asked)] == [
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
def test_what_is_not_consumed_is_compared_by_its_relation(limit, value, refused):
    """Only where a job asks for it; nothing is charged."""
    found = account(rules(f"to {limit}"))
    asked = RequestedResources({}, {limit.partition("=")[0]: value})
    assert bool(list(found.refusals(asked))) is refused
    assert list(found.charges(asked)) == []
    assert list(found.refusals(ONE)) == []


def test_a_refusal_names_the_rule_the_expanded_values_and_where_it_holds():
    """Of several hosts the first, and how many more."""
    text = rules("name no_rt users {*} hosts {@lx} to h_rt=0")
    (bound,) = account(text).refusals(RequestedResources({}, {"h_rt": "1"}))
    assert bound.where.tolist() == [True, True, False]
    assert bound.text() == 'cannot run because it exceeds limit "alice////lxa/" in rule "r/no_rt" and 1 more'
    (everywhere,) = account(rules("users {*} to h_rt=0")).refusals(RequestedResources({}, {"h_rt": "1"}))
    assert (everywhere.where, everywhere.text()) == (
        None,
        'cannot run because it exceeds limit "alice/////" in rule "r/1"',
    )


def test_a_charge_says_which_rule_it_is_for_and_where_it_stands():
    """In the words of Grid Engine; names that are longer than a reason may be are cut there, and told apart all the same."""
    (charge,) = account(rules("users {*} to slots=1")).charges(ONE)
    assert charge.label.text == 'cannot run because it exceeds limit "alice/////" in rule "r/1"'
    assert (charge.label.rule, charge.label.resource, charge.label.source.line) == ("r/1", "slots", 3)
    name = "n" * 400
    text = rules(f"name {name}a users bob to slots=1", f"name {name}b to slots=2", name="s" * 500)
    (charge,) = account(text).charges(ONE)
    assert len(charge.label.rule) == 200
    assert charge.counter[0].endswith("nb")


def test_claimants_are_told_apart_by_all_that_rules_read():
    """A slash in a name does not make it another's: ``a/b`` and no environment is not ``a`` and ``b``."""
    text = rules("users {*} projects {*} pes {*} to slots=1")
    one, other = Claimant("u", project="a/b", pe="c"), Claimant("u", project="a", pe="b/c")
    made = Rules(parsed(text), COMPLEXES, {}, spots("h"))
    keys = [next(made.account(each).charges(ONE)).counter for each in (one, other)]
    assert keys[0] != keys[1]


def test_what_is_worked_out_is_shared_by_claimants():
    """The codes of slots are one array, so that the ledger sorts it once; what is kept is bounded."""
    made = Rules(
        parsed(rules("users {*} hosts {*} to slots=$num_proc")),
        COMPLEXES,
        {},
        spots("a", "b", num_proc=[1, 2]),
    )
    (one,), (other,) = (list(made.account(Claimant(user)).charges(ONE)) for user in "xy")
    assert one.counter.codes is other.counter.codes
    assert one.limit is other.limit
    assert made.account(Claimant("x")) is made.account(Claimant("x"))


def test_memory_of_claimants_is_bounded(monkeypatch):
    """Jobs say what they like: of many projects only the latest are kept."""
    monkeypatch.setattr("negotiator_quotasets.matching.rules._PLACES", 200)
    made = Rules(parsed(rules("projects {*} hosts {*} to slots=1")), COMPLEXES, {}, spots("a", "b"))
    first = made.account(Claimant("x", project="0"))
    for number in range(1, 100):
        made.account(Claimant("x", project=str(number)))
    assert made.account(Claimant("x", project="0")) is not first
    last = made.account(Claimant("x", project="99"))
    assert made.account(Claimant("x", project="99")) is last


def test_places_may_have_queues_of_their_own():
    """Counters by queue, and by queue and host, where rules expand both."""
    places = spots("h1", "h2", queues=("a.q", "b.q"))
    (found,) = charged(rules("queues {*} to slots=1"), places=places)
    assert [key for key, _ in found] == ["r/1/slots////a.q/", "r/1/slots////b.q/"] * 2
    (found,) = charged(rules("queues {a.q} hosts {*} to slots=1"), places=places)
    assert [key and key[0] for key in found] == ["r/1/slots////a.q/h1", None, "r/1/slots////a.q/h2", None]


def test_which_complexes_are_limited():
    """Of enabled sets."""
    text = rules("to slots=1,lic=2") + rules("to mem=1", name="off", further="enabled false\n")
    account = Rules(parsed(text), COMPLEXES, {}, spots("h")).account(Claimant("anyone"))
    assert [tariff.complex.name for tariff in account.tariffs] == ["slots", "lic"]


def test_a_pool_without_slots_is_no_error():
    """No rule about hosts counts there."""
    none = spots()
    assert charged(rules("hosts {*} to slots=1", "hosts * to slots=1"), places=none) == []
    assert (
        list(
            account(rules("hosts {*} to h_rt=0"), places=none).refusals(RequestedResources({}, {"h_rt": "1"}))
        )
        == []
    )
    assert charged(rules("users {*} to slots=1"), places=none) == [[("r/1/slots/alice////", 1)]]
