"""The layers below the quota sets: capacities of the pool, of hosts and of queues."""

import pytest

from negotiator_quotasets.complexes import STANDARD, Complex, Complexes, ComplexType, Relation, Requestable
from negotiator_quotasets.pool.capacities import Capacities, OfferedValues
from negotiator_quotasets.requests import RequestedResources
from pools import job, matched
from quota_sets import (
    COMPLEXES,
    ENGINE,
    bundle,
    counted,
    decide,
    host_index,
    host_slots,
    on_slots,
    reasons,
    rules,
)

FORCED = Complex("big", "b", ComplexType.BOOL, Relation.EQ, Requestable.FORCED)
EXCLUSIVE = Complex("alone", "al", ComplexType.INT, Relation.EXCL, consumable="YES")


def layers(of_pool=(), hosts=(), queues=(), index=None, complexes=None):
    """Capacities by complex: of the pool a text, of hosts a list of texts, of queues by their names."""
    index = host_index("a", "b", slots=2) if index is None else index
    of_hosts, of_queues = dict(hosts), dict(queues)
    offered = OfferedValues(
        dict(of_pool),
        lambda name: of_hosts.get(name, [None] * len(index)),
        lambda queue: of_queues.get(queue, {}),
    )
    return Capacities(offered, complexes or Complexes([*COMPLEXES, FORCED]), index)


def charged(capacities, queue="root.q", **amounts):
    """The counter and the limit of each charge, slot by slot."""
    return [on_slots(charge) for charge in capacities.charges(queue, RequestedResources(amounts, {}))]


def shortages(capacities, queue="root.q", by_job=(), **values):
    """The allowed slots and the reason of each shortage."""
    requested = RequestedResources({}, values)
    return [
        (each.allow.tolist(), each.text)
        for each in capacities.shortages(queue, requested, {**dict(by_job), **values, "big": 1})
    ]


def test_each_layer_has_its_own_counters():
    """One for the pool, one per host, one per queue on each host."""
    found = layers({"lic": "9"}, {"lic": ["3", "4"]}, {"root.q": {"lic": "1"}})
    assert charged(found, lic=1) == [
        [("global/lic", 9)],
        [("host/lic/a", 3)] * 2 + [("host/lic/b", 4)] * 2,
        [("queue/lic/root.q@a", 1)] * 2 + [("queue/lic/root.q@b", 1)] * 2,
    ]


def test_only_layers_with_a_value_of_a_requested_complex_are_charged():
    """0 is a value."""
    assert charged(layers(), lic=1) == []
    found = layers(hosts={"lic": ["0", None]})
    assert charged(found, mem=1) == []
    assert charged(found, lic=1) == [[("host/lic/a", 0)] * 2 + [None] * 2]


def test_queues_have_separate_counters():
    """Whatever the order of the calls."""
    found = layers(queues={"root.q": {"lic": "1"}, "root.r": {"lic": "2"}})
    for queue, limit in (("root.q", 1), ("root.r", 2), ("root.q", 1)):
        assert charged(found, queue, lic=1)[0][0] == (f"queue/lic/{queue}@a", limit)
    assert charged(found, "root.s", lic=1) == []


@pytest.mark.parametrize("text", ["x", "-5", "1.5", "9" * 500, ""])
def test_an_invalid_capacity_is_0(text):
    """Slots may say anything: it is neither a failure nor an unlimited resource."""
    assert charged(layers(hosts={"lic": [text, "2"]}), lic=1) == [
        [("host/lic/a", 0)] * 2 + [("host/lic/b", 2)] * 2
    ]


def test_an_exclusive_complex_is_not_counted():
    """The relation EXCL says that hosts are not shared, not how much they have."""
    assert charged(layers({"alone": "1"}, complexes=Complexes([EXCLUSIVE])), alone=1) == []


def test_a_request_of_0_probes_the_capacity():
    (charge,) = layers({"lic": "9"}).charges("q", RequestedResources({"lic": 0}, {}))
    assert (charge.amount, charge.probes) == (0, True)


BOTH, FIRST, NONE = [True] * 4, [True, True, False, False], [False] * 4


