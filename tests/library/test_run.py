"""Cycles from Python: they decide and explain as the commands do, and change nothing unless asked to."""

import json
import types
from pathlib import Path

import pytest
from click.testing import CliRunner

import negotiator as n
from negotiator.cli import main
from negotiator.plugin import Score, hookimpl
from pools import job, slot, write_ads

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"
LIMITS = ROOT / "policies" / "limits"
NOW = 1_800_000_000.0


@pytest.fixture(scope="module")
def result():
    return n.run(n.read_pool(POOL), n.load_bundle(LIMITS), now=NOW)


def printed(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_matches_and_denials_are_those_of_negotiator_run(result):
    words = ("run", POOL, "--bundle", LIMITS, "--now", int(NOW), "--no-audit", "--json")
    cycle = json.loads(printed(*words))
    assert [(match.job, match.slot) for match in result.matches] == [
        (each["job"], each["slot"]) for each in cycle["match"]
    ]
    assert [(denial.job, denial.jobs) for denial in result.denials] == [
        (each["first_job"], each["jobs"]) for each in cycle["denial"]
    ]
    assert str(result).startswith(
        "Cycle over 33 slots, 9 idle jobs: 5 matched, 4 not matched\nOther jobs: 9 running, 1 held\n"
    )
    assert sum(denial.jobs for denial in result.denials) == 4


@pytest.mark.parametrize("job_id", ["18.1", "14.0", "12.1", "12.0"])
def test_an_explanation_is_the_text_of_negotiator_why(result, job_id):
    text = printed("why", job_id, "--pool", POOL, "--bundle", LIMITS, "--now", int(NOW), "--full")
    assert str(result.explain(job_id)) == text.rstrip("\n")


def test_an_explanation_names_the_rule_the_numbers_and_the_slot(result):
    why = result.explain("18.1")
    assert (why.user, why.queue, why.slot) == ("tester", "root.default", "")
    assert why.rule == "limits: limit of user * at root (queues.yaml:10:13)"
    assert why.reason.numbers == {"needed": 1000, "used": 16000, "limit": 16000}
    got = result.explain(result.matches[0])
    assert (got.job, got.slot, got.reason, got.rule) == (
        result.matches[0].job,
        result.matches[0].slot,
        None,
        "",
    )


def test_a_row_of_the_denials_can_be_explained(result):
    assert [result.explain(each).job for each in result.denials] == [each.job for each in result.denials]


def test_a_job_that_is_unknown_or_at_several_schedds_is_an_error(result, tmp_path):
    with pytest.raises(n.NotFoundError, match=r"no job 99\.0 in the pool"):
        result.explain("99.0")
    own = {"ClusterId": "7"}
    write_ads(
        tmp_path / "pool.ads",
        slot(0),
        job(0, **own, GlobalJobId='"sub1#7.0#1"'),
        job(0, **own, GlobalJobId='"sub2#7.0#1"', Owner='"ada"', User='"ada@d"'),
    )
    found = n.run(n.read_pool(tmp_path), now=NOW)
    with pytest.raises(n.InvalidCallError, match="at 2 schedds"):
        found.explain("7.0")
    assert found.explain(found.denials[0]).schedd == found.denials[0].schedd


def test_idle_jobs_that_no_queue_accepts_are_among_those_not_matched(tmp_path):
    """As ``negotiator run`` counts them."""
    tree = "{name: root, submitacl: '*', queues: [{name: a}]}"
    queues = (
        f"partitions: [{{name: default, placementrules: [{{name: tag, value: project}}], queues: [{tree}]}}]"
    )
    (tmp_path / "queues.yaml").write_text(queues)
    result = str(n.run(n.read_pool(POOL), n.load_bundle(tmp_path), now=NOW))
    assert result.startswith("Cycle over 33 slots, 9 idle jobs: 0 matched, 9 not matched\n")
    assert "9  denied   no placement rule has a queue for its application" in result
    assert "Set aside" not in result


def test_jobs_that_took_no_part_are_set_aside_with_the_reason(result):
    assert {(each.kind, each.ads, each.reason.code) for each in result.set_aside} == {
        ("job", 9, "job_running"),
        ("job", 1, "job_held"),
    }
    assert result.explain("12.0").reason.code == "job_running"


def test_the_same_pool_policies_and_time_give_the_same_result(result):
    again = n.run(n.read_pool(POOL), n.load_bundle(LIMITS), now=NOW)
    assert [*again.matches] == [*result.matches]
    assert [*again.denials] == [*result.denials]


def test_a_run_itself_writes_nothing_without_an_audit_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n.run(n.read_pool(POOL), n.load_bundle(), now=NOW)
    assert [*Path().iterdir()] == []


def test_observers_get_every_match_of_a_run_with_and_without_an_audit_log(tmp_path, monkeypatch):
    bundle = tmp_path / "bundle"
    (bundle / "plugins").mkdir(parents=True, mode=0o755)
    (bundle / "pool.yaml").write_text("plugins:\n  folders: [plugins]\n")
    (bundle / "plugins" / "writer.py").write_text(
        "from negotiator.plugin import hookimpl\n"
        "def note(matches):\n"
        "    with open('observed', 'a') as file:\n"
        "        file.write(f'{len(matches)} ')\n"
        "@hookimpl\n"
        "def negotiator_matches_made(matches):\n"
        "    note(matches)\n"
        "@hookimpl\n"
        "def negotiator_cycle_ended(summary):\n"
        "    note(summary.matches)\n"
        "    1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    pool, policy = n.read_pool(POOL), n.load_bundle(bundle)
    result = n.run(pool, policy, now=NOW)
    assert len(result.matches) == 7
    assert Path("observed").read_text() == "7 7 "
    (failure,) = result.failures
    assert "negotiator_cycle_ended: ZeroDivisionError" in failure
    n.run(pool, policy, now=NOW, audit_log="audit")
    assert Path("observed").read_text() == "7 7 7 7 "


def test_with_a_state_the_next_cycle_knows_the_matches_of_the_last_one(tmp_path):
    pool, policy = n.read_pool(POOL), n.load_bundle()
    first = n.run(pool, policy, now=NOW, state=tmp_path / "state", audit_log=tmp_path / "audit")
    second = n.run(pool, policy, now=NOW + 60, state=tmp_path / "state", audit_log=tmp_path / "audit")
    assert len(first.matches) == 7
    assert len(second.matches) == 0
    assert {each.reason.code for each in second.set_aside} >= {"slot_matched"}
    assert printed("audit", "verify", tmp_path / "audit").startswith("ok: ")


def test_a_state_of_other_policies_and_an_unknown_engine_are_errors(tmp_path):
    pool = n.read_pool(POOL)
    n.run(pool, n.load_bundle(), now=NOW, state=tmp_path / "state")
    with pytest.raises(n.NegotiatorError, match="bundle"):
        n.run(pool, n.load_bundle(LIMITS), now=NOW, state=tmp_path / "state")
    with pytest.raises(n.InvalidCallError, match="processes:N"):
        n.run(pool, engine="fast")


def test_a_path_instead_of_a_pool_or_a_policy_is_an_error_with_the_call_that_is_missing():
    with pytest.raises(n.InvalidCallError, match=r"expected a Pool, got str: call read_pool\(\) first"):
        n.run(str(POOL))
    with pytest.raises(n.InvalidCallError, match=r"call load_bundle\(\) first"):
        n.run(n.read_pool(POOL), LIMITS)


def test_a_bundle_that_changed_after_it_was_loaded_is_not_recorded(tmp_path):
    (tmp_path / "pool.yaml").touch()
    policy = n.load_bundle(tmp_path)
    (tmp_path / "pool.yaml").write_text("match: fill\n")
    with pytest.raises(n.CommandError, match="changed after it was loaded"):
        n.run(n.read_pool(POOL), policy, now=NOW, audit_log=tmp_path / "audit")


def test_a_plugin_that_fails_is_named(tmp_path):
    bundle = tmp_path / "bundle"
    (bundle / "plugins").mkdir(parents=True, mode=0o755)
    (bundle / "pool.yaml").write_text("plugins:\n  folders: [plugins]\n")
    (bundle / "plugins" / "broken.py").write_text(
        "from negotiator.plugin import hookimpl\n"
        "@hookimpl\n"
        "def negotiator_filter_slots(request, slots):\n"
        "    raise ValueError('no calendar')\n"
    )
    found = n.run(n.read_pool(POOL), n.load_bundle(bundle), now=NOW)
    assert len(found.matches) == 0
    assert "no calendar" in found.failures[0]
    assert "no calendar" in str(found)


class FewGpusFirst:
    """A plugin that is given as an object."""

    @hookimpl
    def negotiator_job_attributes(self):
        return []

    @hookimpl
    def negotiator_score_slots(self, slots):
        yield Score("few-gpus-first", -slots.numbers("GPUs", default=0))


class Named:
    name = "site"

    @hookimpl
    def negotiator_matches_made(self, matches):
        self.seen = len(matches)


def test_plugins_are_given_as_objects(tmp_path):
    pool, observer = n.read_pool(POOL), Named()
    policy = n.load_bundle(plugins=[FewGpusFirst(), observer])
    assert {"few-gpus-first 0", "site 0"} <= {*policy.plugins}
    n.run(pool, policy, now=NOW)
    assert observer.seen == 7
    other = Named()
    result = n.run(pool, now=NOW, plugins={"other": other}, audit_log=tmp_path / "audit")
    assert other.seen == len(result.matches) == 7
    assert "other 0" in result.policy.plugins
    result = n.run(pool, policy, now=NOW, plugins=[types.SimpleNamespace(name="third", x=Named().name)])
    assert {"few-gpus-first 0", "site 0", "third 0"} <= {*result.policy.plugins}


def test_an_object_is_checked_as_other_plugins_are():
    with pytest.raises(n.NegotiatorError, match="plugin few-gpus-first is a class"):
        n.load_bundle(plugins=[FewGpusFirst])
    with pytest.raises(n.NegotiatorError, match="two plugins are called few-gpus-first: give them names"):
        n.load_bundle(plugins=[FewGpusFirst(), FewGpusFirst()])
    with pytest.raises(n.NegotiatorError, match="two plugins are called placement"):
        n.load_bundle(plugins={"placement": FewGpusFirst()})


@pytest.mark.parametrize(
    ("name", "expected"),
    [("MyPolicy", "my-policy"), ("GPUScores", "gpu-scores"), ("_Site2Rules", "site2-rules"), ("x", "x")],
)
def test_a_class_gives_its_name_to_the_plugin(name, expected):
    plugin = type(name, (FewGpusFirst,), {})()
    assert f"{expected} 0" in n.load_bundle(plugins=[plugin]).plugins


def test_a_pool_is_a_path_several_or_a_list_of_them():
    files = [f"{POOL}/machines.ads", f"{POOL}/jobs.ads"]
    sizes = {len(each.jobs) for each in (n.read_pool(*files), n.read_pool(files), n.read_pool(tuple(files)))}
    assert sizes == {19}
    with pytest.raises(n.NegotiatorError, match="missing pool"):
        n.read_pool([])
