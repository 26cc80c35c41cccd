"""``negotiator audit rollout``: what rules in mode warn or dryrun would have denied, by the records of real cycles."""

import json

import pytest
from click.testing import CliRunner

from negotiator.audit.rollout import read_rollout
from negotiator.bundle import load_bundle
from negotiator.bundle.rules import bundle_rules
from negotiator.cli import main
from pools import job, slot, write_ads

DAY = 86_400
MONDAY = 1_795_000_000  # 2026-11-18 11:06 UTC
POLICY = """\
policies:
  - name: not-for-zoe
    applies_to: match
    expression: MY.Owner != "zoe"
    mode: MODE
"""
LICENCES = """\
concurrency_limits: {matlab: 1}
concurrency_limit_modes: {matlab: MODE}
"""
PLUGIN = """
import numpy as np
from negotiator.plugin import Filter, Mode, hookimpl

@hookimpl
def negotiator_job_attributes():
    return ()

@hookimpl
def negotiator_filter_slots(request, slots):
    yield Filter(rule="nights", code="nights", allow=np.zeros(len(slots), bool), text="not at night", mode=Mode.WARN)
"""
QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a
            limits: [{users: ["*"], maxresources: {vcore: 1}}]
            properties: {negotiator.limits.mode: MODE}
    placementrules: [{name: fixed, value: root.a}]
