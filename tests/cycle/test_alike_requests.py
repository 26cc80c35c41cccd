"""What requests have in common is found once for all of them, and decides as if each were looked at by itself."""

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pools
from negotiator.bundle import default_bundle, load_bundle
from negotiator.cycle.candidate_set import CandidateSet
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Charge, Cycle, Filter, KeyCharge, Quota, RequestedCharge, hookimpl
from pools import job, matched, slot, snapshot

#: Conditions of jobs and of slots, and values of what they read: alike and unlike ones, of all types.
OF_JOBS = (
    *(
        "TARGET.Memory >= RequestMemory",
        "RequestMemory <= TARGET.Memory",
        "TARGET.Cpus > 2",
        "Memory - RequestMemory >= 0",
    ),
    *(
        "TARGET.Memory >= Wanted",
        "Wanted < TARGET.Disk",
        "TARGET.Kind == Colour",
        "TARGET.Kind =!= MY.Colour",
    ),
    *(
        "MY.Requirements =?= undefined",
        "random(2) < 2",
        "eval(Text)",
        "TARGET.Memory != RequestMemory",
        "Extra",
    ),
    *("TARGET.Odd > RequestMemory", "SubmitterUserPrio > 0.1", "isUndefined(TARGET.Gone)", "RequestMemory"),
)
OF_SLOTS = (
    *("TARGET.RequestMemory <= MY.Memory", "TARGET.Colour =?= MY.Kind", "true", "Within", "Owner != Banned"),
    *("TARGET.Wanted > Memory / 2", "MY.Requirements || true", "TARGET.Extra =!= false"),
    *('TARGET.RequestMemory <= 1500 || TARGET.Colour == "red"', "Image > 950 ?: true", "Limited"),
    *("(TARGET.RequestMemory > 1500) == (Odd > 1)", "TARGET.Wanted + 1 > 2000 || Kind == TARGET.Colour"),
)
NUMBERS = ("1000", "2000.0", "2000", "3000", "true", '"many"', "undefined", "9007199254740993", 'real("NaN")')
PLAIN = ("1000", "2000", "2000.0", "3000", "undefined", '"many"')
AMOUNTS = (*NUMBERS, "Image + 10", "ifThenElse(Image > 900, 2000, 500)", None)
COLOURS = ('"red"', '"Red"', '"blue"', "3", None)


def written(parts):
    """Return Requirements of some conjuncts; none without any."""
    return " && ".join(f"({part})" for part in parts) or None


@st.composite
def pool_ads(draw):
    """Return slots, and jobs of a few Requirements: many share conditions, and differ in what these read."""
    # One odd value among the slots' is enough for comparisons to be evaluated otherwise.
    memory = draw(st.sampled_from((PLAIN, PLAIN, NUMBERS)))
    slots = [
        slot(
            number,
            Requirements=written(draw(st.lists(st.sampled_from(OF_SLOTS), max_size=3))),
            Memory=draw(st.sampled_from(memory)),
            Kind=draw(st.sampled_from(COLOURS)),
            Odd=draw(st.sampled_from(("1500", '"x"', "1", None))),
            Within="TARGET.RequestMemory > 0",
            Limited=f"TARGET.RequestMemory * 2 > {draw(st.sampled_from((2000, 3000)))} || Memory > 1500",
        )
        for number in range(draw(st.sampled_from((8, 4, 0))))
    ]
    texts = draw(
        st.lists(st.lists(st.sampled_from(OF_JOBS), max_size=4).map(written), min_size=1, max_size=3)
    )
    jobs = [
        job(
            number,
            Requirements=draw(st.sampled_from(texts)),
            RequestMemory=draw(st.sampled_from(AMOUNTS)),
            Wanted=draw(st.sampled_from(NUMBERS)),
            Colour=draw(st.sampled_from(COLOURS)),
            Memory=draw(st.sampled_from((None, None, "1000", "2500"))),
            Image=draw(st.sampled_from(("900", "1000", "Wanted", None))),
            Extra=draw(st.sampled_from((None, None, "true", "TARGET.Cpus > 3", "false"))),
            Text='"TARGET.Cpus > 1"',
        )
        for number in range(draw(st.sampled_from((20, 30, 3))))
    ]
    return slots, jobs


CENTRAL = """
policies:
  - {name: colour, applies_to: match, allow_unscoped: true, expression: 'TARGET.Kind =?= MY.Colour || RequestMemory > 1000', mode: warn}
  - {name: large, applies_to: match, allow_unscoped: true, expression: 'TARGET.RequestMemory < 5000 || MY.Cpus > 9'}
"""


class EachByItself(CandidateSet):
    """Candidates whose conditions are evaluated for each request by itself, as for an explanation."""


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundles")
    return {
        "default": load_bundle(default_bundle()),
        "central": pools.write_bundle(folder / "central", CENTRAL),
        "names": pools.write_bundle(folder / "names", "order: names\n"),
    }


@pytest.mark.parametrize("name", ["default", "central", "names"])
@settings(max_examples=40, deadline=None)
@given(ads=pool_ads())
def test_alike_requests_are_decided_as_each_by_itself(bundles, name, ads):
    bundle, pool = bundles[name], snapshot(*ads)
    cycle = Cycle(1, pools.NOW, bundle.digest)
    together = run_cycle(pool, bundle, cycle)
    apart = run_cycle(pool, bundle, cycle, candidate_set=EachByItself)
    assert [each.removals for each in together.outcomes] == [each.removals for each in apart.outcomes]
    assert [each.candidates for each in together.outcomes] == [each.candidates for each in apart.outcomes]
    assert together.matches == apart.matches
    assert together.journal == apart.journal


