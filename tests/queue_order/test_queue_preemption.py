"""Preemption between queues: when a queue below its guaranteed resources may end running jobs of others, and which."""

import pytest

from negotiator.audit.records import records_by_kind
from negotiator.bundle import check_bundle
from negotiator.cycle.loop import run_cycle
from negotiator.plugin import Cycle
from negotiator.runtime.state import StateStore
from negotiator.runtime.state_manager import StateManager
from negotiator_queue_order.state_rows import check_row
from pools import NOW, cycle, matched, slot, snapshot, used
from queue_order_model import ModelQueue
from queue_order_pools import QUEUES, asking, bundle_of, changed, machines, running


def run(tmp_path, waits, jobs, slots, queues=QUEUES, pool="order: queues\n", **more):
    bundle = bundle_of(tmp_path / "b", queues, pool, **more)
    return cycle(snapshot(slots, [*jobs, *waits]), bundle)


def test_a_queue_below_its_guarantee_ends_the_youngest_jobs_of_one_above_its_own(tmp_path):
    result = run(tmp_path, asking(3), *running("root.b", 4))
    assert matched(result) == [("1.0", "r90.3@h"), ("1.1", "r90.2@h")]
    assert [(each.path, each.granted, each.ended) for each in result.order] == [("root.a", 2, 2)]


def test_a_free_slot_is_taken_first(tmp_path):
    jobs, slots = running("root.b", 4)
    assert matched(run(tmp_path, asking(1), jobs, [*slots, *machines(1)])) == [("1.0", "s0@h")]


def test_a_job_must_have_waited_for_the_delay_of_its_queue(tmp_path):
    jobs, slots = running("root.b", 4)
    assert not run(tmp_path / "1", asking(1, EnteredCurrentStatus=str(int(NOW) - 29)), jobs, slots).matches
    assert run(tmp_path / "2", asking(1, EnteredCurrentStatus=str(int(NOW) - 30)), jobs, slots).matches
    assert not run(tmp_path / "3", asking(1, QDate=None), jobs, slots).matches  # waits since this cycle


@pytest.mark.parametrize(
    "attributes",
    [
        {"RetirementTimeRemaining": "60"},
        {"PreemptingRank": "0.0"},
        {"State": '"Preempting"'},
        {"Rank": "1.0", "CurrentRank": "2.0"},
    ],
)
def test_a_slot_keeps_its_job_while_it_retires_or_is_replaced_and_if_the_slot_prefers_it(
    tmp_path, attributes
):
    assert not run(tmp_path, asking(1), *running("root.b", 4, **attributes)).matches


def test_no_more_than_ten_jobs_are_ended_for_a_queue_in_one_cycle(tmp_path):
    queues = {**QUEUES, "root.a": ModelQueue("root.a", guaranteed=20_000)}
    assert len(run(tmp_path, asking(15), *running("root.b", 20), queues).matches) == 10


def test_a_request_that_no_slot_fits_does_not_use_up_the_turns_of_others(tmp_path):
    never = [each for cluster in range(20, 32) for each in asking(1, cluster=cluster, Requirements="false")]
    result = run(tmp_path, [*never, *asking(1, QDate="9")], *running("root.b", 4))
    assert matched(result) == [("1.0", "r90.3@h")]


def test_a_guarantee_of_each_requested_resource_counts(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES)
    text = (tmp_path / "b" / "queues.yaml").read_text()
    text = text.replace("{'vcore': '1000m'}", "{'vcore': '1000m', 'memory': '4Mi'}")  # all that root.b uses
    (tmp_path / "b" / "queues.yaml").write_text(text)
    jobs, slots = running("root.b", 4)
    assert cycle(snapshot(slots, [*jobs, *asking(1)]), bundle).matches
    assert not cycle(snapshot(slots, [*jobs, *asking(1)]), tmp_path / "b").matches


@pytest.mark.parametrize(("threshold", "ends"), [("0.8", True), ("0.81", False)])
def test_nothing_is_ended_while_less_of_the_pool_than_the_threshold_is_in_use(tmp_path, threshold, ends):
    jobs, slots = running("root.b", 4, Cpus="1", Memory="9000")
    idle = slot(7, Cpus="1", Memory="9000", Requirements="false")
    pool = f"order: queues\nqueue_preemption: {{threshold: {threshold}}}\n"
    assert bool(run(tmp_path, asking(1), jobs, [*slots, idle], pool=pool).matches) is ends


def test_the_interval_between_two_checks_is_kept_over_cycles(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES, "order: queues\nqueue_preemption: {interval: 100}\n")
    jobs, slots = running("root.b", 4)
    pool = snapshot(slots, [*jobs, *asking(2, Requirements="TARGET.Allowed")])
    first = run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest))
    assert not first.matches
    allowed = snapshot([changed(each, Allowed="true") for each in slots], [*jobs, *asking(2)])
    for number, seconds, ends in ((2, 99, 0), (3, 100, 2), (4, -1, 2)):  # the last clock was set back
        cycle_of = Cycle(number, NOW + seconds, bundle.digest)
        assert len(run_cycle(allowed, bundle, cycle_of, first.state).matches) == ends


def test_a_cycle_in_which_no_queue_asks_is_no_check(tmp_path):
    result = run(tmp_path, [], *running("root.b", 4))
    assert result.state.order_rows == {}


def test_a_job_that_is_ended_already_is_no_use_of_its_queue_and_not_ended_again(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES)
    jobs, slots = running("root.b", 2)
    pool = snapshot(slots, [*jobs, *asking(2)])
    first = run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest))
    assert matched(first) == [("1.0", "r90.1@h")]
    second = run_cycle(pool, bundle, Cycle(2, NOW + 60, bundle.digest), first.state)
    assert not second.matches  # the one job that is left of root.b is its guarantee


