"""Pages that a reader follows command by command: each command prints what the page shows."""

from pathlib import Path

import pytest

from negotiator_docs.transcripts import TUTORIALS, commands, prepared_folder, replayed, stable

ROOT = Path(__file__).parents[2]
RENEW = "run `make docs-reference`, and read what it changes"


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_command_prints_what_the_page_shows(tmp_path, name):
    """From the first to the last, in a folder with the examples and the files that the page itself has."""
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert stable(replayed(page, prepared_folder(tmp_path, ROOT))) == stable(page), RENEW


def test_a_page_of_another_output_is_noticed(tmp_path):
    page = "```console\n$ echo one; echo two\none\nthree\n```\n"
    assert replayed(page, tmp_path) == page.replace("three", "two")


def test_a_file_is_written_before_the_next_command(tmp_path):
    page = "`a/b.yaml`:\n\n```yaml\nkey: 1\n```\n\n```console\n$ cat a/b.yaml\nkey: 1\n```\n"
    assert replayed(page, tmp_path) == page


def test_an_output_may_be_shortened(tmp_path):
    page = "```console\n$ printf '1\\n2\\n3\\n'\n1\n...\n```\n"
    assert replayed(page, tmp_path) == page


def test_an_error_is_shown_as_in_a_terminal(tmp_path):
    page = "```console\n$ echo no >&2; false\nno\n```\n"
    assert replayed(page, tmp_path) == page


def test_the_commands_of_a_block_have_their_outputs():
    assert list(commands("$ a\nb\n$ c\n")) == [("a", "b\n"), ("c", "")]
