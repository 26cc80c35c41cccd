"""Texts of charges on counters of many hosts, and charges of 0."""

import pytest

import pools
from negotiator.hooks import specs
from negotiator.testing import cycle_record, queues, request, table

HEADER = "import numpy as np\nfrom negotiator.plugin import *\n"
READS = "@hookimpl\ndef negotiator_job_attributes(): return []\n"
BY_HOST = """
@hookimpl
def negotiator_charges(request, slots):
    names = [name or "" for name in slots.strings("Machine")]
    hosts = sorted(set(names))
    codes = np.array([hosts.index(name) for name in names])
    label = Quota(rule="r", text="no room on <", TEXT_AFTER)
    yield Charge(Grouping(codes, Family(("on",), hosts)), AMOUNT, LIMIT, label, PROBES)
"""


def run(folder, machines, after="text_after='>'", amount="1", limit="1", probes="False", jobs=9, running=()):
    """Run one cycle with a plugin that charges by host, over two slots on each machine."""
    text = (
        BY_HOST.replace("TEXT_AFTER", after)
        .replace("AMOUNT", amount)
        .replace("LIMIT", limit)
        .replace("PROBES", probes)
    )
    own = pools.write_bundle(folder / "b", plugins={"p": HEADER + READS + text})
    slots = [
        pools.slot(number, Machine=f'"{machine}"')
        for number, machine in enumerate(each for each in machines for _ in range(2))
    ]
    ads = [pools.job(number, JobStatus="2", RemoteHost=f'"s{slot}@h"') for number, slot in enumerate(running)]
    ads += [pools.job(100 + number) for number in range(jobs)]
    result = pools.cycle(pools.snapshot(slots, ads), own)
    return len(result.matches), sorted(text for _, _, text, _ in pools.denials(result))


def test_the_full_host_is_named_between_the_text_and_the_text_after(tmp_path):
    """With its numbers."""
    assert run(tmp_path, ["a"], jobs=2) == (1, ["no room on <a>: uses 1, needs 1, may have 1"])


def test_of_several_full_hosts_the_first_and_their_number_are_named(tmp_path):
    """In the order of the candidates; numbers that differ are omitted."""
    assert run(tmp_path, ["a", "b", "c"]) == (3, ["no room on <a> and 2 more: needs 1, may have 1"])


def test_without_a_text_after_no_host_is_named(tmp_path):
    """As ever."""
    count, (text,) = run(tmp_path, ["a", "b"], after="resource=''")
    assert (count, text) == (2, "no room on <: needs 1, may have 1")


@pytest.mark.parametrize("machine", ["x" * 5000, "\x1b[2J"])
def test_a_name_in_a_reason_is_short_and_printable(tmp_path, machine):
    """Plugins use names from ads for counters."""
    _, (text,) = run(tmp_path, [machine], limit="0")
    assert len(text) < 500
    assert text.isprintable()


def test_text_after_must_be_a_string(plugins):
    """Anything else is a wrong answer."""
    after, expected = "text_after=5", "a string as text_after of a Quota, got int"
    text = (
        BY_HOST.replace("TEXT_AFTER", after)
        .replace("AMOUNT", "1")
        .replace("LIMIT", "1")
        .replace("PROBES", "False")
    )
    plugins.write("p.py", HEADER + text, "")
    answers = plugins.load().ask(
        specs.negotiator_charges,
        request=request(),
        slots=table('Machine = "a"'),
        queues=queues(),
        cycle=cycle_record(),
        settings={},
    )
    assert [failure.message for failure in answers.failures] == [f"wrong answer: expected {expected}"]


@pytest.mark.parametrize("probes", ["1", "None", "np.array([True, False])"])
def test_probe_must_be_a_bool(plugins, probes):
    """The truth value of an array would raise an exception and end the cycle."""
    text = (
        BY_HOST.replace("TEXT_AFTER", "")
        .replace("AMOUNT", "1")
        .replace("LIMIT", "1")
        .replace("PROBES", probes)
    )
    plugins.write("p.py", HEADER + text, "")
    (failure,) = (
        plugins.load()
        .ask(
            specs.negotiator_charges,
            request=request(),
            slots=table('Machine = "a"'),
            queues=queues(),
            cycle=cycle_record(),
            settings={},
        )
        .failures
    )
    assert failure.message.startswith("wrong answer: expected a bool as probes of a Charge")


@pytest.mark.parametrize(
    ("probes", "limit", "matches"), [("True", "0", 4), ("True", "-1", 0), ("False", "-1", 4)]
)
def test_a_charge_of_0_is_compared_with_the_limit_if_it_probes(tmp_path, probes, limit, matches):
    """For one job or many."""
    for jobs in (1, 9):
        (tmp_path / str(jobs)).mkdir()
        found, _ = run(tmp_path / str(jobs), ["a", "b"], amount="0", limit=limit, probes=probes, jobs=jobs)
        assert found == min(matches, jobs)