@pytest.mark.parametrize(
    ("of_pool", "hosts", "queue", "value", "allowed"),
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
def test_a_request_must_fit_every_layer(of_pool, hosts, queue, value, allowed):
    found = layers(
        {"h_rt": of_pool} if of_pool else {},
        {"h_rt": hosts} if hosts else {},
        {"root.q": {"h_rt": queue}} if queue else {},
    )
    masks = [mask for mask, _ in shortages(found, h_rt=value)]
    assert [all(each) for each in zip(*masks, strict=True)] == allowed if masks else allowed == BOTH


def test_a_boolean_that_is_true_above_is_not_false_below():
    """complex(5): a request for false fits nowhere."""
    found = layers({"display_win_gui": "true"}, {"display_win_gui": ["false", "true"]})
    (first, second) = shortages(found, display_win_gui="false")
    assert (first[0], second[0]) == (NONE, FIRST)


def test_a_complex_without_any_value_is_unknown_unless_it_is_a_limit_of_queues():
    """queue_conf(5): these are INFINITY by default."""
    assert shortages(layers(), arch="x") == [(NONE, "job requests unknown resource (arch)")]
    assert shortages(layers(hosts={"arch": ["x", None]}), arch="x") == [
        (FIRST, "job requests unknown resource (arch)")
    ]
    assert shortages(layers(), h_rt="9") == []
    assert shortages(layers(), "root.q", qname="root.*") == []
    assert shortages(layers(), "root.q", qname="other") == [(NONE, "it offers only qname=root.q")]


def test_values_of_hosts_are_shortened_in_reasons():
    """And made printable."""
    index = host_index(*(f"h{number}" for number in range(9)))
    ((_, text),) = shortages(
        layers(hosts={"arch": [f"{number}\x1b{'y' * 500}" for number in range(9)]}, index=index), arch="x"
    )
    assert len(text) < 300
    assert text.isprintable()


def test_a_job_without_a_request_for_a_forced_complex_runs_only_where_no_layer_has_it():
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
    assert [each.name for each in layers().forced] == ["big"]
    assert layers(complexes=STANDARD).forced == []


def test_the_cache_of_queues_is_bounded():
    """Users may create queues."""
    calls = []
    offered = OfferedValues({}, lambda _: [None], lambda queue: calls.append(queue) or {"lic": "1"})
    found = Capacities(offered, COMPLEXES, host_index("a"))
    for number in range(1000):
        assert charged(found, f"root.{number}", lic=1)[0][0][0] == f"queue/lic/root.{number}@a"
    before = len(calls)
    charged(found, "root.999", lic=1)
    assert len(calls) == before
    charged(found, "root.0", lic=1)
    assert len(calls) > before


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
    requests = [{"Requestlic": "1"}] * 4 + [{"Requestlic": "1", "Owner": '"eve"'}] * 2
    result = run(tmp_path, engine, requests, rules("users {*} to lic=2"), host_slots("lxa", "lxb", each=3))
    assert counted(result) == {
        "r/1/lic/eve////": 2,
        "r/1/lic/tester////": 1,
        "global/lic": 3,
        "host/lic/lxa": 1,
    }
    assert any(
        "cannot run globally because it exceeds what the pool has" in text for *_, text in reasons(result)
    )
    assert any(
        'cannot run at host "lxa" because it exceeds what the host has' in text
        for *_, text in reasons(result)
    )


def test_in_a_cycle_queues_have_slots_on_each_host(tmp_path):
    """Queues are declared by names that rules use too."""
    result = run(tmp_path, "queues: {default: {slots: 1}}\n", [{}] * 4)
    assert sorted(slot for _, slot in matched(result)) == ["0@lxa", "0@lxb"]
    assert counted(result) == {"queue/slots/root.default@lxa": 1, "queue/slots/root.default@lxb": 1}


def test_in_a_cycle_declared_values_override_those_of_slots(tmp_path):
    slots = host_slots("lxa", lic="1", each=3) + host_slots("lxb", each=3)
    result = run(
        tmp_path, "hosts: {lxb: {complex_values: {lic: 2}}}\n", [{"Requestlic": "1"}] * 6, slots=slots
    )
    assert counted(result) == {"host/lic/lxa": 1, "host/lic/lxb": 2}


def test_in_a_cycle_hosts_with_a_forced_complex_run_only_jobs_that_request_it(tmp_path):
    engine = "hosts: {lxa: {complex_values: {gpu: 'true'}}}\n"
    result = run(tmp_path, engine, [{"Requestgpu": "true"}] * 3 + [{"Owner": '"eve"'}] * 3)
    assert {slot for job, slot in matched(result) if job in ("1.3", "1.4", "1.5")} == {"0@lxb", "1@lxb"}
    assert any('it does not request "forced" resource "gpu"' in text for *_, text in reasons(result))
