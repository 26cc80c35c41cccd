"""The modes of resource quota sets: matches that sets in mode warn or dryrun would have refused, reports and checks."""

import pytest

from negotiator.bundle import check_bundle, load_bundle
from negotiator.hooks.charges import CounterUsage
from negotiator.records import Mode
from negotiator_quotasets.hooks import negotiator_usage
from pools import cycle, job, matched, slot, snapshot, used
from queueing import app

SLOTS = [slot(number, Machine=f'"h{number}"') for number in range(3)]


@pytest.fixture
def bundle(tmp_path):
    """Return a function that writes a bundle with one set, its mode and further keys of pool.yaml."""

    def written(limit, mode="warn", pool="", engine=""):
        (tmp_path / "a.rqs").write_text(f"{{\n   name a\n   limit {limit}\n}}\n")
        (tmp_path / "gridengine.yaml").write_text(engine)
        (tmp_path / "pool.yaml").write_text(f"{pool}quota_set_modes:\n  a: {mode}\n")
        return tmp_path

    return written


def warned(folder, *jobs, slots=SLOTS):
    """Return the codes of the warnings of each match."""
    result = cycle(snapshot(slots, jobs), load_bundle(folder))
    return [sorted(reason.code for reason in match.warnings) for match in result.matches]


@pytest.mark.parametrize("mode", ["warn", "dryrun"])
@pytest.mark.parametrize("rule", ["users {*} to slots=1", "hosts * to slots=1"])
def test_a_match_above_the_limit_is_made_and_named(bundle, rule, mode):
    result = cycle(snapshot(SLOTS, [job(0), job(1)]), load_bundle(bundle(rule, mode)))
    assert [[str(reason.mode) for reason in match.warnings] for match in result.matches] == [[], [mode]]
    assert result.matches[1].warnings[0].provenance.rule == "a/1"
    assert (len(used(result, Mode.WARN)), "quotasets" in str(used(result))) == (1, False)


def test_a_formula_limits_each_host_in_its_mode(bundle):
    slots = [slot(0, Machine='"h"', TotalCpus="1"), slot(1, Machine='"h"', TotalCpus="1")]
    assert warned(bundle("hosts {*} to slots=$num_proc"), job(0), job(1), slots=slots) == [
        [],
        ["resource_quota"],
    ]


def test_a_limit_that_consumes_nothing_has_the_mode(bundle):
    slots = [slot(0, arch='"sol"')]
    assert warned(bundle("users * to arch=lx*"), job(0, Requestarch='"sol"'), slots=slots) == [
        ["resource_quota"]
    ]


@pytest.mark.parametrize(
    ("request_", "codes"),
    [({"Requestarch": '"sol"'}, ["resource_capacity", "resource_quota"]), ({"Requestarch": "{1}"}, ["request_unreadable"])],
)  # fmt: skip
def test_what_only_such_a_set_reads_of_jobs_and_hosts_decides_nothing(bundle, request_, codes):
    """No host has the resource, or the request is invalid: under an enforcing set the job gets no slot."""
    assert warned(bundle("users * to arch=lx*"), job(0, **request_)) == [codes]
    assert warned(bundle("users * to arch=lx*", "enforce"), job(0, **request_)) == []


def test_declared_capacities_enforce_in_any_mode_of_the_sets(bundle):
    engine = 'complexes: [{name: lic, shortcut: l, type: INT, relop: <=, consumable: "YES"}]\ncomplex_values: {lic: 1}\n'
    jobs = [app(number, 0, Requestlic="1") for number in (1, 2)]
    folder = bundle("users {*} to lic=0", engine=engine)
    assert warned(folder, *jobs) == [["resource_quota"]]


def test_a_set_that_is_not_enabled_limits_nothing(bundle):
    folder = bundle("users {*} to slots=0")
    (folder / "a.rqs").write_text("{\n   name a\n   enabled FALSE\n   limit users {*} to slots=0\n}\n")
    assert warned(folder, job(0)) == [[]]


def test_the_report_of_usage_has_the_modes(bundle):
    settings = load_bundle(bundle("users {*} to slots=1", "dryrun")).settings["quotasets"]
    found = CounterUsage({("a/1", "slots", "ann", "", "", "", ""): 3_000_000}, {}, {})
    (entry,) = negotiator_usage("quotas", found, settings)
    assert (entry["rule"], entry["mode"]) == ("a/1", "dryrun")


@pytest.mark.parametrize(
    ("modes", "message", "hint", "line"),
    [
        ("{a: Warn}", "quota_set_modes.a", "warn", 1),
        ("{'*': dryrun, aa: warn}", 'there is no resource quota set "aa"', "did you mean a?", 1),
    ],
)
def test_check_refuses_unknown_modes_and_sets_with_their_place(bundle, modes, message, hint, line):
    folder = bundle("users * to slots=1")
    (folder / "pool.yaml").write_text(f"quota_set_modes: {modes}\n")
    (problem,) = check_bundle(folder)
    assert message in problem.message
    assert hint in f"{problem.message} {problem.hint}"
    assert (problem.source.file.endswith("pool.yaml"), problem.source.line) == (True, line)


def test_the_star_is_the_mode_of_all_other_sets(bundle):
    folder = bundle("users * to slots=0")
    (folder / "pool.yaml").write_text('quota_set_modes: {"*": warn}\n')
    assert len(matched(cycle(snapshot(SLOTS, [job(0)]), load_bundle(folder)))) == 1
