"""The slots' conjuncts in layers: the same matches and reasons as with each conjunct by itself, in as many evaluations as shapes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.classad import Table, parse
from negotiator.cycle import requirements
from negotiator.cycle.conjunct import SlotLayer, slot_conjuncts, slot_layers
from pools import ad, cycle, job, slot, snapshot

STARTS = (
    "TARGET.RequestMemory <= {0}",
    "TARGET.RequestCpus < {0} && TARGET.RequestMemory <= {1}",
    "TARGET.RequestMemory <= {1} && TARGET.RequestCpus < {0}",
    "TARGET.RequestMemory <= {0} && TARGET.RequestMemory <= {1}",
    'Cpus > {0} || TARGET.Owner == "u{1}"',
    "true",
)  # fmt: skip
WHOLE = ("Start", "Start && Limits", "Limits && Start", "Requirements =?= undefined && Start")

slots = st.lists(
    st.tuples(st.sampled_from(WHOLE), st.sampled_from(STARTS), st.integers(0, 4), st.integers(0, 4)),
    min_size=4,
    max_size=24,
)


def pool(chosen, jobs):
    found = [
        slot(
            number,
            Requirements=whole,
            Start=start.format(one, two),
            Limits="TARGET.RequestCpus <= MY.Cpus",
            Cpus=str(number % 4),
        )
        for number, (whole, start, one, two) in enumerate(chosen)
    ]
    return snapshot(found, jobs)


JOBS = [
    job(0, RequestMemory="2", RequestCpus="1", Owner='"u1"'),
    job(1, RequestMemory="4", RequestCpus="3"),
    job(2, RequestMemory="Cpus + 1", RequestCpus="0", Cpus="2"),
    job(3, RequestMemory="2", RequestCpus="1", MY="[Cpus = 3]", TARGET="[RequestMemory = 9]"),
]


def outcome(result):
    matches = [(match.job, match.slot) for match in result.matches]
    return matches, [(each.request.first_job, each.removals) for each in result.outcomes]


@settings(max_examples=25, deadline=None)
@given(slots)
def test_matches_and_reasons_are_those_of_each_conjunct_by_itself(chosen):
    found = pool(chosen, JOBS)
    layered = outcome(cycle(found))
    in_layers = requirements.slot_layers
    requirements.slot_layers = lambda parts, _: tuple(range(len(parts)))
    try:
        assert outcome(cycle(found)) == layered
    finally:
        requirements.slot_layers = in_layers


def table(*ads):
    return Table.from_ads(ads)


def test_kinds_of_machines_are_as_many_layers_as_shapes():
    slots = table(*(ad(Requirements=f"TARGET.RequestMemory <= {number}") for number in range(50)))
    (layer,) = slot_layers(slot_conjuncts(slots), slots)
    assert isinstance(layer, SlotLayer)
    assert layer.shaped.rows.tolist() == list(range(50))
    assert layer.shaped.codes.tolist() == list(range(50))


def test_two_conjuncts_of_one_slot_are_in_two_layers():
    texts = [f"TARGET.A < {number} && TARGET.A < {number + 9}" for number in range(3)]
    slots = table(*(ad(Requirements=text) for text in texts))
    layers = slot_layers(slot_conjuncts(slots), slots)
    assert [layer.shaped.rows.tolist() for layer in layers] == [[0, 1, 2], [0, 1, 2]]


def test_layers_follow_the_order_of_each_slots_conjuncts():
    slots = table(
        ad(Requirements="TARGET.A < 1 && TARGET.B < 2"), ad(Requirements="TARGET.B < 3 && TARGET.A < 4")
    )
    parts = slot_conjuncts(slots)
    layers = slot_layers(parts, slots)
    order = [layer.places if isinstance(layer, SlotLayer) else (layer,) for layer in layers]
    turns = {place: turn for turn, places in enumerate(order) for place in places}
    for row in range(2):
        own = [place for place, part in enumerate(parts) if row in part.rows]
        assert sorted(own, key=turns.__getitem__) == own


def test_a_constant_in_all_slots_is_no_layer():
    slots = table(*(ad(Requirements="TARGET.A < 1", X=str(number)) for number in range(3)))
    assert slot_layers(slot_conjuncts(slots), slots) == (0,)
    assert parse("TARGET.A < 1") == slot_conjuncts(slots)[0].expression
