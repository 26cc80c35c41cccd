"""Why jobs get no slot, or a slot no job, over HTTP: the API, the page, and what questions may cost."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import httpx
import pytest
from click.testing import CliRunner

from app_client import app_client
from negotiator.app.why.idle import IdleBy
from negotiator.app.why.subject import WhyKind
from negotiator.cli import main
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import StateStore
from negotiator.runtime.status_file import NegotiatorStatus, write_status
from negotiator.service.overviews import Overviews
from negotiator.service.web_app import make_app
from pools import job, slot, write_ads, write_bundle

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"
WAITING = """
import time
from pathlib import Path
from negotiator.plugin import hookimpl

@hookimpl
def negotiator_filter_slots(request):
    while not Path({file!r}).exists():
        time.sleep(0.01)
    return []
"""


@pytest.mark.parametrize(
    ("kind", "name"),
    [("job", "14"), ("user", "tester"), ("queue", "root"), ("slot", "slot1@node1.example.org")],
)
def test_the_api_answers_what_the_command_prints(client, kind, name):
    found = client.get(f"/api/v1/why/{kind}", params={"name": name}).json()
    words = ["why", name, f"--{kind}", "--pool", str(POOL), "--bundle", str(ROOT / "policies" / "limits")]
    now = ["--now", str(found["asof"])]
    assert found["facts"] == json.loads(CliRunner().invoke(main, [*words, *now, "--json"]).stdout)
    printed = CliRunner().invoke(main, [*words, *now, "--full"]).stdout
    assert printed.splitlines()[: len(found["sentences"])] == found["sentences"]
    assert all(cell in printed for table in found["tables"] for row in table["rows"] for cell in row)
    assert (found["kind"], found["tables"] != []) == (kind, True)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        ("job?name=999", 404, "no job 999 in the pool"),
        ("job?name=x", 400, "parameter name"),
        ("user?name=testr", 404, "did you mean tester (user)?"),
        ("slot?name=slot1", 404, "no slot slot1"),
        ("queue", 400, "missing required field `name`"),
    ],
)
def test_what_the_pool_does_not_have_is_refused_with_the_nearest_name(client, path, status, message):
    answer = client.get(f"/api/v1/why/{path}")
    assert (answer.status_code, message in answer.json()["message"]) == (status, True), answer.text


def test_the_page_has_the_decisive_reason_and_the_tables(client):
    text = client.get("/pool/why", params={"job": "14"}).text
    assert '<h2 id="answer">Job 14.0 of tester, in root.default' in text
    assert "<p>Denied: the job&#39;s Requirements: TARGET.Memory &gt; 999999</p>" in text
    assert "<caption>What keeps it from slots (33 take part)</caption>" in text
    assert 'href="/pool/decisions?job=14"' in text


def test_rows_of_a_page_are_named_by_their_reason_not_by_a_number(client):
    text = client.get("/pool/why", params={"user": "tester"}).text
    assert '<th scope="row">user tester in root: vcore uses 16, needs 1, may have 16</th>' in text
    assert '<th scope="row">tester@example.org</th>' in text


@pytest.mark.parametrize(
    ("query", "alert"),
    [
        ({}, None),
        ({"job": " "}, None),
        ({"job": "14", "user": "tester"}, "name one of job, user, not several"),
        ({"user": "<b>"}, "no user &#39;&lt;b&gt;&#39; in the pool"),
        ({"job": "x"}, "invalid job id"),
    ],
)
def test_the_page_has_its_form_whatever_was_given(client, query, alert):
    answer = client.get("/pool/why", params=query)
    found = re.search(r'role="alert">([^\n]*)</p>', answer.text)
    assert (answer.status_code, found and alert in found[1]) == (200, alert and True)
    assert '<input id="slot" name="slot"' in answer.text


def test_a_queue_leads_to_why_its_jobs_wait(client):
    assert 'href="/pool/why?queue=root"' in client.get("/pool/queues/root").text


@pytest.mark.parametrize("by", IdleBy)
def test_the_api_counts_idle_jobs_as_the_command_prints_them(client, by):
    found = client.get(f"/api/v1/idle?by={by}").json()
    words = ["idle", "--pool", str(POOL), "--bundle", str(ROOT / "policies" / "limits")]
    words += ["--now", str(found["asof"])]
    printed = CliRunner().invoke(main, [*words, "--by", str(by), "--full"]).stdout
    assert printed.splitlines()[0] == found["sentences"][0]
    for each in (found["groups"][0], found["groups"][-1]):
        name = [] if by == "reason" else [each["name"]]
        row = [*name, str(each["jobs"]), each["reason"]["verdict"], *each["reason"]["text"].split()]
        assert " ".join(row) in " ".join(printed.split())
    in_detail = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["idle"]
    assert (
        sum(each["jobs"] for each in in_detail)
        == found["jobs"]
        == sum(each["jobs"] for each in found["groups"])
    )
    assert found["total"] == len(found["groups"])


def test_idle_jobs_of_a_user_or_a_queue_are_counted_in_pages(client):
    everything = client.get("/api/v1/idle?by=user").json()
    second = client.get("/api/v1/idle?by=user&offset=1&rows=1").json()
    assert (second["groups"], second["total"]) == (everything["groups"][1:2], everything["total"])
    own = client.get("/api/v1/idle", params={"by": "user", "user": "tester"}).json()
    assert [each["name"] for each in own["groups"]] == ["tester"]
    below = client.get("/api/v1/idle?by=queue&queue=root").json()
    assert {each["name"].partition(".")[0] for each in below["groups"]} == {"root"}
    assert client.get("/api/v1/idle?queue=root.none").json()["jobs"] == 0


def test_the_page_of_idle_jobs_leads_to_why_of_users_and_queues(client):
    """Queues lead to it; a reason is its own name and leads nowhere."""
    text = client.get("/pool/idle?by=user").text
    assert '<th scope="row"><a href="/pool/why?user=tester">tester</a></th>' in text
    assert "<option selected>user</option>" in text
    of_queue = client.get("/pool/idle?by=queue&queue=root.none").text
    assert '<h2 id="answer">0 jobs without a slot' in of_queue
    assert 'name="queue" type="search" value="root.none"' in of_queue
    assert 'href="/pool/why?' not in client.get("/pool/idle?by=nothing").text
    assert 'href="/pool/idle?by=queue"' in client.get("/pool/queues").text


def test_jobs_that_took_no_part_have_a_row_without_a_link(tmp_path):
    write_bundle(tmp_path / "bundle", "NEGOTIATOR_PE_JOB_ONLY_EXPR: MY.RequestCpus > 1")
    write_ads(tmp_path / "pool.ads", slot(0), job(0, RequestCpus="2"))
    read = Overviews(CommandTargets(bundle=tmp_path / "bundle", pool=(tmp_path / "pool.ads",)))
    read.refresh()
    text = app_client(make_app(read)).get("/pool/idle?by=user").text
    assert '<th scope="row">(took no part)</th>' in text


@pytest.fixture
def pool(tmp_path):
    """A function that returns the overviews of a pool of one slot and one job, whose filter waits for the file ``go``."""
    write_bundle(tmp_path / "bundle", plugins={"waiting": WAITING.format(file=str(tmp_path / "go"))})
    write_ads(tmp_path / "pool.ads", slot(0), job(0))
    targets = CommandTargets(
        bundle=tmp_path / "bundle", pool=(tmp_path / "pool.ads",), state=tmp_path / "state"
    )
    with StateStore.open(targets.state):
        read = Overviews(targets)
        read.refresh()
        yield tmp_path, read


def test_an_answer_is_made_once_until_the_pool_is_read_anew(pool):
    """A new status of the negotiator is no new pool."""
    folder, read = pool
    (folder / "go").touch()
    first = read.present.explanations.why(WhyKind.JOB, "1.0")
    write_status(folder / "state", NegotiatorStatus.of_this_process(1.0, "digest", 60.0))
    read.refresh()
    assert read.present.explanations.why(WhyKind.JOB, "1.0") is first
    write_ads(folder / "pool.ads", slot(0), slot(1), job(0))
    read.refresh()
    anew = read.present.explanations.why(WhyKind.JOB, "1.0")
    assert read.present.explanations.idle() is read.present.explanations.idle()
    assert (first.values["slots"], anew.values["slots"]) == (1, 2)


def test_the_last_decision_has_what_readers_may_see_of_it(pool):
    """Not the record of the audit log."""
    folder, read = pool
    (folder / "go").touch()
    places = [folder / "pool.ads", "--state", folder / "state", "--audit-log", folder / "log"]
    command = ["run", "--bundle", folder / "bundle", *places]
    done = CliRunner().invoke(main, list(map(str, command)))
    assert done.exit_code == 0, done.output
    targets = attrs.evolve(read.targets, audit_log=folder / "log")
    shown = Overviews(targets)
    shown.refresh()
    facts = app_client(make_app(shown)).get("/api/v1/why/slot?name=s0@h").json()["facts"]
    decision = app_client(make_app(shown)).get("/api/v1/decisions?slot=s0@h").json()["decisions"][0]
    assert facts["decided"] == decision


def test_readers_of_other_pages_do_not_wait_for_any_number_of_questions(pool):
    """More than there are threads; then all are answered."""
    folder, read = pool

    async def ask():
        transport = httpx.ASGITransport(make_app(read))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            paths = [f"/pool/why?job=1.0&x={number}" for number in range(60)]
            paths += ["/api/v1/why/job?name=1.0", "/api/v1/idle", "/pool/idle"] * 20
            waiting = [asyncio.create_task(client.get(path)) for path in paths]
            await asyncio.sleep(0)
            read_meanwhile = await asyncio.wait_for(client.get("/pool/hosts?name=h"), 30)
            assert not any(each.done() for each in waiting)
            (folder / "go").touch()
            answers = await asyncio.gather(*waiting)
        return read_meanwhile, answers

    with ThreadPoolExecutor(1) as thread:  # in this one the browser of other tests may have a loop
        read_meanwhile, answers = thread.submit(asyncio.run, ask()).result()
    assert {each.status_code for each in (read_meanwhile, *answers)} == {200}
