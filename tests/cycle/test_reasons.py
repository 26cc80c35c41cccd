"""The text and the numbers of a charge that does not fit."""

import pytest

from negotiator.cycle.reasons import quota_reason, unspecified_reason
from negotiator.hooks.answers import Attributed
from negotiator.hooks.charges import Charge, Quota
from negotiator.records import Verdict


def charge(limit, **quota):
    label = Quota(rule="r", text="limit of dev", **quota)
    return Attributed(record=Charge(("a",), 1, limit, label=label), plugin="p", version="1.0"), label


@pytest.mark.parametrize(
    ("quota", "shown", "numbers"),
    [
        ({"resource": "vcore", "scale": 1000}, "uses 1.5, needs 2, may have 2.5", (1.5, 2.0, 2.5)),
        ({"resource": "", "scale": 1}, "uses 1500, needs 2000, may have 2500", (1500, 2000, 2500)),
    ],
)
def test_amounts_are_shown_in_the_scale_of_the_quota(quota, shown, numbers):
    attributed, label = charge(2500, **quota)
    reason = quota_reason(attributed, label, 2000, 1500, 2500)
    resource = f" {label.resource}" if label.resource else ""
    assert reason.text == f"limit of dev:{resource} {shown}"
    assert dict(reason.numbers) == dict(
        zip(("needed", "used", "limit"), (numbers[1], numbers[0], numbers[2]), strict=True)
    )


@pytest.mark.parametrize(("needed", "verdict"), [(5, Verdict.WAITING), (6, Verdict.DENIED)])
def test_a_charge_that_alone_exceeds_the_limit_is_denied(needed, verdict):
    attributed, label = charge(5)
    assert quota_reason(attributed, label, needed, 1, 5).verdict is verdict


def test_a_missing_amount_is_reported_with_the_limit_in_the_scale_of_the_quota():
    attributed, label = charge(2500, resource="vcore", scale=1000)
    assert unspecified_reason(attributed, label).text == (
        "limit of dev: vcore is limited to 2.5, and the job's request is missing or not a number"
    )