"""


@pytest.fixture(autouse=True)
def site(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words, code=0):
    done = CliRunner().invoke(main, words)
    assert done.exit_code == code, done.output
    return done.stdout


def cycle(site, day, owners, log="log", **files):
    """Run a cycle over six slots and a job of each owner, the last one of which is too large; return its matches."""
    (site / "bundle").mkdir(exist_ok=True)
    for name in ("pool", "queues"):
        (site / "bundle" / f"{name}.yaml").write_text(files.get(name, ""))
    own = {"RequestCpus": "1", "ConcurrencyLimits": '"matlab"'}
    jobs = [job(n, Owner=f'"{name}"', User=f'"{name}@d"', **own) for n, name in enumerate(owners)]
    too_large = job(len(owners), Owner='"zoe"', User='"zoe@d"', Requirements="TARGET.Memory > 99999")
    write_ads(site / "pool.ads", *(slot(n) for n in range(6)), *jobs, too_large)
    given = ("--bundle", "bundle", "--audit-log", log, "--now", str(MONDAY + day * DAY))
    run("run", "pool.ads", *given)
    lines = [
        json.loads(line)
        for file in sorted((site / log).glob("*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    return sum(each["kind"] == "match" and each["cycle"] == lines[-1]["cycle"] for each in lines)


def rollout(*words):
    return json.loads(run("audit", "rollout", "--audit-log", "log", "--json", *words))


def only(report):
    (rule,) = report["rules"]
    return rule


@pytest.mark.parametrize(
    ("name", "text", "denied"),
    [("pool", POLICY, 2), ("pool", LICENCES, 4), ("queues", QUEUES, 3)],
    ids=["policy", "concurrency limit", "limit of users"],
)
@pytest.mark.parametrize("mode", ["warn", "dryrun"])
def test_as_many_matches_would_have_been_denied_as_are_denied_when_the_rule_enforces(
    site, mode, name, text, denied
):
    """The first cycle with the rule is run again with the rule enforced; the cycles before it do not count."""
    owners = ["zoe", "zoe", "ann", "ann", "ann"]
    cycle(site, 0, owners)
    assert cycle(site, 1, owners, **{name: text.replace("MODE", mode)}) == 5
    found = only(rollout("--by", "day"))
    assert (found["mode"], found["since"][:10], found["is_older"]) == (mode, "2026-11-19", False)
    assert (found["total"]["matches"], found["total"]["of_all"]) == (denied, 5)
    enforced = cycle(site, 1, owners, "enforced", **{name: text.replace("MODE", "enforce")})
    assert 5 - enforced == found["total"]["matches"]


def test_matches_are_added_up_by_user_and_day_with_the_share_of_theirs(site):
    rule = POLICY.replace("MODE", "warn")
    cycle(site, 0, ["zoe", "ann"], pool=rule)
    cycle(site, 2, ["zoe", "zoe", "eve", "ann"], pool=rule.replace("MY.Owner", "  MY.Owner"))
    found = only(rollout("--by", "day"))
    assert [(each["name"], each["matches"], each["of_all"]) for each in found["parts"]] == [
        ("2026-11-18", 1, 2),
        ("2026-11-20", 2, 4),
    ]
    assert (found["total"]["jobs"], found["total"]["users"], found["total"]["alone"]) == (2, 1, 3)
    assert found["total"]["first"][:10] == "2026-11-18"
    assert found["total"]["last"][:10] == "2026-11-20"
    (part,) = only(rollout("--by", "user"))["parts"]
    assert (part["name"], part["matches"], part["of_all"]) == ("zoe", 3, 3)
    late = only(rollout("--since", "2026-11-19"))
    assert (late["total"]["matches"], late["is_older"]) == (2, True)


def test_a_rule_counts_since_it_has_its_present_text_and_mode_wherever_it_stands(site):
    rule = POLICY.replace("MODE", "warn")
    digests = []
    for day, text in enumerate((rule.replace("zoe", "eve"), rule, f"# moved\n{rule}\n")):
        cycle(site, day, ["zoe"], pool=text)
        digests.append(
            json.loads((site / "log" / "audit-000001.jsonl").read_text().splitlines()[-1])["bundle"]
        )
    found = only(rollout())
    assert (found["since"][:10], found["bundle"], found["total"]["matches"]) == ("2026-11-19", digests[1], 2)
    cycle(site, 4, ["zoe"], pool=rule.replace("warn", "dryrun"))
    assert (only(rollout())["since"][:10], only(rollout())["total"]["matches"]) == ("2026-11-22", 1)


def test_a_bundle_without_a_stored_copy_begins_nothing_earlier(site):
    rule = POLICY.replace("MODE", "warn")
    cycle(site, 0, ["zoe"], pool=f"# first\n{rule}")
    cycle(site, 1, ["zoe"], pool=rule)
    assert only(rollout())["total"]["matches"] == 2
    newest = only(rollout())["bundle"]
    (site / "log" / "bundles" / f"{newest}.json").unlink()
    found = only(rollout())
    assert (found["since"][:10], found["total"]["matches"]) == ("2026-11-19", 1)


def test_ads_and_jobs_that_another_rule_denies_anyway_are_those_of_one_cycle(site):
    gate = "  - {name: small, applies_to: startd, expression: MY.Memory < 5000, mode: dryrun}\n"
    for day in (0, 1):
        cycle(site, day, ["zoe", "ann"], pool=POLICY.replace("MODE", "warn") + gate)
    found = {each["rule"]: each for each in rollout()["rules"]}
    assert found["small"]["ads"] == 6
    assert found["not-for-zoe"]["denied"] == {"TARGET.Memory > 99999": 1}


def test_the_table_has_all_that_one_decides_by_and_rules_that_would_deny_nothing(site):
    quiet = "  - {name: quiet, applies_to: match, expression: 'true', mode: dryrun}\n"
    cycle(site, 0, ["zoe", "ann", "ann", "ann"], pool=POLICY.replace("MODE", "warn") + quiet)
    output = run("audit", "rollout", "--audit-log", "log")
    rows = [line.split() for line in output.splitlines() if line.startswith("  expressions: ")]
    denied = ["1", "by", "TARGET.Memory", ">", "99999"]
    since = ["2026-11-18", "11:06"]
    assert rows == [
        [
            "expressions:",
            "not-for-zoe",
            "warn",
            *since,
            "1",
            "(1)",
            "25.0%",
            "1",
            "1",
            since[0],
            since[0],
            *denied,
        ],
        ["expressions:", "quiet", "dryrun", *since, "0", "0.0%"],
    ]
    assert max(map(len, output.splitlines())) < 150
    by_user = run("audit", "rollout", "--audit-log", "log", "--by", "user", "expressions: not-for-zoe")
    assert by_user.splitlines()[-2].split()[2:7] == ["zoe", "1", "(1)", "100.0%", "1"]


def test_an_unknown_rule_names_the_nearest_and_a_log_without_such_rules_says_so(site):
    cycle(site, 0, ["zoe"], pool=POLICY.replace("MODE", "warn"))
    done = CliRunner().invoke(main, ["audit", "rollout", "not-for-zo", "--audit-log", "log"])
    assert (done.exit_code, "did you mean not-for-zoe?" in done.output) == (1, True)
    cycle(site, 1, ["zoe"], pool=POLICY.replace("MODE", "enforce"))
    assert "No rule of the last bundle" in run("audit", "rollout", "--audit-log", "log")
    assert "no audit log" in CliRunner().invoke(main, ["audit", "rollout", "--audit-log", "bundle"]).output


def test_a_match_that_two_rules_would_deny_is_none_of_either_alone(site):
    other = "  - {name: nobody, applies_to: match, expression: 'false', mode: dryrun}\n"
    cycle(site, 0, ["zoe", "ann"], pool=POLICY.replace("MODE", "warn") + other)
    found = {each["rule"]: (each["total"]["matches"], each["total"]["alone"]) for each in rollout()["rules"]}
    assert found == {"nobody": (2, 1), "not-for-zoe": (1, 0)}


def test_a_log_that_is_longer_than_is_read_says_that_a_rule_may_be_older(site):
    for day in (0, 1):
        cycle(site, day, ["zoe", "zoe"], pool=POLICY.replace("MODE", "warn"))
    rules = bundle_rules(load_bundle(site / "bundle"))
    (file,) = (site / "log").glob("*.jsonl")
    found = read_rollout(site / "log", lambda _: rules, most_bytes=file.stat().st_size // 2)
    (rule,) = found.rules
    assert (found.searched, rule.is_older, rule.all_matches) == (False, True, {("zoe", "2026-11-19"): 2})
    assert read_rollout(site / "log", lambda _: rules).searched


def test_a_rule_that_a_plugin_does_not_declare_counts_by_its_records(site):
    (site / "bundle" / "plugins").mkdir(parents=True, mode=0o755)
    (site / "bundle" / "plugins" / "own.py").write_text(PLUGIN)
    cycle(site, 0, ["zoe", "ann"], pool="plugins: {folders: [plugins]}\n")
    found = only(rollout("nights"))
    assert (found["plugin"], found["mode"], found["text"], found["is_older"]) == ("own", "warn", "", True)
    assert (found["total"]["matches"], found["total"]["of_all"]) == (2, 2)


def test_a_bundle_with_plugins_that_another_user_could_have_written_is_not_loaded(site):
    plugin = "from negotiator.plugin import hookimpl\n"
    (site / "bundle" / "plugins").mkdir(parents=True, mode=0o755)
    (site / "bundle" / "plugins" / "own.py").write_text(plugin)
    cycle(site, 0, ["zoe"], pool=POLICY.replace("MODE", "warn") + "plugins: {folders: [plugins]}\n")
    assert only(rollout())["total"]["matches"] == 1
    (site / "log" / "bundles").chmod(0o777)
    done = CliRunner().invoke(main, ["audit", "rollout", "--audit-log", "log"])
    assert done.exit_code != 0
    assert "world-writable" in done.output
