"""The documented codes of lint are those that lint reports."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.classad.lint import LintCode
from negotiator.cli.commands.check import check
from negotiator.cli.commands.expr import lint_command

ROOT = Path(__file__).parents[2]
SECTION = (
    (ROOT / "docs" / "expressions.md")
    .read_text(encoding="utf-8")
    .partition("\n## Lint\n")[2]
    .partition("\n## ")[0]
)
ROWS = re.findall(r"^\| `([a-z-]+)` \| (.+) \| (?:`(.+)`)? ?\|$", SECTION, re.MULTILINE)
POOL = ["--my", "examples/first-pool/machines.ads", "--target", "examples/first-pool/jobs.ads"]


@pytest.fixture(autouse=True)
def here(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")


def test_every_code_is_documented_in_its_order():
    assert [code for code, _, _ in ROWS] == list(LintCode)


@pytest.mark.parametrize(("code", "text"), [(code, text) for code, _, text in ROWS if text])
def test_each_example_has_its_finding(code, text):
    option, _, rest = text.replace(r"\|", "|").partition(" ")
    words = [option, rest] if option.startswith("--") else [text.replace(r"\|", "|")]
    pool = POOL[:2] if option == "--alone" else [] if code == "misspelled-attribute" else POOL
    result = CliRunner().invoke(lint_command, [*words, *pool])
    assert f"[{code}]" in result.stdout


@pytest.mark.parametrize(
    ("command", "output"),
    re.findall(r"^\$ negotiator expr lint (.*)\n((?:(?!\$ |```).*\n)*)", SECTION, re.MULTILINE),
)
def test_a_command_prints_the_shown_output(command, output):
    assert CliRunner().invoke(lint_command, shlex.split(command)).stdout == output


def test_check_prints_the_output_shown_in_the_page_of_bundles():
    text = (ROOT / "docs" / "bundle.md").read_text(encoding="utf-8")
    command, output = re.search(r"^\$ negotiator check (.*)\n((?:(?!```).*\n)*)", text, re.MULTILINE).groups()
    assert CliRunner().invoke(check, shlex.split(command)).stdout == output
