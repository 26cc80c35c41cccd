"""Logging in and changing the queues in Debian's chromium, as a user does it: with what this browser sends along."""

import json

import pytest

from browsing import TOO_WIDE, violations
from negotiator.app.token_roles import Role
from negotiator.app.tokens import make_token
from negotiator.runtime.state import StateStore

QUEUES = """\
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: before
"""
SLOT = 'MyType = "Machine"\nName = "slot1@m"\nMachine = "m"\nCpus = 1\nMemory = 1\n'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "pool.yaml").write_text("scheduleracl: alice\n")
    (tmp_path / "bundle" / "queues.yaml").write_text(QUEUES)
    (tmp_path / "pool.ads").write_text(SLOT)
    (tmp_path / "tokens.yaml").write_text("")
    (tmp_path / "tokens.yaml").chmod(0o600)
    with StateStore.open(tmp_path / "state"):
        pass
    return tmp_path


def test_one_logs_in_changes_the_queues_and_logs_out(site, serving, open_page):
    token = make_token(site / "tokens.yaml", "alice", (), Role.SCHEDULER_ADMINISTRATOR, None)
    files = ("--bundle", "bundle", "--pool", "pool.ads", "--state", "state", "--audit-log", "audit")
    command, client = serving(*files, "--set", "web_tokens=tokens.yaml", cwd=site)
    with command, client:
        page, found = open_page(390, logged_in=False), []

        def look():
            assert page.evaluate(TOO_WIDE) == []
            found.extend(violations(page))

        page.goto(f"{client.base_url}/pool")
        page.get_by_role("link", name="Log in").click()
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        assert page.get_by_role("alert").inner_text() == "The token is unknown, or has ended."
        look()
        page.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        page.wait_for_url("**/pool")
        assert page.evaluate("document.cookie") == ""  # no script reads it

        page.goto(f"{client.base_url}/pool/configuration/change")
        text = page.get_by_role("textbox", name="queues.yaml")
        assert text.input_value() == QUEUES
        text.fill(QUEUES.replace("name: before", "name: b c"))
        page.get_by_role("button", name="Check").click()
        assert page.get_by_text("1 error", exact=True).is_visible()
        assert page.get_by_role("button", name="Apply").count() == 0
        look()
        text.fill(QUEUES.replace("name: before", "name: after"))
        page.get_by_role("button", name="Check").click()
        assert page.locator("ins").all_inner_texts() == ["+           - name: after"]
        assert page.locator("del").all_inner_texts() == ["-           - name: before"]
        look()
        page.get_by_label("Reason").fill("a test")
        page.get_by_role("button", name="Apply").click()
        assert page.get_by_role("heading", level=1).inner_text() == "queues.yaml was changed"
        look()
        page.get_by_role("link", name="alice").click()
        page.get_by_role("button", name="Log out").click()
        assert page.get_by_role("heading", level=1).inner_text() == "Log in"
        assert page.context.cookies() == []
    assert (site / "bundle" / "queues.yaml").read_text() == QUEUES.replace("before", "after")
    (record,) = [
        json.loads(line)
        for file in (site / "audit").glob("*.jsonl")
        for line in file.read_text().splitlines()
        if '"admin"' in line
    ]
    assert (record["user"], "(by page: a test)" in record["note"]) == ("alice", True)
    assert found == []
