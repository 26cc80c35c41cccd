"""The configuration by page: check, differences, apply; who may, and what a change meanwhile does."""

import html
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app_client import app_client
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime.state import StateStore
from negotiator.service.callers import Callers
from negotiator.service.overviews import Overviews
from negotiator.service.pages.views.differences import differences
from negotiator.service.web_app import make_app

SLOT = 'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\nMemory = 1\n'
HERE = {"Sec-Fetch-Site": "same-origin"}
CHANGE = "/pool/configuration/change"
BEFORE = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: default
          - name: before
    placementrules:
      - name: fixed
        value: root.default
"""
AFTER = BEFORE.replace("before", "after")


@pytest.fixture
def bundle(tmp_path):
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "pool.yaml").write_text("scheduleracl: alice\n# <b>own</b>\n")
    (folder / "queues.yaml").write_text(BEFORE)
    (folder / "data.bin").write_bytes(b"\xff\x00")
    return folder


@pytest.fixture
def browsers(tmp_path, bundle):
    """Return a function that returns the browser of a user who is logged in, or of nobody."""
    (tmp_path / "pool.ads").write_text(SLOT)
    targets = CommandTargets(
        bundle=bundle,
        pool=(tmp_path / "pool.ads",),
        state=tmp_path / "state",
        audit_log=tmp_path / "audit",
    )
    with StateStore.open(targets.state):
        pass
    overviews = Overviews(targets)
    overviews.refresh()
    tokens = tmp_path / "tokens.yaml"
    tokens.write_text("")
    app = make_app(overviews, Callers(tokens))

    def browser(user="", role=Role.SCHEDULER_ADMINISTRATOR):
        client = app_client(app)
        if user:
            token = make_token(tokens, user, (), role, None)
            client.post("/pool/login", data={"token": token}, headers=HERE)
        return client

    return browser


def fields(page):
    """Return the hidden fields of the form to apply."""
    form = page.partition('class="apply"')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', form)
    return {name: html.unescape(value) for name, value in found}


def check(browser, text):
    value = re.search('name="form" value="([^"]*)"', browser.get(CHANGE).text)[1]
    return browser.post(CHANGE, data={"action": "check", "text": text, "form": value}, headers=HERE)


def applied(browser, sent, **more):
    return browser.post(CHANGE, data=sent | {"action": "apply"} | more, headers=HERE)


def admin_records(tmp_path):
    lines = [line for path in (tmp_path / "audit").glob("*.jsonl") for line in path.read_text().splitlines()]
    return [record for record in map(json.loads, lines) if record["kind"] == "admin"]


def test_a_checked_change_is_applied_and_recorded_with_its_user_and_reason(tmp_path, bundle, browsers):
    alice = browsers("alice")
    page = check(alice, AFTER.replace("\n", "\r\n"))  # as browsers send it
    assert page.status_code == 200
    assert (bundle / "queues.yaml").read_text() == BEFORE
    assert re.search(r"<del><b>-</b>\s+- name: before</del>", page.text)
    assert re.search(r"<ins><b>\+</b>\s+- name: after</ins>", page.text)
    answer = applied(alice, fields(page.text), note="more\n room")
    assert answer.status_code == 200, answer.text
    assert (bundle / "queues.yaml").read_bytes() == AFTER.encode()
    (record,) = admin_records(tmp_path)
    assert record["user"] == "alice"
    assert record["note"].endswith("(by page: more room)")
    digest = re.search(r"<code>([0-9a-f]{64})</code>", answer.text)[1]
    assert digest in record["note"]
    assert "in the audit log" in answer.text
    assert "root.after" in alice.get("/pool/queues/root").text


def test_a_text_with_errors_is_shown_with_its_places_and_cannot_be_applied(bundle, browsers):
    alice = browsers("alice")
    page = check(alice, AFTER.replace("name: after", "name: a b"))
    assert "queues.yaml:8:19" in page.text
    assert ">1 error<" in page.text
    assert fields(page.text) == {}
    sent = fields(check(alice, AFTER).text) | {"text": AFTER.replace("name: after", "name: a b")}
    answer = applied(alice, sent)
    assert answer.status_code == 409
    assert "queues.yaml:8:19" in answer.text
    assert (bundle / "queues.yaml").read_text() == BEFORE


def test_what_was_changed_meanwhile_is_shown_and_nothing_is_written_until_it_is_applied_again(
    bundle, browsers
):
    alice = browsers("alice")
    page = check(alice, AFTER)
    meanwhile = BEFORE.replace("- name: before", "- name: other")
    (bundle / "queues.yaml").write_text(meanwhile)
    answer = applied(alice, fields(page.text), note="because")
    assert answer.status_code == 409
    assert "changed meanwhile" in answer.text
    assert re.search(r"<del><b>-</b>\s+- name: other</del>", answer.text)
    assert 'value="because"' in answer.text
    assert (bundle / "queues.yaml").read_text() == meanwhile
    assert applied(alice, fields(answer.text)).status_code == 200
    assert (bundle / "queues.yaml").read_text() == AFTER


def test_a_bundle_without_queues_gets_the_file(bundle, browsers):
    (bundle / "queues.yaml").unlink()
    alice = browsers("alice")
    sent = fields(check(alice, AFTER).text)
    assert sent["base"] == ""
    assert applied(alice, sent).status_code == 200
    assert (bundle / "queues.yaml").read_text() == AFTER


def test_a_user_whom_the_policy_denies_reads_why_and_the_attempt_is_recorded(tmp_path, bundle, browsers):
    bob = browsers("bob")
    answer = applied(bob, fields(check(bob, AFTER).text))
    assert answer.status_code == 403
    assert "scheduleracl" in answer.text
    assert (bundle / "queues.yaml").read_text() == BEFORE
    (record,) = admin_records(tmp_path)
    assert (record["user"], record["ok"]) == ("bob", False)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.QUEUE_ADMINISTRATOR, None])
def test_others_may_check_and_not_apply(bundle, browsers, role):
    browser = browsers("alice", role) if role else browsers()
    page = check(browser, AFTER)
    assert "<ins>" in page.text
    assert fields(page.text) == {}
    assert "scheduler-administrator" in page.text
    value = re.search('name="form" value="([^"]*)"', page.text)[1]
    answer = applied(browser, fields(check(browsers("alice"), AFTER).text) | {"form": value})
    assert answer.status_code == (403 if role else 401)
    assert (bundle / "queues.yaml").read_text() == BEFORE


@pytest.mark.parametrize(
    ("value", "headers"), [("", HERE), ("x", HERE), (None, {"Sec-Fetch-Site": "cross-site"})]
)
def test_without_the_value_of_the_session_or_from_another_site_nothing_is_done(
    bundle, browsers, value, headers
):
    alice = browsers("alice")
    sent = fields(check(alice, AFTER).text) | {"action": "apply"}
    answer = alice.post(CHANGE, data=sent | ({} if value is None else {"form": value}), headers=headers)
    assert answer.status_code == 403
    assert (bundle / "queues.yaml").read_text() == BEFORE


def test_a_text_is_never_html(browsers):
    hostile = AFTER.replace("after", "'</textarea><script>alert(1)</script>\"\x1b[31m'")
    page = check(browsers("alice"), hostile).text
    assert "<script" not in page
    assert page.count("</textarea>") == 1
    assert "&lt;/textarea&gt;&lt;script&gt;" in page


def test_a_text_that_is_too_large_is_refused(bundle, browsers):
    answer = check(browsers("alice"), "#" * ((1 << 20) + 1))
    assert answer.status_code == 413
    assert answer.headers["content-type"].startswith("text/html")
    assert (bundle / "queues.yaml").read_text() == BEFORE


def test_other_files_are_for_scheduler_administrators(browsers):
    path = "/pool/configuration/files/pool.yaml"
    assert browsers().get(path).status_code == 401
    assert browsers("vera", Role.VIEWER).get(path).status_code == 403
    assert "files/pool.yaml" not in browsers("vera", Role.VIEWER).get("/pool/configuration").text
    alice = browsers("alice")
    assert f'href="{path}"' in alice.get("/pool/configuration").text
    assert '<span id="L2"># &lt;b&gt;own&lt;/b&gt;' in alice.get(path).text
    for name in ("data.bin", "none", "../tokens.yaml", "%2e%2e/tokens.yaml", "queues.yaml.old~"):
        assert alice.get(f"/pool/configuration/files/{name}").status_code == 404


def test_the_built_in_bundle_cannot_be_changed(tmp_path):
    (tmp_path / "pool.ads").write_text(SLOT)
    overviews = Overviews(CommandTargets(pool=(tmp_path / "pool.ads",)))
    overviews.refresh()
    client = app_client(make_app(overviews))
    assert CHANGE not in client.get("/pool/configuration").text
    assert client.get(CHANGE).status_code == 400


TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d e"]), max_size=40)


@given(TEXTS, TEXTS)
def test_differences_have_every_change_with_the_numbers_of_its_lines(old, new):
    """What is left out is the same in both texts."""
    lines = differences("".join(f"{each}\n" for each in old), "".join(f"{each}\n" for each in new))
    assert bool(lines) == (old != new)
    for each in lines:
        assert not each.old or old[each.old - 1] == each.text
        assert not each.new or new[each.new - 1] == each.text
    shown = {each.old for each in lines}, {each.new for each in lines}
    if lines:
        rest = [
            [each for number, each in enumerate(text, 1) if number not in numbers]
            for text, numbers in zip((old, new), shown, strict=True)
        ]
        assert rest[0] == rest[1]
        assert len(rest[0]) == sum(int(each.text) for each in lines if each.kind == "left-out")


def test_differences_of_large_texts_are_found_at_once():
    """Else a reader of the pages could keep the service busy for minutes."""
    old, new = ("".join(f"{number * step % 997}\n" for number in range(60_000)) for step in (1, 3))
    lines = differences(f"same\n{old}end\n", f"same\n{new}end\n")
    assert (lines[0].text, lines[-1].text) == ("same", "end")
    assert len(lines) > 100_000
