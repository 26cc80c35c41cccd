"""Plugins in a cycle: slots that they filter have their name, and a failure grants nothing."""

import pytest

import pools
from negotiator.records import Verdict
from pools import job, matched, reasons, slot, snapshot

HEAD = "import numpy as np\nfrom negotiator.plugin import AdKind, Filter, Gate, hookimpl\n\n"
NO_ATTRIBUTES = "@hookimpl\ndef negotiator_job_attributes():\n    return []\n\n"
FILTER = NO_ATTRIBUTES + "@hookimpl\ndef negotiator_filter_slots(request, slots):\n    {body}\n"
GATE = "@hookimpl\ndef negotiator_gate_ads(kind, ads):\n    {body}\n"

ODD = "yield Filter(rule='odd', allow=slots.numbers('Memory') % 2 == 1, code='odd', text='only odd ones')"
BROKEN = [
    "raise ValueError('no')",
    "raise SystemExit",
    "return 5",
    "yield 'yes'",
    "yield Filter(rule='r', allow=np.ones(99, bool), code='c', text='t')",
    "yield Filter(rule='r', allow=[True], code='c', text='t')",
    "yield Filter(rule='r', allow=np.ones(len(slots)), code='c', text='t')",
    "slots.column('Memory').kinds[...] = 0; yield",
]
POOL = snapshot(
    [slot(0, Memory="2"), slot(1, Memory="3")],
    [job(0), job(1, Kind="2", Requirements="TARGET.Memory > 0 && Kind == 2")],
)


@pytest.fixture
def decide(tmp_path):
    return lambda pool=POOL, **plugins: pools.cycle(
        pool,
        pools.write_bundle(tmp_path / "b", plugins={name: HEAD + text for name, text in plugins.items()}),
    )


def test_slots_removed_by_a_filter_have_its_name(decide):
    result = decide(odd=FILTER.format(body=ODD))
    assert matched(result) == [("1.0", "s1@h")]
    (removal,) = [item for item in result.outcomes[0].removals if item.reason.code == "odd"]
    assert (removal.reason.provenance.plugin, removal.removed) == ("odd", 1)
    assert removal.reason.provenance.version.startswith("sha256:")


@pytest.mark.parametrize("body", BROKEN)
def test_if_a_filter_fails_nothing_is_granted_and_the_others_are_still_called(decide, body):
    result = decide(a_broken=FILTER.format(body=body), b_odd=FILTER.format(body=ODD))
    assert not matched(result)
    assert {"plugin_error", "odd"} <= reasons(result)
    verdicts = {
        item.reason.verdict for item in result.outcomes[0].removals if item.reason.code == "plugin_error"
    }
    assert verdicts == {Verdict.BROKEN_PLUGIN}
    assert {item.plugin for item in result.failures} == {"a_broken"}


def test_if_a_gate_fails_no_ad_of_that_kind_is_admitted(decide):
    result = decide(gate=GATE.format(body="if kind is AdKind.STARTD: raise ValueError('no')\n    return []"))
    assert result.counts.admitted_slots == 0
    assert result.counts.admitted_jobs == 2
    assert not matched(result)


def test_a_filter_that_does_not_declare_what_it_reads_is_called_for_every_job(decide):
    pool = snapshot([slot()], [job(0), job(1)])
    assert (
        decide(pool, silent=FILTER.replace(NO_ATTRIBUTES, "").format(body="return []")).counts.requests == 2
    )


def test_a_filter_gets_only_the_declared_attributes_of_a_job(decide):
    body = "yield Filter(rule='r', allow=np.full(len(slots), 'Iwd' in request.ad), code='c', text='t')"
    pool = snapshot([slot()], [job(0, Iwd='"/home"')])
    assert not matched(decide(pool, undeclared=FILTER.format(body=body)))
