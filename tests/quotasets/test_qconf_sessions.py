"""The report of differences between a recorded transcript of qconf and the command; tests/conformance replays all transcripts."""

from pathlib import Path

import pytest

from gridengine import Folder, sections
from gridengine_sessions import run_section
from gridengine_site import write_site

HERE = Path(__file__).parents[1] / "conformance" / "gridengine"
FOLDER = Folder(HERE, HERE)
SESSIONS = sections(FOLDER.read("cli_golden.yaml.gz"))


@pytest.fixture
def site_factory():
    return lambda folder: write_site(folder, FOLDER.env("std"))


@pytest.mark.parametrize(
    ("number", "change", "stream"),
    [
        (0, {"stdout": 'root@qm added "other" to resource quota set list\n'}, "stdout"),
        (1, {"stderr": 'resource quota set "rule_set_2" is there\n'}, "stderr"),
        (1, {"rc": 0}, "rc"),
        (2, {"stdout": ""}, "stdout"),
    ],
)
def test_a_transcript_that_differs_is_reported(site_factory, tmp_path, number, change, stream):
    entries = [dict(entry) for entry in SESSIONS["Arqs"][:3]]
    entries[number] |= change
    (line,), _ = run_section(entries, site_factory, tmp_path)
    assert line.startswith(f"root $ {entries[number]['command']}\n  {stream}: ")


def test_an_editor_that_saw_another_text_is_reported(site_factory, tmp_path):
    entry = SESSIONS["arqs-editor"][0]
    (line,), _ = run_section([entry | {"editor_saw": "{}\n"}], site_factory, tmp_path)
    assert "editor saw: '{\\n   name         template" in line
