"""The layers below the quota sets: what the pool, its hosts and its queues have, ANDed in this order."""

import pytest

from negotiator_quotasets.complexes import STANDARD, Complex, Complexes, ComplexType, Relation, Requestable
from negotiator_quotasets.pool import Capacities, Offers
from negotiator_quotasets.requests import RequestedResources
from pools import job, matched
from quota_sets import COMPLEXES, ENGINE, bundle, counted, decide, host_slots, on_slots, rules, spots, told

FORCED = Complex("big", "b", ComplexType.BOOL, Relation.EQ, Requestable.FORCED)
EXCLUSIVE = Complex("alone", "al", ComplexType.INT, Relation.EXCL, consumable="YES")


def layers(everywhere=(), hosts=(), queues=(), places=None, complexes=None):
    """What each layer says, by complex: the pool a text, hosts a list of them, queues by their names."""
    places = spots("a", "b", slots=2) if places is None else places
    had, said = dict(hosts), dict(queues)
    offers = Offers(
        dict(everywhere),
        lambda name: had.get(name, [None] * len(places.hosts)),
        lambda queue: said.get(queue, {}),
    )
    return Capacities(offers, complexes or Complexes([*COMPLEXES, FORCED]), places)


def charged(found, queue="root.q", **amounts):
    return [on_slots(charge) for charge in found.charges(queue, RequestedResources(amounts, {}))]


def short(found, queue="root.q", requested=(), **values):
    """Where a job can't run: the slots that will do, and why the others will not."""
    asked = RequestedResources({}, values)
    return [
        (each.allow.tolist(), each.text)
        for each in found.shortages(queue, asked, {**dict(requested), **values, "big": 1})
    ]


def test_each_layer_has_a_counter_of_its_own():
    """One for the pool, one for each host, one for each queue on each host: all have to have room."""
    found = layers({"lic": "9"}, {"lic": ["3", "4"]}, {"root.q": {"lic": "1"}})
    assert charged(found, lic=1) == [
        [("global/lic", 9)],
        [("host/lic/a", 3)] * 2 + [("host/lic/b", 4)] * 2,
        [("queue/lic/root.q@a", 1)] * 2 + [("queue/lic/root.q@b", 1)] * 2,
    ]


def test_a_layer_that_says_nothing_charges_nothing():
    """Nor does one of which a job asks nothing; 0 is nothing that is there."""
    assert charged(layers(), lic=1) == []
    found = layers(hosts={"lic": ["0", None]})
    assert charged(found, mem=1) == []
    assert charged(found, lic=1) == [[("host/lic/a", 0)] * 2 + [None] * 2]


def test_queues_have_their_own():
    """Whichever is asked about, before or after another."""
    found = layers(queues={"root.q": {"lic": "1"}, "root.r": {"lic": "2"}})
    for queue, limit in (("root.q", 1), ("root.r", 2), ("root.q", 1)):
        assert charged(found, queue, lic=1)[0][0] == (f"queue/lic/{queue}@a", limit)
    assert charged(found, "root.s", lic=1) == []


def test_places_may_have_queues_of_their_own():
    """Each host and queue is one."""
    found = layers(queues={"q": {"lic": "1"}}, places=spots("a", "b", queues=("q", "r")))
    assert charged(found, "", lic=1) == [[("queue/lic/q@a", 1), None, ("queue/lic/q@b", 1), None]]


@pytest.mark.parametrize("text", ["x", "-5", "1.5", "9" * 500, ""])
def test_what_cannot_be_read_is_nothing(text):
    """Slots say what they like: no failure, and no free ride."""
    assert charged(layers(hosts={"lic": [text, "2"]}), lic=1) == [
        [("host/lic/a", 0)] * 2 + [("host/lic/b", 2)] * 2
    ]


def test_what_is_exclusive_is_no_amount():
    """The relation EXCL says that hosts are not shared, not how much there is."""
    assert charged(layers({"alone": "1"}, complexes=Complexes([EXCLUSIVE])), alone=1) == []


def test_nothing_asked_for_is_held_against_what_there_is():
    """A request of 0 probes."""
    (charge,) = layers({"lic": "9"}).charges("q", RequestedResources({"lic": 0}, {}))
    assert (charge.amount, charge.probes) == (0, True)


BOTH, FIRST, NONE = [True] * 4, [True, True, False, False], [False] * 4


@pytest.mark.parametrize(
    ("everywhere", "hosts", "queue", "value", "allowed"),
    [
        ("4", None, None, "4", BOTH),
        ("4", None, None, "5", NONE),
        (None, ["4", "8"], None, "5", [not each for each in FIRST]),
        ("4", ["8", "2"], None, "4", FIRST),
        ("8", ["8", "8"], "4", "5", NONE),
        ("4", ["9", "9"], "9", "5", NONE),
        (None, ["9", "x"], None, "1", FIRST),
    ],
)
def test_every_layer_has_to_do(everywhere, hosts, queue, value, allowed):
    """What one refuses no other takes back."""
    found = layers(
        {"h_rt": everywhere} if everywhere else {},
        {"h_rt": hosts} if hosts else {},
        {"root.q": {"h_rt": queue}} if queue else {},
    )
    masks = [mask for mask, _ in short(found, h_rt=value)]
    assert [all(each) for each in zip(*masks, strict=True)] == allowed if masks else allowed == BOTH