def test_what_the_ended_job_was_charged_is_released(tmp_path):
    queues = {
        **QUEUES,
        "root.p": ModelQueue("root.p", max=4000),
        "root.p.a": ModelQueue("root.p.a", guaranteed=2000),
        "root.p.b": ModelQueue("root.p.b"),
    }
    jobs, slots = running("root.p.b", 4)
    result = run(tmp_path, asking(3, "root.p.a"), jobs, [*slots, *machines(2)], queues)
    assert matched(result) == [
        ("1.0", "r90.3@h"),
        ("1.1", "r90.2@h"),
    ]  # the maximum of root.p forbids free slots
    assert max(amount for key, amount in used(result).items() if "root.p" in key and "vcore" in key) == 4000


def test_the_record_names_the_rule_with_its_place_and_the_numbers(tmp_path):
    result = run(tmp_path, asking(1), *running("root.b", 4))
    (record,) = records_by_kind(result)["match"]
    preempts = record["preempts"]
    assert (preempts["user"], preempts["by"], preempts["queue"]) == ("bob@d", "guarantee", "root.b")
    assert preempts["text"].startswith("root.a uses less than its guaranteed resources")
    assert preempts["numbers"] == {"vcore_used": 0, "vcore_guaranteed": 2000}
    assert preempts["provenance"]["rule"] == "guaranteed"
    assert preempts["provenance"]["source"].startswith("queues.yaml:1:")


def test_a_slot_whose_job_is_protected_is_a_reason_with_the_place_of_the_guarantee(tmp_path):
    queues = {**QUEUES, "root.c": ModelQueue("root.c", guaranteed=1000)}
    (jobs, slots), (own, special) = running("root.b", 4), running("root.c", 1, 91, Special="true")
    waits = asking(1, Requirements="TARGET.Special")
    result = run(tmp_path, waits, [*jobs, *own], [*slots, *special], queues)
    (outcome,) = result.outcomes
    assert outcome.rejection.reason.code == "not_preemptable"
    assert outcome.rejection.reason.provenance.source.file == "queues.yaml"


@pytest.mark.parametrize(
    ("value", "message"), [("{threshold: 1.5}", "threshold"), ("{interval: -1}", "interval")]
)
def test_check_refuses_impossible_settings(tmp_path, value, message):
    (tmp_path / "pool.yaml").write_text(f"order: queues\nqueue_preemption: {value}\n")
    (error,) = [each for each in check_bundle(tmp_path) if each.severity == "error"]
    assert message in error.message
    assert (error.source.file, error.source.line) == ("pool.yaml", 2)


#: A queue above two leaves has the guarantee.
PARENT = {
    **QUEUES,
    "root.p": ModelQueue("root.p", guaranteed=3000),
    "root.p.x": ModelQueue("root.p.x"),
    "root.p.y": ModelQueue("root.p.y"),
}


def test_a_queue_above_the_ended_jobs_keeps_its_guarantee_too(tmp_path):
    (jobs, slots), (other, taken) = running("root.p.x", 2), running("root.p.y", 2, 91)
    result = run(tmp_path, asking(2), [*jobs, *other], [*slots, *taken], PARENT)
    assert len(result.matches) == 1


def test_a_guarantee_of_a_queue_above_is_taken_back_from_outside_it_alone(tmp_path):
    (jobs, slots), (other, taken) = running("root.b", 2), running("root.p.y", 2, 91)
    result = run(tmp_path, asking(3, "root.p.x"), [*jobs, *other], [*slots, *taken], PARENT)
    assert [match.preempts.queue for match in result.matches] == ["root.b"]


@pytest.mark.parametrize(
    "row", [{}, {"checked": "soon"}, {"checked": True}, {"checked": 1e999}, {"other": 1}]
)
def test_a_damaged_row_of_the_last_check_is_refused(row):
    with pytest.raises(ValueError, match="expected"):
        check_row("preemption", row)
    check_row("preemption", {"checked": NOW})


def test_the_time_of_the_last_check_lasts_over_a_restart(tmp_path):
    bundle = bundle_of(tmp_path / "b", QUEUES, "order: queues\nqueue_preemption: {interval: 100}\n")
    jobs, slots = running("root.b", 4)
    pool = snapshot(slots, [*jobs, *asking(1)])
    with StateStore.open(tmp_path / "state") as store:
        manager = StateManager.begin(bundle, NOW, store)
        state, _ = manager.cycle_state(pool, NOW)
        manager.adopt(run_cycle(pool, bundle, Cycle(1, NOW, bundle.digest), state))
    with StateStore.open(tmp_path / "state") as store:
        rows = StateManager.begin(bundle, NOW, store).order_rows
    assert rows["queues"] == {"preemption": {"checked": NOW}}


QUOTA_PREEMPTION = """\
partitions:
  - name: default
    preemption:
      enabled: true
      quotapreemptionenabled: true
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            properties: {preemption.policy: fence, preemption.delay: 5m}
"""


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        (
            "names",
            [
                "preemption",
                "quotapreemptionenabled",
                "the property preemption.policy",
                "the property preemption.delay",
            ],
        ),
        ("queues", ["quotapreemptionenabled"]),
    ],
)
def test_check_names_the_keys_of_preemption_that_have_no_effect(tmp_path, order, keys):
    (tmp_path / "queues.yaml").write_text(QUOTA_PREEMPTION)
    (tmp_path / "pool.yaml").write_text(f"order: {order}\n")
    notices = [each.message for each in check_bundle(tmp_path) if "no effect here" in each.message]
    assert [each.partition(" has no")[0] for each in notices] == keys
