"""The page for new administrators: each of its commands prints what the page shows."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from negotiator.cli import main

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "examples" / "first-pool" / "first-hour.md"
SCREEN = 40  # lines


def stable(text):
    """Leave out what changes with every edit of a bundle: digests and the size of a page."""
    return re.sub(r"\b([0-9a-f]{12}|[0-9a-f]{64}|[\d,]+(?= bytes))\b", "...", text)


def test_every_command_of_the_first_hour_prints_what_the_page_shows(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "examples" / "first-pool", tmp_path / "examples" / "first-pool")
    shutil.copytree(ROOT / "policies", tmp_path / "policies")
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    text = PAGE.read_text()
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    pieces = [
        piece
        for block in blocks
        for piece in re.split(r"^\$ negotiator ", block, flags=re.MULTILINE)
        if piece
    ]
    assert len(pieces) == text.count("$ negotiator ") >= 16
    for piece in pieces:
        command, _, shown = piece.partition("\n")
        done = CliRunner().invoke(main, shlex.split(command))
        assert done.exit_code == 0, (command, done.output)
        assert stable(done.output.rstrip()) == stable(shown.rstrip()), command
        assert len(shown.splitlines()) <= SCREEN, command


@pytest.mark.parametrize("page", ["README.md", "examples/first-pool/README.md"])
def test_the_page_is_found_from_where_people_begin(page):
    assert "first-hour.md" in (ROOT / page).read_text()