def test_a_boolean_that_is_true_above_is_not_false_below():
    """complex(5): what asks for false finds it nowhere."""
    found = layers({"display_win_gui": "true"}, {"display_win_gui": ["false", "true"]})
    (first, second) = short(found, display_win_gui="false")
    assert (first[0], second[0]) == (NONE, FIRST)


def test_what_nobody_says_anything_of_is_unknown_but_for_limits_of_queues():
    """queue_conf(5): these are INFINITY where nothing is said."""
    assert short(layers(), arch="x") == [(NONE, "job requests unknown resource (arch)")]
    assert short(layers(hosts={"arch": ["x", None]}), arch="x") == [
        (FIRST, "job requests unknown resource (arch)")
    ]
    assert short(layers(), h_rt="9") == []
    assert short(layers(), "root.q", qname="root.*") == []
    assert short(layers(), "root.q", qname="other") == [(NONE, "it offers only qname=root.q")]


def test_what_hosts_say_is_told_in_few_printable_words():
    """It stands in reasons."""
    places = spots(*(f"h{number}" for number in range(9)))
    ((_, text),) = short(
        layers(hosts={"arch": [f"{number}\x1b{'y' * 500}" for number in range(9)]}, places=places), arch="x"
    )
    assert len(text) < 300
    assert text.isprintable()


def test_who_does_not_ask_for_what_is_forced_can_only_run_where_it_is_not_there():
    """On any layer."""
    found = layers(hosts={"big": ["true", None]})
    (shortage,) = found.shortages("root.q", RequestedResources({}, {}), {})
    assert (shortage.allow.tolist(), shortage.text) == (
        [not each for each in FIRST],
        'it does not request "forced" resource "big"',
    )
    assert list(found.shortages("root.q", RequestedResources({}, {}), {"big": "true"})) == []
    assert [
        each.allow.any() for each in layers({"big": "true"}).shortages("q", RequestedResources({}, {}), {})
    ] == [False]


def test_which_complexes_are_forced():
    """Those that a job has to ask for."""
    assert [each.name for each in layers().forced] == ["big"]
    assert layers(complexes=STANDARD).forced == []


def test_what_many_queues_have_is_not_kept_for_all():
    """Users may make queues."""
    asked = []
    places = spots("a")
    offers = Offers({}, lambda _: [None], lambda queue: asked.append(queue) or {"lic": "1"})
    found = Capacities(offers, COMPLEXES, places)
    for number in range(1000):
        assert charged(found, f"root.{number}", lic=1)[0][0][0] == f"queue/lic/root.{number}@a"
    before = len(asked)
    charged(found, "root.999", lic=1)
    assert len(asked) == before
    charged(found, "root.0", lic=1)
    assert len(asked) > before


LAYERED = ENGINE.replace(
    "complexes:\n", "complexes:\n  - {name: gpu, shortcut: g, type: BOOL, relop: ==, requestable: FORCED}\n"
)


def run(folder, engine, jobs, sets="", slots=None):
    return decide(
        bundle(folder, sets, LAYERED + engine),
        [job(n, **each) for n, each in enumerate(jobs)],
        slots or host_slots("lxa", "lxb", each=2),
    )


def test_in_a_cycle_the_layers_limit_together_with_the_sets(tmp_path):
    """The pool has 3, host lxa 1, and a set gives each user 2."""
    engine = "complex_values: {lic: 3}\nhosts: {LXA: {complex_values: {l: 1}}}\n"
    asks = [{"Requestlic": "1"}] * 4 + [{"Requestlic": "1", "Owner": '"eve"'}] * 2
    result = run(tmp_path, engine, asks, rules("users {*} to lic=2"), host_slots("lxa", "lxb", each=3))
    assert counted(result) == {
        "r/1/lic/tester////": 2,
        "r/1/lic/eve////": 1,
        "global/lic": 3,
        "host/lic/lxa": 1,
    }
    assert any(
        "cannot run globally because it exceeds what the pool has" in text for *_, text in told(result)
    )
    assert any(
        'cannot run at host "lxa" because it exceeds what the host has' in text for *_, text in told(result)
    )


def test_in_a_cycle_queues_have_slots_on_each_host(tmp_path):
    """A queue is named as rules name it."""
    result = run(tmp_path, "queues: {default: {slots: 1}}\n", [{}] * 4)
    assert sorted(slot for _, slot in matched(result)) == ["0@lxa", "0@lxb"]
    assert counted(result) == {"queue/slots/root.default@lxa": 1, "queue/slots/root.default@lxb": 1}


def test_in_a_cycle_what_slots_say_counts_unless_it_is_declared(tmp_path):
    """Of complexes that count."""
    slots = host_slots("lxa", lic="1", each=3) + host_slots("lxb", each=3)
    result = run(
        tmp_path, "hosts: {lxb: {complex_values: {lic: 2}}}\n", [{"Requestlic": "1"}] * 6, slots=slots
    )
    assert counted(result) == {"host/lic/lxa": 1, "host/lic/lxb": 2}


def test_in_a_cycle_forced_hosts_are_for_those_who_ask(tmp_path):
    """Others go elsewhere, and are told."""
    engine = "hosts: {lxa: {complex_values: {gpu: 'true'}}}\n"
    result = run(tmp_path, engine, [{"Requestgpu": "true"}] * 3 + [{"Owner": '"eve"'}] * 3)
    assert {slot for job, slot in matched(result) if job in ("1.3", "1.4", "1.5")} == {"0@lxb", "1@lxb"}
    assert any('it does not request "forced" resource "gpu"' in text for *_, text in told(result))
