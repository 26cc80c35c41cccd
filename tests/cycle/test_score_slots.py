"""Scores of plugins sort the slots before every rank, one after the other; they end no job."""

import json
from pathlib import Path

import numpy as np
import pytest

import negotiator as n
from negotiator.plugin import Score, SlotScore, hookimpl
from negotiator.testing import cycle

POOL = Path(__file__).parents[2] / "examples" / "first-pool"

SLOTS = "\n\n".join(f'Name = "s{i}"\nGPUs = {i % 2}\nCpus = {4 - i}\nSpeed = {i}' for i in range(4))


def scores(*records, declared=()):
    """A plugin with these scores; each is a rule and a function of request and slots."""

    class Scores:
        @hookimpl
        def negotiator_job_attributes(self):
            return declared

        @hookimpl
        def negotiator_score_slots(self, request, slots):
            for rule, values in records:
                yield Score(rule, values(request, slots))

    return Scores()


FEW_GPUS = ("few-gpus", lambda _, slots: -slots.numbers("GPUs", default=0))
FAST = ("fast", lambda _, slots: slots.numbers("Speed", default=0))


def chosen(plugins, jobs=1, rank="MY.Dummy", bundle=None):
    text = "\n\n".join([f"RequestCpus = 1\nRank = {rank}"] * jobs)
    result = cycle(SLOTS, text, bundle, plugins)
    assert result.failures == ()
    return [slot for _, slot in result.pairs]


def test_the_slot_of_the_highest_score_comes_first_whatever_the_job_and_the_pool_prefer():
    knobs = {"condor_config": "NEGOTIATOR_PRE_JOB_RANK = MY.Speed\n"}
    assert chosen([scores(FEW_GPUS)], rank="TARGET.GPUs * 100", bundle=knobs) == ["s2"]
    assert chosen([], rank="TARGET.GPUs * 100", bundle=knobs) == ["s3"]


def test_slots_of_equal_score_fall_to_the_ranks():
    assert chosen([scores(FEW_GPUS)], rank="TARGET.Cpus") == ["s0"]
    assert chosen([scores(FEW_GPUS)], rank="TARGET.Speed") == ["s2"]
    assert chosen([scores(FEW_GPUS)], jobs=4, rank="TARGET.Speed") == ["s2", "s0", "s3", "s1"]


def test_several_scores_are_compared_one_after_the_other_and_not_summed():
    huge = ("huge", lambda _, slots: 1e9 * slots.numbers("Speed", default=0))
    assert chosen([scores(FEW_GPUS, huge)], jobs=4) == ["s2", "s0", "s3", "s1"]
    assert chosen([scores(huge, FEW_GPUS)], jobs=4) == ["s3", "s2", "s1", "s0"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [("[few, fast]", ["s2", "s0", "s3", "s1"]), ("[fast, few]", ["s3", "s2", "s1", "s0"])],
)
def test_the_bundle_decides_which_plugin_counts_first(order, expected):
    plugins = {"few": scores(FEW_GPUS), "fast": scores(FAST)}
    text = "\n\n".join(["RequestCpus = 1"] * 4)
    result = cycle(SLOTS, text, {"pool.yaml": f"plugins: {{order: {order}}}"}, plugins)
    assert [slot for _, slot in result.pairs] == expected


def test_a_score_may_depend_on_what_the_plugin_declared_of_the_job_and_on_nothing_else():
    by_wish = ("wish", lambda request, slots: (slots.numbers("Speed") == request.ad.integer("Wish", 0)) * 1.0)
    jobs = "Wish = 1\n\nWish = 3\n\nWish = 2"
    assert {*cycle(SLOTS, jobs, plugins=[scores(by_wish, declared=["Wish"])]).pairs} == {
        ("1.0", "s1"),
        ("1.1", "s3"),
        ("1.2", "s2"),
    }
    result = cycle(SLOTS, jobs, plugins=[scores(by_wish)])
    assert result.pairs == ()
    assert 'add "Wish" to negotiator_job_attributes' in result.failures[0].message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (lambda _, slots: slots.numbers("Nothing"), "got NaN for 4 slots: give numbers() a default"),
        (lambda *_: np.zeros(3), r"expected 4 numbers (one a slot) as values of a Score, got (3,)"),
        (lambda *_: np.zeros((4, 1)), "got (4, 1)"),
        (lambda *_: [0.0] * 4, "expected a NumPy array of float64 as values of a Score, got"),
        (lambda *_: np.array(["a"] * 4), "expected a NumPy array of float64"),
        (lambda *_: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_wrong_score_fails_closed(values, message):
    result = cycle(SLOTS, "RequestCpus = 1", plugins=[scores(("wrong", values))])
    assert result.pairs == ()
    assert "plugin_error" in result.denials[0].codes
    (failure,) = result.failures
    assert failure.hook == "negotiator_score_slots"
    assert message in failure.message


def test_many_alike_jobs_get_the_slots_in_the_order_of_the_scores():
    """The quotas of a queue are known ahead; slots are sorted anew all the same."""
    slots = "\n\n".join(f'Name = "s{i}"\nSpeed = {i % 7}' for i in range(60))
    jobs = "\n\n".join(["RequestCpus = 1"] * 40)
    queues = "partitions:\n- name: default\n  placementrules: [{name: fixed, value: root.default}]\n  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n"
    queues += "    - name: default\n      resources: {max: {vcore: 25}}\n"
    result = cycle(slots, jobs, {"pool.yaml": "", "queues.yaml": queues}, [scores(FAST)])
    speeds = [int(slot.removeprefix("s")) % 7 for _, slot in result.pairs]
    assert len(speeds) == 25
    assert speeds == sorted(speeds, reverse=True)


def test_a_match_and_its_audit_record_have_the_scores_of_the_slot(tmp_path, monkeypatch):
    result = cycle(SLOTS, "RequestCpus = 1", plugins={"site": scores(FEW_GPUS, FAST)})
    (match,) = result.matches
    assert match.scores == (SlotScore("site", "few-gpus", -0.0), SlotScore("site", "fast", 2.0))
    monkeypatch.chdir(tmp_path)
    run = n.run(n.read_pool(POOL), now=1_800_000_000, audit_log="audit", plugins={"site": scores(FAST)})
    lines = [line for file in Path("audit").glob("*.jsonl") for line in file.read_text().splitlines()]
    found = [each["scores"] for each in map(json.loads, lines) if each.get("kind") == "match"]
    assert found == [[{"plugin": "site", "rule": "fast", "value": 0.0}]] * len(run.matches)
