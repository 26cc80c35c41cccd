"""The page about differences from the specifications: every test, case and section that it names exists."""

import gzip
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "specifications.md").read_text(encoding="utf-8")
TITLES = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
CASES = ROOT / "tests" / "conformance"
#: Why the program differs without a test: something is not built, or a pool has no such object.
UNTESTED = ("missing", "pool")


def rows(title):
    """Return the rows of the table of a specification."""
    section = PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
        for line in lines
        if not line.startswith("| ---")
    ]


def test_five_specifications_have_a_section():
    assert re.findall(r'^\| "([^"]+)" \(', PAGE.split("\n## ", 1)[0], re.MULTILINE) == TITLES
    assert len(TITLES) == 5
    assert all(len(rows(title)) >= 5 for title in TITLES)


@pytest.mark.parametrize("title", TITLES)
def test_each_difference_has_a_sentence_a_reason_and_a_test(title):
    for row in rows(title):
        sentence, here, why, test = row
        assert sentence, row
        assert here, row
        assert why, row
        assert test or why.startswith(UNTESTED), row


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE))))
def test_each_test_of_the_page_exists(named):
    file, _, function = named.partition("::")
    assert (ROOT / file).is_file()
    assert not function or f"def {function}(" in (ROOT / file).read_text(encoding="utf-8")


def test_each_recorded_case_of_the_page_exists():
    """In the recorded files of this project."""
    known = set()
    for file in CASES.glob("*/*.yaml.gz"):
        known.update(
            re.findall(r"^\s*(?:- )?id: (\S+)", gzip.decompress(file.read_bytes()).decode(), re.MULTILINE)
        )
    named = set(
        re.findall(r"`((?:(?:acl|config|filter|lifecycle|placement|ugm)-|(?:parse|spec)/)[^`]+)`", PAGE)
    )
    assert len(named) > 20
    assert named - known == set()
