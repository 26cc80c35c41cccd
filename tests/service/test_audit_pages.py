"""The pages that search the audit log: every kind of record in words, filters, paging, and reasons with the decisive one first."""

import html
import json
import re

import pytest

from app_client import app_client
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.hooks.command_targets import CommandTargets
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.web_app import make_app

SLOT = 'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\nMemory = 1\n'
EVIL = "<img src=x onerror=alert(1)>"


def reason(text, rule, source=None, **more):
    origin = {"station": "match", "plugin": "limits", "version": "1", "rule": rule, "source": source}
    return {"verdict": "denied", "mode": "enforce", "text": text, "numbers": {}, "provenance": origin} | more


DENIAL = {
    "kind": "denial",
    "user": "ann",
    "submitter": "ann@example.org",
    "schedd": "s",
    "jobs": 3,
    "first_job": "7.0",
    "job_ids": ["7.0-2"],
    "queue": "root.a",
    "matched": 0,
    "candidates": 0,
    "reasons": [
        reason("the slot is too small", "Requirements", removed=1500, rejected=2000),
        reason(
            "ann is at the limit", "of ann", "queues.yaml:4:3", removed=2, rejected=9, numbers={"limit": 4}
        ),
    ],
    "decisive": 1,
    "reasons_left_out": 5,
}
RECORDS = [
    {
        "kind": "admin",
        "user": "boss",
        "action": "hold",
        "application": EVIL,
        "ok": True,
        "text": "held",
        "rule": "acl",
    },
    {"kind": "placement", "user": "ann", "jobs": 2, "first_job": "7.0", "queue": "", "steps": []},
    {
        "kind": "match",
        "user": "ann",
        "job": "8.1",
        "slot": "slot1@m",
        "queue": "root.a",
        "candidates": 4,
        "reason": {"text": "best rank"},
    },
    *({**DENIAL, "bundle": "b"} for _ in range(3)),
    {
        **DENIAL,
        "user": "eve",
        "decisive": None,
        "first_job": "20.0",
        "job_ids": [f"{number}.0" for number in range(20, 26)],
    },
    {"kind": "failure", "plugin": "odd", "hook": "filter", "message": 'ClaimId = "<secret>"'},
    {"kind": "unheard of", "user": {"nested": [EVIL, 10**30, None]}},
]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    (folder / "pool.ads").write_text(SLOT)
    (folder / "audit").mkdir()
    lines = [
        {"seq": number, "prev": "0" * 64, "kind": each["kind"], "time": f"2027-01-15T08:{number:02}:00.000Z"}
        | each
        for number, each in enumerate(RECORDS, 1)
    ]
    text = "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines)
    (folder / "audit" / "audit-000001.jsonl").write_text(text)
    return served(folder)


def served(folder):
    overviews = Overviews(CommandTargets(pool=(folder / "pool.ads",), audit_log=folder / "audit"))
    overviews.refresh()
    return logged_in(make_app(overviews, Callers(folder / "tokens.yaml")), folder / "tokens.yaml")


def logged_in(app, tokens, role=Role.QUEUE_ADMINISTRATOR):
    """Return a browser whose user has a token of a role."""
    client = app_client(app)
    tokens.touch(0o600)
    token = make_token(tokens, "boss", (), role, None)
    client.post("/pool/login", data={"token": token}, headers={"Sec-Fetch-Site": "same-origin"})
    return client


def found(client, query, page="audit"):
    """Return the text of a page, and the numbers of its records."""
    answer = client.get(f"/pool/{page}?{query}")
    assert answer.status_code == 200, answer.text
    return answer.text, [int(each) for each in re.findall(r"<summary>(\d+)</summary>", answer.text)]


def words(text):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).split())


def test_the_newest_records_come_first_in_words(client):
    text, numbers = found(client, "")
    assert numbers == list(range(len(RECORDS), 0, -1))
    assert "3 jobs got no slot in root.a: 7.0-2 ann is at the limit queues.yaml:4:3" in words(text)
    assert "job 8.1 got slot1@m in root.a best rank" in words(text)
    assert "2 jobs rejected: no rule places 7.0" in words(text)
    assert "plugin odd failed in filter" in words(text)
    assert "held (rule acl)" in words(text)
    assert '<time datetime="2027-01-15T08:01:00Z">' in text


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("kind=match", [3]),
        ("kind=nonsense&user=boss", [1]),
        ("user=ann", [6, 5, 4, 3, 2]),
        ("job=7.1", [6, 5, 4]),
        ("job=8", [3]),
        ("queue=root.a&kind=denial&before=6", [5, 4]),
        ("slot=slot1@m", [3]),
        ("text=BEST+rank", [3]),
        ("since=2027-01-15+08:07&until=2027-01-15T08:08:00+UTC&user=eve", [7]),
        ("since=2027-01-15T09:07%2B01:00", [9, 8, 7]),
        ("user=nobody", []),
        ("before=0000000000000000000000000000000", [9, 8, 7, 6, 5, 4, 3, 2, 1]),
    ],
)
def test_records_are_found_by_each_field(client, query, numbers):
    text, shown = found(client, query)
    assert shown == numbers
    assert ("No record was found." in text) is (not numbers)


