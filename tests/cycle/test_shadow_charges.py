"""Quotas in mode warn or dryrun: matches are made, and have the quotas that would have refused them."""

import pytest

from fair_share import FAIR, submitter
from negotiator.records import Mode
from pools import cycle, job, slot, snapshot, used, write_bundle

HEAD = """
from negotiator.plugin import Charge, KeyCharge, Mode, Quota, hookimpl

@hookimpl
def negotiator_job_attributes():
    return ["kind"]

@hookimpl
def negotiator_charges(request):
"""
SLOTS = [slot(number) for number in range(9)]


def charge(name, limit, mode, amount=1, more=""):
    quota = f"Quota(rule='{name}', text='{name}', mode=Mode.{mode}{more})"
    return f"    yield Charge(('{name}',), {amount}, {limit}, {quota})\n"


def run(folder, jobs, *charges, slots=SLOTS, pool="", conf=None, submitters=()):
    own = write_bundle(folder / "b", pool, {"q": HEAD + "".join(charges)}, conf)
    return cycle(snapshot(slots, jobs, submitters=submitters), own)


def warned(result):
    """Return the rules that would have refused each match."""
    return [[reason.provenance.rule for reason in match.warnings] for match in result.matches]


def jobs(count, **more):
    return [job(number, **more) for number in range(count)]


def test_each_quota_names_the_matches_that_it_alone_would_have_refused(tmp_path):
    charges = charge("strict", 1, "DRYRUN"), charge("loose", 2, "WARN"), charge("hard", 3, "ENFORCE")
    result = run(tmp_path, jobs(5), *charges)
    assert warned(result) == [[], ["strict"], ["strict", "loose"]]
    assert [str(reason.mode) for reason in result.matches[2].warnings] == ["dryrun", "warn"]


def test_a_quota_of_keys_and_one_of_sums_are_both_named(tmp_path):
    keys = "    yield KeyCharge(('apps',), [str(n) for n in range(len(request.applications))], 2, Quota(rule='apps', text='apps', mode=Mode.WARN))\n"
    assert warned(run(tmp_path, jobs(3), charge("sum", 2, "WARN"), keys)) == [[], [], ["sum", "apps"]]


def test_a_job_without_the_amount_that_is_limited_is_named(tmp_path):
    """An enforcing quota would refuse it as misconfigured."""
    amount = charge("memory", 1 << 40, "WARN", "request.resources.get('memory', 0)", ", resource='memory'")
    result = run(tmp_path, [*jobs(1, RequestMemory="undefined"), job(1, RequestMemory="9")], amount)
    codes = {match.job: [reason.code for reason in match.warnings] for match in result.matches}
    assert codes == {"1.0": ["amount_unknown"], "1.1": []}


def test_shadow_counters_have_all_matches(tmp_path):
    result = run(tmp_path, jobs(4), charge("strict", 1, "WARN"), charge("hard", 3, "ENFORCE"))
    assert (used(result, Mode.WARN)["q.strict"], used(result)["q.hard"]) == (3, 3)


@pytest.mark.parametrize(("more", "rules"), [("", []), (", held_through_cycle=True", ["licence"])])
def test_what_the_job_that_ends_holds_is_free_for_the_match(tmp_path, more, rules):
    """As under an enforcing quota: the licence goes from one job to the other."""
    claimed = slot(0, State='"Claimed"', RemoteUser='"bob@d"', RemoteOwner='"bob@d"', JobId='"90.0"', CurrentRank="0.0", Rank="0.0", Cpus="1")  # fmt: skip
    waiting = job(0, Owner='"ann"', User='"ann@d"', GlobalJobId='"h#1.0#1"')
    result = run(
        *(tmp_path, [waiting], charge("licence", 1, "WARN", more=more)),
        slots=[claimed],
        pool=FAIR,
        conf="PREEMPTION_REQUIREMENTS = true\n",
        submitters=[submitter("ann")],
    )
    assert warned(result) == [rules]
    assert used(result, Mode.WARN)["q.licence"] == 1 + len(rules)
