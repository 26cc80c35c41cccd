"""The generated reference pages are those of the present program."""

import re
from pathlib import Path

import pytest

from negotiator.cli.commands import COMMANDS
from negotiator.exit_codes import ExitCode
from negotiator.hooks.manager import HOOKS
from negotiator_docs.markdown import table, text
from negotiator_docs.mentions import Mentions
from negotiator_docs.reference import PAGES

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
RENEW = "run `make docs-reference`"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_current(name):
    assert PAGES[name]() == (REFERENCE / name).read_text(encoding="utf-8"), RENEW


def test_every_command_has_a_section():
    sections = re.findall(r"^## negotiator (\S+)$", (REFERENCE / "commands.md").read_text(), re.MULTILINE)
    assert sections == sorted([*COMMANDS, "qconf", "qquota", "userprio"])


def test_every_hook_leads_to_its_section_in_the_contract():
    page = (REFERENCE / "hooks.md").read_text()
    assert re.findall(r"^\| \[`(\w+)`\]\(\.\./hooks\.md#\1", page, re.MULTILINE) == list(HOOKS)


def test_every_exit_code_has_its_meaning():
    page = (REFERENCE / "program.md").read_text()
    assert re.findall(r"^\| `(\d+)` \| (.*) \|$", page, re.MULTILINE) == [
        (str(int(code)), code.meaning) for code in ExitCode
    ]


@pytest.mark.parametrize(
    "key", ["policies[].expression", "placement.user", "htcondor.token", "PRIORITY_HALFLIFE"]
)
def test_a_key_leads_to_the_section_that_documents_it(key):
    (row,) = re.findall(
        rf"^\| `{re.escape(key)}` \|.*\]\(\.\./([\w.-]+)#?", (REFERENCE / "keys.md").read_text(), re.MULTILINE
    )
    assert (
        f"`{key.rpartition('.')[2]}" in (text := (ROOT / "docs" / row).read_text())
        or f"{key.rpartition('.')[2]}:" in text
    )


def test_a_key_is_looked_up_in_the_part_that_it_belongs_to(tmp_path):
    for name in ("bundle", "queues", "placement", "quota-sets", "fair-share", "queue-order", "live-pool"):
        (tmp_path / f"{name}.md").write_text("# Nothing\n")
    for name in ("service", "cycle", "several-negotiators", "hooks", "condor-settings"):
        (tmp_path / f"{name}.md").write_text("# Nothing\n")
    page = "# Page\n\n## One\n\nThe `order`.\n\n## Two, of plugins\n\n```yaml\nplugins:\n  # as listed\n  order: [a]\n```\n"
    (tmp_path / "bundle.md").write_text(page)
    mentions = Mentions.of(tmp_path)
    assert mentions.link("plugins.order", "") == "[Two, of plugins](../bundle.md#two-of-plugins)"
    assert mentions.link("order", "") != ""
    assert mentions.link("nowhere", "") == ""


def test_plain_text_has_no_markup_in_a_table():
    row = table(["a"], [[text("x | y *z* <w> ``code`` _b_ a_b")]]).splitlines()[-1]
    assert row == r"| x \| y \*z\* \<w\> `code` \_b\_ a_b |"
