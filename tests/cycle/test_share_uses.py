"""An order says what each holder of a share was entitled to and used; what it says is checked."""

import pytest

from negotiator.cycle.loop import run_cycle
from negotiator.errors import PluginFailureError
from negotiator.plugin import Cycle, ShareUse
from pools import NOW, job, slot, snapshot, write_bundle

ORDER = """
from negotiator.plugin import OrderResult, RequestOrder, RequestOrderType, ShareUse, hookimpl

class Idle(RequestOrder):
    def __init__(self, context):
        pass

    def next(self):
        return None

    def feedback(self, feedback):
        pass

    def ended(self):
        return OrderResult(shares=SHARES)

@hookimpl
def negotiator_orders():
    yield RequestOrderType(name="idle", make=Idle)
"""
NUMBERS = "entitled=2.0, used_before=1, used=1.5, granted=1"


@pytest.fixture
def result(tmp_path):
    """Return a function that runs a cycle whose order leaves these shares."""

    def decide(shares):
        bundle = write_bundle(tmp_path / "b", "order: idle\n", {"i": ORDER.replace("SHARES", shares)})
        return run_cycle(snapshot([slot()], [job()]), bundle, Cycle(1, NOW, bundle.digest))

    return decide


def test_the_result_has_the_shares_of_the_order(result):
    (share,) = result(f'(ShareUse(holder="ada", {NUMBERS}, unit="cores"),)').shares
    assert share == ShareUse(
        holder="ada", entitled=2.0, used_before=1, used=1.5, granted=1, priority=0.0, unit="cores"
    )


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        (f'[ShareUse(holder="a", {NUMBERS})]', "a tuple as shares of an OrderResult"),
        ("(5,)", "a ShareUse in the shares of an OrderResult"),
        (f"(ShareUse(holder=5, {NUMBERS}),)", "a name as holder of a ShareUse"),
        (f'(ShareUse(holder="a", {NUMBERS}, unit=""),)', "unit of a ShareUse"),
        (f'(ShareUse(holder="a", {NUMBERS}, priority=float("nan")),)', "finite numbers in a ShareUse"),
        (f'(ShareUse(holder="a", {NUMBERS}, priority=True),)', "finite numbers in a ShareUse"),
    ],
)
def test_a_wrong_answer_ends_the_cycle_with_the_plugin(result, shares, message):
    with pytest.raises(PluginFailureError, match=f"plugin i: its order failed: .*{message}"):
        result(shares)
