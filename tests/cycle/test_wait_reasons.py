"""An order says why a request had no turn; what it says is checked."""

import pytest

from negotiator.cycle.loop import run_cycle
from negotiator.errors import PluginFailureError
from negotiator.plugin import Cycle
from pools import NOW, job, slot, snapshot, write_bundle

IDLE = """
from negotiator.plugin import RequestOrder, RequestOrderType, WaitReason, hookimpl

class Idle(RequestOrder):
    def __init__(self, context):
        pass

    def next(self):
        return None

    def feedback(self, feedback):
        pass

    def wait_reason(self, queued):
        return ANSWER

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="idle", make=Idle)
"""


@pytest.fixture
def rejection(tmp_path):
    """Return a function that runs a cycle whose order answers this, and returns the only rejection."""

    def decide(answer, slots):
        bundle = write_bundle(tmp_path / "b", "order: idle\n", {"i": IDLE.replace("ANSWER", answer)})
        (found,) = run_cycle(snapshot(slots, [job()]), bundle, Cycle(1, NOW, bundle.digest)).rejections
        return found.reason

    return decide


def test_the_reason_of_the_order_names_its_plugin_rule_and_numbers(rejection):
    found = rejection('WaitReason("nights", "too_early", "jobs wait for the night", {"hour": 17})', [slot()])
    where = found.provenance
    assert (where.station, where.plugin, where.rule) == ("order", "i", "nights")
    assert (found.code, found.verdict, dict(found.numbers)) == ("too_early", "waiting", {"hour": 17})


def test_an_order_without_a_reason_has_that_of_the_core(rejection):
    assert rejection("None", [slot()]).code == "no_turn"


@pytest.mark.parametrize(("slots", "code"), [([], "no_slots"), ([slot(State='"Claimed"')], "in_use")])
def test_a_pool_without_a_slot_left_is_the_reason_whatever_the_order_says(rejection, slots, code):
    assert rejection('WaitReason("a", "b", "c")', slots).code == code


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ('"later"', "expected a WaitReason or None, got str"),
        ('WaitReason("", "b", "c")', "rule of a WaitReason"),
        ('WaitReason("a", 5, "c")', "code of a WaitReason"),
        ('WaitReason("a", "b", "c", {"n": float("nan")})', "expected finite numbers in a WaitReason"),
    ],
)
def test_a_wrong_answer_ends_the_cycle_with_the_plugin(rejection, answer, message):
    with pytest.raises(PluginFailureError, match=f"plugin i: its order failed: .*{message}"):
        rejection(answer, [slot()])


def test_the_text_of_a_reason_is_printable(rejection):
    assert rejection(r'WaitReason("a", "b", "c\x1b[31m")', [slot()]).text.isprintable()