@pytest.mark.parametrize("since", ["yesterday", "2027-13-01T00:00", "0001-01-01T00:00%2B14:00"])
def test_an_invalid_time_is_reported_above_the_form(client, since):
    text, numbers = found(client, f"since={since}")
    assert numbers == []
    assert "invalid time" in text


def test_values_of_records_are_never_html_and_secrets_are_not_shown(client):
    text, _ = found(client, "")
    assert "<img src=x" not in text
    assert html.escape(EVIL) in text
    assert "secret" not in text


def test_of_many_records_a_link_leads_to_the_earlier_ones(tmp_path):
    (tmp_path / "pool.ads").write_text(SLOT)
    (tmp_path / "audit").mkdir()
    lines = (
        f'{{"seq":{number},"prev":"{"0" * 64}","kind":"cycle","cycle":{number},"time":"2027-01-15T08:00:00.000Z"}}\n'
        for number in range(1, 251)
    )
    (tmp_path / "audit" / "audit-000001.jsonl").write_text("".join(lines))
    client, path, seen = served(tmp_path), "/pool/audit?kind=cycle&text=seq", []
    for _ in range(3):
        text, numbers = found(client, path.partition("?")[2])
        seen += numbers
        link = re.search('href="([^"]*)">Earlier records', text)
        path = html.unescape(link[1]) if link else ""
    assert seen == list(range(250, 0, -1))
    assert not path


def test_decisions_have_all_reasons_with_the_decisive_one_first_and_say_how_often(client):
    text, _ = found(client, "job=7", "decisions")
    assert text.count("<article") == 1
    assert "(3 records)" in text
    shown = words(text)
    first = "ann is at the limit decisive denied limits: of ann queues.yaml:4:3 2 9"
    assert first in shown
    assert shown.index(first) < shown.index("the slot is too small")
    assert "1,500 2,000" in shown
    assert "5 more reasons were not recorded." in shown


def test_a_denial_whose_last_slots_other_jobs_got_has_no_decisive_reason(client):
    page, _ = found(client, "user=eve", "decisions")
    assert "none is decisive: other jobs got the last slots" in words(page)
    assert ">decisive<" not in page
    assert "3 jobs got no slot: 20.0, 21.0, 22.0 and further ones" in words(page)
    assert "other jobs got the last slots" in words(found(client, "user=eve")[0])


def test_decisions_of_a_user_are_matches_and_denials(client):
    text, _ = found(client, "user=ann", "decisions")
    assert text.count("<article") == 2
    assert "2 jobs rejected" not in text
    assert "No decision was found." in found(client, "user=boss", "decisions")[0]


def test_without_an_audit_log_the_pages_say_so(tmp_path):
    (tmp_path / "pool.ads").write_text(SLOT)
    for page in ("audit", "decisions"):
        assert "cannot read the folder of the audit log" in found(served(tmp_path), "", page)[0]


def test_the_audit_log_is_for_administrators_of_queues_also_on_this_host(tmp_path):
    """Its files are not open to everybody either; decisions are for all who may read."""
    (tmp_path / "pool.ads").write_text(SLOT)
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "audit-000001.jsonl").write_text("")
    tokens = tmp_path / "tokens.yaml"
    overviews = Overviews(CommandTargets(pool=(tmp_path / "pool.ads",), audit_log=tmp_path / "audit"))
    overviews.refresh()
    app = make_app(overviews, Callers(tokens))
    tokens.touch(0o600)
    anybody, viewer = app_client(app), logged_in(app, tokens, Role.VIEWER)
    codes = [client.get("/pool/audit").status_code for client in (anybody, viewer, logged_in(app, tokens))]
    assert codes == [401, 403, 200]
    assert anybody.get("/pool/decisions?user=ann").status_code == 200
