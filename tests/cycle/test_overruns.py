"""Running jobs are judged by every policy as if they were matched now; what a rule would deny is an overrun, with its place."""

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pools
from negotiator.cycle import overruns as module
from negotiator.cycle.cycle_state import CycleState
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from pools import NOW, ad, job, snapshot, write_bundle
from queueing import bundle as queue_bundle

SCHEDDS = [ad(Name='"good"'), ad(Name='"bad"')]
SUBMITTERS = [
    ad(Name=f'"{user}@d"', ScheddName=f'"{schedd}"') for user in ("ann", "bob") for schedd in ("good", "bad")
]
QUEUES = """
partitions:
  - name: default
    queues:
      - name: root
        queues:
          - {name: open, submitacl: "*"}
          - {name: closed, submitacl: "ann"}
    placementrules: [{name: provided, create: false}]
"""
FILTER = """
from negotiator.plugin import Filter, Verdict, hookimpl

@hookimpl
def negotiator_job_attributes():
    return ["Tag", "JobStatus"]

@hookimpl
def negotiator_filter_slots(request, slots):
    allow = slots.strings("Machine") != "h1"
    if request.ad.integer("JobStatus", 1) == 1:
        yield Filter(rule="tags", allow=allow | (request.ad.string("Tag") != "x"), code="tag", text="tag x")
        yield Filter(rule="later", allow=allow, code="later", text="later", verdict=Verdict.WAITING)
"""
GATE = """
from negotiator.plugin import Gate, hookimpl
import numpy as np

@hookimpl
def negotiator_gate_ads(kind, ads):
    if kind == "job" and "fail" in ads.names():
        raise ValueError("broken")
    if kind == "job":
        yield Gate(rule="big", discard=ads.numbers("RequestMemory") > 100, code="big", text="big")
"""


def running(number, schedd="good", owner="ann", slot=None, **changed):
    """Return a running job: on the slot of its number, unless another is named."""
    own = {"JobStatus": "2", "GlobalJobId": f'"{schedd}#1.{number}#1"', "Owner": f'"{owner}"'}
    host = {"RemoteHost": f'"{slot or f"s{number}@h"}"', "User": f'"{owner}@d"', "RequestMemory": "100"}
    return job(number, **(own | host | changed))


def claimed(number, schedd="good", owner="ann", **changed):
    """Return a claimed slot, of the job of its number."""
    claim = {
        "State": '"Claimed"',
        "Activity": '"Busy"',
        "JobId": f'"1.{number}"',
        "RemoteOwner": f'"{owner}@d"',
    }
    more = {
        "GlobalJobId": f'"{schedd}#1.{number}#1"',
        "Machine": f'"h{number}"',
        "MyAddress": f'"<{number}>"',
    }
    return pools.slot(number, **(claim | more | changed))


