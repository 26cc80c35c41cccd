"""What happened, by HTTP: the last cycles, the effect of each policy, decisions, and the audit log."""

import json
from datetime import datetime

import attrs
import pytest
from click.testing import CliRunner

from negotiator.app.cycles import last_cycles
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.cli import main
from pools import job, slot, write_ads

BASE = "/api/v1"
BUNDLE = """
NEGOTIATOR_PE_STARTD_ONLY_EXPR: MY.Memory < 2000
policies:
  - name: not-for-zoe
    applies_to: match
    expression: '(MY.Owner ?: "") != "zoe"'
  - name: maybe-later
    applies_to: match
    expression: '(MY.Owner ?: "") != "ada"'
    mode: warn
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A negotiator that has run two cycles: two jobs are matched under a warning, one is denied in each."""
    folder = tmp_path_factory.mktemp("history")
    (folder / "bundle").mkdir()
    (folder / "bundle" / "pool.yaml").write_text(BUNDLE)
    (folder / "pool").mkdir()
    owners = ["zoe", "ada", "ada"]
    jobs = [job(n, Owner=f'"{owner}"', User=f'"{owner}@d"') for n, owner in enumerate(owners)]
    write_ads(folder / "pool" / "jobs.ads", *jobs)
    write_ads(folder / "pool" / "slots.ads", slot(0), slot(1), slot(2), slot(3, Memory="1000"))
    names = {"--bundle": "bundle", "--state": "state", "--audit-log": "audit"}
    options = [f"{name}={folder / path}" for name, path in names.items()]
    for _ in range(2):
        done = CliRunner().invoke(main, ["run", str(folder / "pool"), *options])
        assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def headers(site):
    token = make_token(site / "tokens.yaml", "alice", (), Role.QUEUE_ADMINISTRATOR, None)
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture(scope="module")
def served(site, headers, serving):
    assert headers
    folders = ("--bundle", "bundle", "--pool", "pool", "--state", "state", "--audit-log", "audit")
    command, client = serving(*folders, "--set", "web_tokens=tokens.yaml", cwd=site)
    with command, client:
        yield client


@pytest.fixture
def read(served, headers):
    def values(path, **query):
        answer = served.get(BASE + path, params=query, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return values


def records(site):
    """Return the records of the audit log, the newest first."""
    lines = [
        line for file in sorted((site / "audit").glob("*.jsonl")) for line in file.read_text().splitlines()
    ]
    return [json.loads(line) for line in reversed(lines)]


def test_the_last_cycles_are_listed_the_newest_first(site, read):
    kept = last_cycles(site / "state").cycles
    assert len(kept) == 2
    assert read("/cycles") == {"total": 2, "cycles": [attrs.asdict(each) for each in reversed(kept)]}
    assert [each["number"] for each in read("/cycles", rows=1, offset=1)["cycles"]] == [kept[0].number]


@pytest.mark.parametrize(
    ("path", "key", "kept"),
    [
        ("/policies", "policies", "rules"),
        ("/cycles/last/shares", "shares", "shares"),
        ("/cycles/last/plugins",) + ("plugins",) * 2,
    ],
)
def test_details_of_the_last_cycle_are_those_that_it_saved(site, read, path, key, kept):
    last = last_cycles(site / "state").last
    rows = [attrs.asdict(each) for each in getattr(last, kept)]
    assert rows
    answer = read(path)
    assert answer.items() >= {"number": last.number, "ended": last.ended, "total": len(rows)}.items()
    assert answer[key] == rows


def test_rules_that_did_nothing_say_in_how_many_cycles(read):
    answer = read("/policies", rows=2)
    idle = [(each["rule"], each["cycles"], each["active"], each["idle"]) for each in answer["rules"]]
    assert idle == [("maybe-later", 2, 1, 1), ("not-for-zoe", 2, 2, 0)]
    assert answer["rules_total"] == 3


def test_a_policy_has_the_jobs_for_which_it_was_decisive(read):
    effects = {each["rule"]: each for each in read("/policies")["policies"]}
    assert effects["not-for-zoe"]["decisive"] == 1


def test_a_service_without_a_state_has_no_cycles(client):
    answer = client.get(f"{BASE}/cycles")
    assert answer.status_code == 404
    assert "--state" in answer.json()["message"]


def test_the_denial_of_a_job_names_the_policy_that_decided(read):
    denial = read("/decisions", job="1.0")["decisions"][0]
    assert (denial["kind"], denial["user"], denial["slot"], denial["jobs"]) == ("denial", "zoe", "", 1)
    assert denial["reason"]["rule"] == "not-for-zoe"
    assert denial["reason"]["source"] == "pool.yaml:6:18"
    assert denial["reason"] in denial["reasons"]


def test_matches_of_a_user_have_their_slots_and_the_warnings_of_policies(read):
    matches = [each for each in read("/decisions", user="ada")["decisions"] if each["kind"] == "match"]
    assert matches
    for each in matches:
        assert [warning["rule"] for warning in each["reasons"]] == ["maybe-later"]
        assert each["reason"]["code"] == "best_rank"
        assert each in read("/decisions", slot=each["slot"])["decisions"]


def test_without_a_selection_all_decisions_are_listed(site, read):
    numbers = [each["seq"] for each in records(site) if each["kind"] in {"match", "denial"}]
    assert [each["record"] for each in read("/decisions")["decisions"]] == numbers


def test_the_audit_log_is_read_from_its_end_in_pages(site, read):
    found, before = [], None
    while len(found) <= len(records(site)):
        page = read("/audit", rows=3, **({"before": before} if before else {}))
        assert len(page["records"]) <= 3
        assert page["searched"]
        found += page["records"]
        before = page["before"]
        if before is None:
            break
    assert found == records(site)


def test_records_are_selected_by_kind_user_and_time(site, read):
    everything = records(site)
    assert read("/audit", kind="cycle")["records"] == [each for each in everything if each["kind"] == "cycle"]
    of_zoe = [each for each in everything if each.get("user") == "zoe"]
    assert read("/audit", user="zoe", rows=500)["records"] == of_zoe != []
    last = datetime.fromisoformat(everything[0]["time"]).timestamp()
    assert read("/audit", until=last - 3600)["records"] == []
    assert read("/audit", text="NOT-FOR-ZOE", rows=500)["records"]


def test_the_audit_log_needs_the_token_of_an_administrator(site, served):
    """Its files are not open to everybody on this host either."""
    assert served.get(f"{BASE}/audit").status_code == 401
    viewer = make_token(site / "tokens.yaml", "bob", (), Role.VIEWER, None)
    answer = served.get(f"{BASE}/audit", headers={"Authorization": f"Bearer {viewer}"})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "query", [{"since": "1e300"}, {"since": "nan"}, {"before": "0"}, {"job": "x"}, {"rows": 501}]
)
def test_a_wrong_selection_is_refused(served, headers, query):
    answer = served.get(f"{BASE}/audit", params=query, headers=headers)
    assert answer.status_code == 400
    assert next(iter(query)) in answer.json()["message"]