class Counting:
    """A plugin that counts the calls of its hooks; ``filters`` and ``charges`` make the answers."""

    def __init__(self, filters=lambda _request: (), charges=lambda _request: (), reads=()):
        self.filters, self.charges, self.reads, self.calls = (
            filters,
            charges,
            reads,
            {"filters": 0, "charges": 0},
        )

    @hookimpl
    def negotiator_job_attributes(self):
        return self.reads

    @hookimpl
    def negotiator_filter_slots(self, request, slots):
        self.calls["filters"] += 1
        return self.filters(request) and [
            Filter(rule="r", allow=np.full(len(slots), self.filters(request) == "yes"), code="c", text="t")
        ]

    @hookimpl
    def negotiator_charges(self, request):
        self.calls["charges"] += 1
        return self.charges(request)


def run(tmp_path, plugin, *ads):
    """Return the result of a cycle over one slot for each job and some more."""
    bundle = load_bundle(pools_folder(tmp_path), extra_plugins={"counting": plugin})
    return run_cycle(snapshot([slot(n) for n in range(9)], ads), bundle, Cycle(1, pools.NOW, bundle.digest))


def pools_folder(tmp_path):
    pools.write_bundle(tmp_path / "b", "")
    return tmp_path / "b"


UNLIKE = [
    job(n, Requirements=f"TARGET.Cpus > -{n + 1}", RequestMemory=str(100 + n), Colour='"red"')
    for n in range(4)
]


def test_a_plugin_is_asked_once_for_requests_that_it_does_not_tell_apart(tmp_path):
    plugin = Counting()
    assert len(matched(run(tmp_path, plugin, *UNLIKE))) == 4
    assert plugin.calls == {"filters": 1, "charges": 1}


@pytest.mark.parametrize("field", ["count", "first_job", "resources", "applications"])
def test_it_is_asked_again_for_other_values_of_what_it_reads(tmp_path, field):
    plugin = Counting(lambda request: str(getattr(request, field)) and "yes")
    if field == "resources":
        plugin.filters = lambda request: "yes" if request.resources["memory"] else ""
    assert len(matched(run(tmp_path, plugin, *UNLIKE))) == 4
    assert plugin.calls["filters"] == 4


def test_a_copy_of_a_request_that_a_plugin_makes_is_an_ordinary_request(tmp_path):
    plugin = Counting(
        lambda request: attrs.evolve(request, queue="root.b").as_idle().queue == "root.b" and "yes"
    )
    assert len(matched(run(tmp_path, plugin, *UNLIKE))) == 4
    assert plugin.calls["filters"] == 4


def test_declared_attributes_tell_requests_apart_by_their_values(tmp_path):
    plugin = Counting(
        lambda request: "yes" if request.ad.string("Colour") == "red" else "no", reads=["Colour", "Image"]
    )
    ads = [
        *UNLIKE,
        job(8, Colour='"blue"', Requirements="TARGET.Cpus > 1"),
        job(9, Colour="Image", Image='"red"'),
    ]
    assert len(matched(run(tmp_path, plugin, *ads))) == 5
    assert plugin.calls["filters"] == 3


def test_each_request_is_charged_its_own_amount_and_applications(tmp_path):
    quota = Quota(rule="memory", text="memory", resource="memory")

    def charges(request):
        yield RequestedCharge.of(request, ("m",), "memory", 302 * 2**20, quota)
        yield KeyCharge(("a",), request.applications, None, Quota(rule="apps", text="apps"))

    plugin = Counting(charges=charges)
    ads = [
        job(n, ClusterId=str(n + 1), RequestMemory=str(100 + n), Requirements=f"TARGET.Cpus > -{n + 1}")
        for n in range(4)
    ]
    result = run(tmp_path, plugin, *ads)
    assert plugin.calls["charges"] == 1
    assert [each for each, _ in matched(result)] == ["1.0", "2.1"]
    found = pools.used(result)
    assert found["counting.m"] == (100 + 101) * 2**20
    assert len(found["counting.a"]) == 2


def test_a_charge_by_the_amount_that_was_read_is_for_requests_with_this_amount(tmp_path):
    quota = Quota(rule="memory", text="memory")
    plugin = Counting(charges=lambda request: [Charge(("m",), request.resources["memory"], None, quota)])
    result = run(tmp_path, plugin, *UNLIKE)
    assert plugin.calls["charges"] == 4
    assert pools.used(result)["counting.m"] == (100 + 101 + 102 + 103) * 2**20


def test_a_request_that_fails_a_plugin_does_not_answer_for_others(tmp_path):
    def filters(request):
        if request.ad.string("Colour") == "blue":
            raise ValueError("blue")
        return "yes"

    plugin = Counting(filters, reads=["Colour"])
    blue = [job(n, Colour='"blue"', Requirements=f"TARGET.Cpus > -{n}") for n in (6, 7)]
    result = run(tmp_path, plugin, *blue, *UNLIKE)
    assert len(matched(result)) == 4
    assert plugin.calls["filters"] == 3