def found(jobs, slots, text="", state=None, schedds=SCHEDDS, submitters=SUBMITTERS, now=NOW, **more):
    """Return the result of a cycle under a bundle, or under one of this text."""
    chosen = text if hasattr(text, "digest") else more["write"](text)
    return run_cycle(snapshot(slots, jobs, schedds, submitters), chosen, Cycle(2, now, chosen.digest), state)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes a bundle from text, with plugins."""
    count = iter(range(100))
    return lambda text="", **more: write_bundle(tmp_path / str(next(count)), text, **more)


def broken(result):
    """Return the job and the rule of each running job that a policy would deny, with the place of the rule."""
    return [
        (each.job, each.reason.provenance.rule, str(each.reason.provenance.source or ""))
        for each in result.overruns
        if not each.is_limit
    ]


TWO = [running(0), running(1, "bad", "bob", RequestMemory="300", Tag='"x"')]
ON_TWO = [claimed(0), claimed(1, "bad", "bob")]
POLICY = "policies: [{{name: p, applies_to: {}, expression: '{}'}}]"
KINDS = [
    ("NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.RequestMemory > 200", "NEGOTIATOR_PE_JOB_ONLY_EXPR", 30),
    ("NEGOTIATOR_JOB_CONSTRAINT: MY.RequestMemory < 200", "NEGOTIATOR_JOB_CONSTRAINT", 28),
    ('NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Machine == "h1"', "NEGOTIATOR_PE_STARTD_ONLY_EXPR", 33),
    ('NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.Name == "bad"', "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR", 33),
    ('NEGOTIATOR_PE_SCHEDD_ONLY_EXPR: MY.ScheddName == "bad"', "NEGOTIATOR_PE_SCHEDD_ONLY_EXPR", 33),
    ('NEGOTIATOR_SUBMITTER_CONSTRAINT: MY.Name != "bob@d"', "NEGOTIATOR_SUBMITTER_CONSTRAINT", 34),
    ('NEGOTIATOR_PE_RESOURCE_EXPR: TARGET.Tag =!= "x"', "NEGOTIATOR_PE_RESOURCE_EXPR", 30),
    ('NEGOTIATOR_PE_JOB_EXPR: TARGET.Machine != "h1"', "NEGOTIATOR_PE_JOB_EXPR", 25),
    (POLICY.format("job", "MY.RequestMemory > 200"), "p", 52),
    (POLICY.format("match", "MY.RequestMemory < 200 && true"), "p", 54),
]


@pytest.mark.parametrize(("text", "rule", "column"), KINDS)
def test_a_running_job_that_a_policy_would_deny_is_an_overrun_of_its_rule(write, text, rule, column):
    assert broken(found(TWO, ON_TWO, write(text))) == [("1.1", rule, f"pool.yaml:1:{column}")]


@pytest.mark.parametrize("text", [text for text, _, _ in KINDS])
def test_what_is_idle_breaks_nothing(write, text):
    idle = [job(number, RequestMemory="300", Tag='"x"') for number in range(2)]
    assert found(idle, [pools.slot(1)], write(text)).overruns == ()


def test_an_overrun_names_job_user_slot_and_schedd(write):
    (one,) = found(TWO, ON_TWO, write(KINDS[0][0])).overruns
    assert (one.job, one.user, one.slot, one.schedd, one.since) == ("1.1", "bob", "s1@h", "bad", NOW)
    assert one.subject == "job 1.1 of bob on s1@h"


@pytest.mark.parametrize(
    "text",
    [
        'NEGOTIATOR_PE_RESOURCE_EXPR: MY.State == "Unclaimed" && MY.Activity == "Idle" && MY.RemoteOwner =?= undefined',
        "NEGOTIATOR_PE_JOB_EXPR: MY.JobStatus == 1",
        'NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.State == "Claimed"',
        "NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.JobStatus == 2 || MY.RemoteHost isnt undefined",
    ],
)
def test_a_job_is_judged_as_if_it_were_idle_and_its_slot_free(write, text):
    assert broken(found(TWO, ON_TWO, write(text))) == []


def test_slots_outside_of_the_pool_have_no_overruns(write):
    text = 'NEGOTIATOR_SLOT_CONSTRAINT: MY.Machine != "h1"\nNEGOTIATOR_PE_JOB_ONLY_EXPR: "true"'
    assert broken(found(TWO, ON_TWO, write(text))) == [
        ("1.0", "NEGOTIATOR_PE_JOB_ONLY_EXPR", "pool.yaml:2:31")
    ]


@pytest.mark.parametrize("mode", ["warn", "dryrun"])
def test_rules_that_do_not_enforce_are_only_counted(write, mode):
    text = POLICY.format("job", "MY.RequestMemory > 200").replace("{name", f"{{mode: {mode}, name")
    result = found(TWO, ON_TWO, write(text))
    assert result.overruns == ()
    assert [(each.jobs, each.reason.mode) for each in result.shadow_overruns] == [(1, mode)]


def test_each_rule_that_a_job_breaks_is_an_overrun_of_its_own(write):
    text = f"{KINDS[0][0]}\n{KINDS[6][0]}"
    result = found(TWO, ON_TWO, write(text))
    assert [rule for _, rule, _ in broken(result)] == [
        "NEGOTIATOR_PE_JOB_ONLY_EXPR",
        "NEGOTIATOR_PE_RESOURCE_EXPR",
    ]
    assert result.jobs_in_overrun == 1


def test_filters_of_plugins_judge_jobs_on_their_own_slots(write):
    """What only waits denies nothing that runs."""
    result = found(TWO, ON_TWO, write("", plugins={"mine": FILTER}))
    assert broken(result) == [("1.1", "tags", "")]


def test_the_account_of_another_user_is_an_overrun(write):
    jobs = [running(0), running(1, AccountingGroup='"bob"'), running(2, owner="bob")]
    result = found(jobs, [claimed(0), claimed(1), claimed(2, owner="bob")], write(""))
    assert [each[:2] for each in broken(result)] == [("1.1", "accounting")]


class TestQueues:
    """Access and placement."""

    @pytest.fixture
    def queues(self, tmp_path):
        return queue_bundle(tmp_path / "queues", QUEUES)

    def test_a_job_that_no_rule_places_is_an_overrun_of_the_access_list_that_denied_it(self, queues):
        jobs = [
            running(0, Queue='"root.open"'),
            running(1, owner="bob", Queue='"root.closed"', ClusterId="2"),
            running(2, Queue='"root.closed"', ClusterId="3"),
        ]
        slots = [claimed(0), claimed(1, owner="bob", JobId='"2.1"', GlobalJobId='"good#2.1#1"')]
        ((one, rule, place),) = broken(found(jobs, slots, queues))
        assert (one, rule, place) == ("2.1", "acl", "queues.yaml:8:13")

    def test_a_job_without_any_queue_names_the_rule(self, queues):
        ((one, rule, place),) = broken(found([running(0)], [claimed(0)], queues))
        assert (one, rule, place) == ("1.0", "rule provided", "queues.yaml:9:22")

    def test_an_application_keeps_its_queue_but_not_an_access_that_is_withdrawn(self, queues, tmp_path):
        jobs, slots = [running(0, Queue='"root.closed"')], [claimed(0)]
        first = found(jobs, slots, queues)
        assert broken(first) == []
        moved = [running(0, Queue='"root.nowhere"')]
        assert broken(found(moved, slots, queues, first.state)) == []
        closed = queue_bundle(tmp_path / "closed", QUEUES.replace('"ann"', '"bob"'))
        state = first.state.under(closed, NOW)
        assert [each[0] for each in broken(found(jobs, slots, closed, state))] == ["1.0"]


class TestUnknownJobs:
    """Jobs that only their claimed slots show."""

    def test_they_are_judged_by_what_their_slots_show(self, write):
        gate = 'NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Machine == "h0"'
        text = f"""{gate}\nNEGOTIATOR_PE_JOB_EXPR: MY.Owner != "bob" || TARGET.Machine == "h9"\n"""
        result = found([], ON_TWO, write(text))
        assert [each[:2] for each in broken(result)] == [
            ("1.0", "NEGOTIATOR_PE_STARTD_ONLY_EXPR"),
            ("1.1", "NEGOTIATOR_PE_JOB_EXPR"),
        ]
        assert result.unjudged == 0

    @pytest.mark.parametrize("place", [0, 1, 6, 8, 9])
    def test_they_are_unjudged_by_rules_that_read_more(self, write, place):
        result = found([running(0)], ON_TWO, write(KINDS[place][0]))
        assert (broken(result), result.unjudged) == ([], 1)

    def test_without_policies_nothing_is_unjudged(self, write):
        assert found([], ON_TWO, write("")).unjudged == 0

    def test_an_overrun_of_a_schedd_that_does_not_answer_neither_ends_nor_begins_anew(self, write):
        chosen = write(KINDS[0][0])
        first = found(TWO, ON_TWO, chosen)
        silent = found(TWO[:1], ON_TWO, chosen, first.state, now=NOW + 60)
        assert [(each.job, each.since) for each in silent.overruns] == [("1.1", NOW)]
        assert (silent.overruns_begun, silent.overruns_ended, silent.unjudged) == ((), (), 1)
        again = found(TWO, ON_TWO, chosen, silent.state, now=NOW + 120)
        assert [each.since for each in again.overruns] == [NOW]
        gone = found(TWO[:1], [ON_TWO[0], pools.slot(1)], chosen, silent.state, now=NOW + 120)
        assert [each.job for each in gone.overruns_ended] == ["1.1"]

    def test_what_is_kept_does_not_end_the_job(self, write):
        chosen = write(f"{KINDS[0][0]}\noverruns: vacate\noverrun_grace: 0")
        first = found(TWO, ON_TWO, chosen)
        assert [(each.startd, each.fast) for each in first.evictions] == [("<1>", False)]
        assert found(TWO[:1], ON_TWO, chosen, first.state).evictions == ()

    def test_a_gate_that_fails_keeps_what_it_found(self, write):
        chosen = write("", plugins={"mine": GATE})
        first = found(TWO, ON_TWO, chosen)
        assert [each[:2] for each in broken(first)] == [("1.1", "big")]
        failed = found([*TWO, running(2, Fail="true")], ON_TWO, chosen, first.state)
        assert [each[:2] for each in broken(failed)] == [("1.1", "big")]
        assert (failed.overruns_begun, failed.unjudged) == ((), 3)
        assert any(each.plugin == "mine" for each in failed.failures)


class TestDynamicSlots:
    """A dynamic slot goes back to the slot that it was carved from: its job would be matched with the whole."""

    WHOLE = pools.slot(
        Name='"slot1@h"',
        PartitionableSlot="true",
        SlotType='"Partitionable"',
        Cpus="3",
        TotalSlotCpus="4",
        GPUs="1",
        TotalSlotGPUs="1",
        Memory="2000",
        TotalSlotMemory="4000",
    )
    PART = claimed(
        0,
        Name='"slot1_1@h"',
        DynamicSlot="true",
        SlotType='"Dynamic"',
        Cpus="1",
        TotalSlotCpus="1",
        GPUs="0",
        Memory="2000",
    )

    @pytest.mark.parametrize(
        ("text", "is_broken"),
        [
            ('NEGOTIATOR_PE_JOB_EXPR: TARGET.SlotType == "Partitionable"', False),
            ("NEGOTIATOR_PE_JOB_EXPR: TARGET.Cpus - MY.RequestCpus >= 3", False),
            ("NEGOTIATOR_PE_JOB_EXPR: TARGET.Cpus - MY.RequestCpus >= 4", True),
            ("NEGOTIATOR_PE_RESOURCE_EXPR: MY.Memory == 4000", False),
            ("NEGOTIATOR_PE_RESOURCE_EXPR: MY.GPUs == 0 || TARGET.RequestGPUs > 0", True),
            ("NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Cpus < 4", False),
        ],
    )
    def test_its_job_is_judged_on_the_whole(self, write, text, is_broken):
        jobs = [running(0, slot="slot1_1@h", RequestCpus="1")]
        result = found(jobs, [self.WHOLE, self.PART], write(text))
        assert [each.slot for each in result.overruns] == ["slot1_1@h"] * is_broken

    def test_without_its_whole_it_is_judged_itself(self, write):
        jobs = [running(0, slot="slot1_1@h", RequestCpus="1")]
        assert broken(found(jobs, [self.PART], write("NEGOTIATOR_PE_RESOURCE_EXPR: MY.Cpus == 1"))) == []


def test_pairs_are_evaluated_by_classes_of_alike_jobs_not_one_by_one(write, monkeypatch):
    """Of jobs that all differ, by classes of slots."""
    calls = []

    def counted(expression, table, *rest, **more):
        calls.append(len(table))
        return evaluate(expression, table, *rest, **more)

    evaluate = module.evaluate_table
    monkeypatch.setattr(module, "evaluate_table", counted)
    jobs = [running(number, RequestMemory=str(number % 3)) for number in range(600)]
    slots = [claimed(number, Machine=f'"h{number % 2}"') for number in range(600)]
    text = "NEGOTIATOR_PE_JOB_EXPR: MY.RequestMemory < 2 || TARGET.Cpus == 5"
    assert len(found(jobs, slots, write(text)).overruns) == 200
    assert sorted(calls) == [200, 200, 200]
    calls.clear()
    text = 'NEGOTIATOR_PE_JOB_EXPR: MY.ProcId < 500 || TARGET.Machine == "h1"'
    assert len(found(jobs, slots, write(text)).overruns) == 50
    assert calls == [300, 300]


_VALUES = st.sampled_from(
    ["1", "2", '"a"', '"B"', "true", "undefined", "error", "MY.Y", "TARGET.Y", "MY.X + 1", None]
)
_PARTS = (
    "MY.X == TARGET.X",
    "MY.Y =?= TARGET.Y",
    "TARGET.Z =!= MY.Z",
    "MY.Z > 1",
    'TARGET.X != "a"',
    "MY.X < TARGET.Y",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a function that returns the bundle of an expression, written once for each."""
    known = {}

    def make(side, text):
        key = side, text
        if key not in known:
            folder = tmp_path_factory.mktemp("bundles") / "b"
            known[key] = write_bundle(folder, f"NEGOTIATOR_PE_{side}_EXPR: '{text}'")
        return known[key]

    return make


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["RESOURCE", "JOB"]),
    st.lists(st.sampled_from(_PARTS), min_size=1, max_size=2),
    st.lists(st.tuples(*[_VALUES] * 3, *[_VALUES] * 3), min_size=1, max_size=8),
)
def test_a_running_job_is_an_overrun_exactly_if_the_constraint_would_deny_the_match(made, side, parts, pairs):
    """Each pair by itself is matched on a free copy of its slot."""
    chosen = made(side, " && ".join(parts))
    jobs = [dict(zip("XYZ", pair[:3], strict=True)) for pair in pairs]
    slots = [dict(zip("XYZ", pair[3:], strict=True)) for pair in pairs]
    result = found(
        [running(number, **own) for number, own in enumerate(jobs)],
        [claimed(number, **own) for number, own in enumerate(slots)],
        chosen,
    )
    denied = [
        f"1.{number}"
        for number, (own, slot) in enumerate(zip(jobs, slots, strict=True))
        if not pools.matched(
            found([job(number, **own)], [pools.slot(number, **slot)], chosen, schedds=(), submitters=())
        )
    ]
    assert sorted(each.job for each in result.overruns) == denied


def test_the_same_state_and_pool_give_the_same_overruns_byte_for_byte(write):
    chosen = write(KINDS[0][0] + "\n" + KINDS[6][0])
    first = found(TWO, ON_TWO, chosen)
    stored = CycleState.decode(first.state.encode())
    live, replayed = (found(TWO[:1], ON_TWO[:1], chosen, state) for state in (first.state, stored))
    assert live.overruns_ended == replayed.overruns_ended
    assert live.state.digest == replayed.state.digest
    assert attrs.evolve(live, state=None, ledger=None) == attrs.evolve(replayed, state=None, ledger=None)
