"""A recorded cycle has everything that it was decided from, and is decided the same again; a damaged one is refused."""

import json
import zlib

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from negotiator.audit.recorded_cycle import RecordedCycle, RecordingError
from negotiator.bundle import default_bundle, load_bundle
from negotiator.classad import Table
from negotiator.classad.tables import AdDictionary
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.cycle_time import RecordedTime, TimeStop
from negotiator.cycle.loop import run_cycle
from negotiator.explain.replay import replay
from negotiator.hooks.turn_time import TimeLimit
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot


@pytest.fixture(scope="module")
def bundle():
    return load_bundle(default_bundle())


def recorded(pool, bundle, stops=()):
    state = CycleState.new(bundle, NOW)
    result = run_cycle(pool, bundle, Cycle(7, NOW, bundle.digest), state, time=RecordedTime(stops))
    return RecordedCycle.of(result, pool, state, bundle.files)


@pytest.fixture
def data(bundle):
    jobs = [job(n, Requirements=f"TARGET.Memory > {n * 3000}") for n in range(3)]
    return recorded(snapshot([slot(0), slot(1)], jobs), bundle).encode()


def test_a_recording_is_read_as_it_was_written(bundle, data):
    found = RecordedCycle.decode(data)
    assert found.encode() == data
    assert (found.cycle, found.files) == (Cycle(7, NOW, bundle.digest), bundle.files)
    assert found.plugins == bundle.hooks.plugin_set


EXPRESSIONS = [
    "TARGET.RequestMemory <= MY.Memory",
    "TARGET.RequestCpus <= MY.Cpus && TARGET.RequestMemory < 5000",
    'TARGET.Owner != "bob"',
    "MY.Memory > 3000",
    "true",
]


@settings(max_examples=60, deadline=None)
@given(
    requirements=st.lists(st.sampled_from(EXPRESSIONS), min_size=1, max_size=6),
    jobs=st.lists(st.sampled_from([100, 4000, 6000, 9000]), min_size=1, max_size=4),
    seed=st.permutations(EXPRESSIONS),
)
def test_a_cycle_is_decided_the_same_again(bundle, requirements, jobs, seed):
    """Reasons in the same order, whatever was in the dictionary of the ads before: that of the reader is another one."""
    own = [
        slot(n, Requirements="Start", Start=each, Memory=str(2000 * n)) for n, each in enumerate(requirements)
    ]
    dictionary = AdDictionary()
    Table.from_ads([slot(Start=each) for each in seed], dictionary)
    pool = attrs.evolve(
        snapshot([], [job(n, RequestMemory=str(size)) for n, size in enumerate(jobs)]),
        slots=Table.from_ads(own, dictionary),
    )
    made = recorded(pool, bundle)
    assert replay(RecordedCycle.decode(made.encode()), bundle).difference == ""


def test_a_time_limit_that_was_reached_is_reached_again(bundle):
    pool = snapshot([slot(n) for n in range(3)], [job(n, Rank=str(n)) for n in range(3)])
    stop = TimeStop(TimeLimit.ADMINISTRATOR, "", "", 1)
    made = recorded(pool, bundle, [stop])
    found = replay(RecordedCycle.decode(made.encode()), bundle)
    assert (found.difference, [each.stop for each in found.result.reached]) == ("", [stop])
    assert replay(attrs.evolve(made, stops=()), bundle).difference


def test_the_first_difference_is_named_with_its_place(bundle, data):
    found = RecordedCycle.decode(data)
    values = json.loads(found.result)
    values["match"][0]["slot"] = "elsewhere"
    changed = attrs.evolve(found, result=json.dumps(values, sort_keys=True, separators=(",", ":")).encode())
    assert replay(changed, bundle).difference == 'match[0].slot is "s0@h" instead of "elsewhere"'


def test_a_recording_from_before_overruns_is_compared_without_them(bundle, data):
    """It had only the limits that were exceeded, as overfills; whatever else differs is named."""
    found = RecordedCycle.decode(data)
    values = json.loads(found.result)
    (cycle,) = values["cycle"]
    for name in ("overruns", "overruns_by_rule", "overruns_left_out", "unjudged"):
        del cycle[name]
    cycle |= {"overfills": 1, "overfills_left_out": 0}
    values["overfill"] = [{"subject": "user ann"}]
    earlier = attrs.evolve(found, result=json.dumps(values).encode())
    assert replay(earlier, bundle).difference == ""
    cycle["matches"] += 1
    other = attrs.evolve(found, result=json.dumps(values).encode())
    assert (
        replay(other, bundle).difference
        == f"cycle[0].matches is {cycle['matches'] - 1} instead of {cycle['matches']}"
    )


@pytest.mark.parametrize("result", [b"{", b"\xff", b"[" * 200_000])
def test_a_result_that_is_not_json_is_refused(bundle, data, result):
    found = RecordedCycle.decode(data)
    with pytest.raises(RecordingError, match="its result is not JSON"):
        replay(attrs.evolve(found, result=result), bundle)


def test_no_secret_is_recorded(bundle):
    secret = "<1.2.3.4:9618>#1700000000#7#secret"  # noqa: S105 - no password of anybody
    made = recorded(snapshot([slot(0, ClaimId=f'"{secret}"', Capability=f'"{secret}"')], [job()]), bundle)
    head, _, rest = made.encode().partition(b"\n")
    parts = []
    for part in json.loads(head)["parts"]:
        parts.append(zlib.decompress(rest[: part["packed"]]))
        rest = rest[part["packed"] :]
    assert not any(secret.encode() in part for part in parts)


def flipped(data):
    """Change one bit of the first part."""
    place = data.index(b"\n") + 20
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def with_head(data, change):
    head, _, rest = data.partition(b"\n")
    values = json.loads(head)
    change(values)
    return json.dumps(values).encode() + b"\n" + rest


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda data: data[:-5], "cut off in its part result"),
        (
            flipped,
            "part snapshot of the recorded cycle was changed",
        ),
        (lambda data: data + b"more", "other parts"),
        (lambda _: b"", "not a recorded cycle"),
        (lambda _: b"[1]\n", "not a recorded cycle"),
        (lambda _: b"{" * 70_000, "not a recorded cycle"),
        (
            lambda data: with_head(data, lambda head: head.update(version=1)),
            "has version 1, this program reads 3",
        ),
        (lambda data: with_head(data, lambda head: head["parts"].pop()), "other parts"),
        (
            lambda data: with_head(data, lambda head: head["parts"][0].update(size=5)),
            "another size than it says",
        ),
        (lambda data: with_head(data, lambda head: head["parts"][0].update(size=1 << 40)), "no valid size"),
        (lambda data: with_head(data, lambda head: head["parts"][0].update(size=1 << 33)), "no valid size"),
        (lambda data: with_head(data, lambda head: head.pop("now")), "damaged: KeyError"),
        *(
            (lambda data, now=now: with_head(data, lambda head: head.update(now=now)), "no valid time")
            for now in (1e300, float("inf"), "nan", -1)
        ),
        (lambda data: with_head(data, lambda head: head.update(parts=7)), "damaged: TypeError"),
    ],
)
def test_a_damaged_recording_is_refused_with_the_reason(data, damage, message):
    with pytest.raises(RecordingError, match=message.replace("reads 3", "reads version 3")):
        RecordedCycle.decode(damage(data))
