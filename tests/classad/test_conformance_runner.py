"""The runner of conformance cases: it runs the cases of any folder and reports everything it cannot run."""

import gzip
import json
import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from golden import OURS, Folder, verdict

ROOT = Path(__file__).parents[2]
RIGHT = {"id": "sum-1", "my": "@small", "target": None, "expr": "A + 1", "value": 3, "type": "integer"}
WRONG = {"id": "sum-2", "my": "[A = 5]", "target": "@small", "expr": "A + 1", "value": 7, "type": "integer"}
PARSES_NOT = {
    "id": "no-1",
    "my": None,
    "target": None,
    "expr": "1 +",
    "value": {"parse_error": True},
    "type": "parse_error",
}
CHANCE = {
    "id": "no-2",
    "my": None,
    "target": None,
    "expr": "random()",
    "value": {"real": "0.5"},
    "type": "real",
    "nondet": True,
}


def run(folder, *options):
    """Run the runner from the command line."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/conformance",
        "--cases",
        str(folder),
        "-p",
        "no:cacheprovider",
    ]
    # With CI set, pytest repeats each failure in its summary, which would double the counts below.
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "BUILD_NUMBER"}}
    return subprocess.run(
        [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def cases(tmp_path):
    """Write lines as a file of cases, gzipped if its name ends so."""
    folder = tmp_path / "classad"
    folder.mkdir()
    (folder / "ads.json").write_text('{"small": "[A = 2; B = 9]"}', encoding="utf-8")

    def write(name, *lines):
        text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        content = text.encode()
        (folder / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return tmp_path

    return write


def test_cases_of_any_name_pass(cases):
    """Case files may have any name and may be gzipped; each is counted for both evaluators."""
    cases("new things.jsonl", RIGHT, PARSES_NOT, CHANCE)
    result = run(cases("zzz.jsonl.gz", RIGHT))
    assert result.returncode == 0, result.stdout
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert "new things.jsonl scalar 2 passed, 1 not deterministic" in lines
    assert "zzz.jsonl.gz columns 1 passed" in lines
    assert "all 6 passed, 2 not deterministic" in lines


def test_a_wrong_value_is_reported(cases):
    """A failure shows the id, the expression, the value and the expected value, for both evaluators."""
    result = run(cases("some.jsonl", RIGHT, WRONG))
    assert result.returncode == 1
    assert result.stdout.count("sum-2: A + 1\n    got 6, expected 7") == 2
    assert "sum-1:" not in result.stdout
    assert "some.jsonl columns: 1 passed, 1 failed" in result.stdout


BAD_LINES = {
    '{"id": "x"': "no JSON",
    "[1]": "expected an object, not list",
    json.dumps({**RIGHT, "expr": 5}): "'expr' is to be a string, not 5",
    json.dumps({**RIGHT, "my": "@large"}): "'my' is @large, which",
    json.dumps({**RIGHT, "target": 7}): "'target' is to be null, an ad as text or @name, not 7",
    json.dumps({**RIGHT, "value": {"reel": "1"}}): "'value' has none of the forms",
}


def test_invalid_lines_are_reported(cases):
    """An invalid line is reported with file, line and reason; the other lines are run."""
    folder = cases("some.jsonl", RIGHT, *BAD_LINES, {**RIGHT, "my": "[A = ]"})
    result = run(folder)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout
    assert "some.jsonl scalar: 1 passed, 1 failed, 6 could not be read" in result.stdout
    for number, words in enumerate(BAD_LINES.values(), 2):
        assert result.stdout.count(f"{folder / 'classad' / 'some.jsonl'}:{number}: {words}") == 2
    assert "got {'invalid ad': " in result.stdout


def first_case(area, file, cases_of=lambda content: content):
    """Return the first case of a file of this repository as a file of its own."""
    path = ROOT / "tests" / "conformance" / area / file
    content = yaml.load(gzip.decompress(path.read_bytes()), yaml.CSafeLoader)
    del cases_of(content)[1:]
    return yaml.safe_dump(content)


AREAS = {
    "classad": ("some.jsonl", lambda: json.dumps(RIGHT)),
    "yunikorn": ("acl.yaml", lambda: first_case("yunikorn", "acl.yaml.gz", operator.itemgetter("cases"))),
    "gridengine": ("parse.yaml", lambda: first_case("gridengine", "parse.yaml.gz")),
    "negotiator": (
        "weights.yaml",
        lambda: first_case("negotiator", "weights.yaml.gz", operator.itemgetter("cases")),
    ),
}


@pytest.mark.parametrize("end", ["", ".gz"], ids=["plain", "gzipped"])
@pytest.mark.parametrize("area", AREAS)
def test_a_folder_of_one_area_is_run(tmp_path, area, end):
    """Each area by itself, plain or gzipped; for each of the others a line says that there is nothing to run."""
    name, text = AREAS[area][0] + end, AREAS[area][1]()
    files = {name: text, f"ads.json{end}": '{"small": "[A = 2]"}'} if area == "classad" else {name: text}
    (tmp_path / area).mkdir()
    for file, content in files.items():
        (tmp_path / area / file).write_bytes(gzip.compress(content.encode()) if end else content.encode())
    result = run(tmp_path)
    assert result.returncode == 0, result.stdout
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert any(line.startswith(name) and line.endswith(" 1 passed") for line in lines)
    skipped = {other for other in AREAS for line in lines if f"has no {other}/*" in line}
    assert skipped == AREAS.keys() - {area}


@pytest.mark.parametrize(
    ("area", "words"), [("gridengine", "a.yaml: "), ("negotiator", "a.yaml: missing cases and templates")]
)
def test_files_that_are_none_of_an_area_fail_by_name(tmp_path, area, words):
    """Damaged files and those of something else: no traceback, and the other files are run."""
    name, text = AREAS[area][0], AREAS[area][1]()
    (tmp_path / area).mkdir()
    for file, content in {
        name: text.encode(),
        "a.yaml": b"other: 1",
        "b.yaml.gz": b"{}",
        "c.yaml": b"{",
    }.items():
        (tmp_path / area / file).write_bytes(content)
    result = run(tmp_path)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout + result.stderr
    for each in (words, "b.yaml.gz: Not a gzipped file", "c.yaml: while parsing"):
        assert each in result.stdout
    assert any(line.startswith(name) and line.endswith(" 1 passed") for line in result.stdout.splitlines())


def test_unreadable_files_are_reported(cases):
    """A damaged file is a failure with its name and without a traceback; the other files are run."""
    folder = cases("some.jsonl", RIGHT)
    damaged = {
        "cut.jsonl.gz": (b"\x1f\x8b\x08\x00", "cut.jsonl.gz: Compressed file ended"),
        "plain.jsonl.gz": (b"{}", "plain.jsonl.gz: Not a gzipped file"),
        "latin.jsonl": (b'{"id": "\xff"}', "latin.jsonl:1: no JSON"),
    }
    for name, (content, _) in damaged.items():
        (folder / "classad" / name).write_bytes(content)
    result = run(folder)
    assert result.returncode == 1
    assert "Traceback" not in result.stdout
    assert ["some.jsonl", "scalar", "1", "passed"] in [line.split() for line in result.stdout.splitlines()]
    assert [words for _, words in damaged.values() if words not in result.stdout] == []


@pytest.mark.parametrize(
    ("content", "words"), [("{", "Expecting"), ("[]", "expected an object from names to ads")]
)
def test_unreadable_ads_are_reported(cases, content, words):
    """If the ads are damaged, each line that refers to one fails with the reason."""
    folder = cases("some.jsonl", RIGHT, PARSES_NOT) / "classad"
    (folder / "ads.json").write_text(content, encoding="utf-8")
    file = Folder(folder).read("some.jsonl")
    assert [case.id for case in file.cases] == ["no-1"]
    assert f"some.jsonl:1: {folder / 'ads.json'}: {words}" in file.problems[0]


def test_the_file_of_ads_is_optional(cases):
    """Only lines that refer to an ad by name need the file of ads."""
    folder = cases("some.jsonl", RIGHT, PARSES_NOT) / "classad"
    (folder / "ads.json").unlink()
    file = Folder(folder).read("some.jsonl")
    assert len(file.cases) == len(file.problems) == 1


def test_a_known_failure_must_fail(cases):
    """A line on the list of known failures may fail but must not pass."""
    file = Folder(cases("some.jsonl", RIGHT) / "classad").read("some.jsonl")
    assert verdict(file, [[2]], {"sum-1": "for a reason"})[1] == []
    assert verdict(file, [[3]], {})[1] == []
    assert verdict(file, [[3, 3]], {"sum-1": "for a reason"})[1] == [
        "sum-1 passes: take it off the list of those that cannot"
    ]


def test_every_row_and_kind_is_compared(cases):
    """A case passes only if all its values are equal in kind too; 1 and true differ."""
    file = Folder(cases("some.jsonl", {**RIGHT, "value": 1}) / "classad").read("some.jsonl")
    assert [len(verdict(file, [found], {})[1]) for found in ([1, 1], [1, 2], [1, True])] == [0, 1, 1]


def test_missing_areas_are_reported(tmp_path):
    """A folder with one empty area of the four is run, and the missing ones are reported."""
    (tmp_path / "gridengine").mkdir()
    result = run(tmp_path)
    assert result.returncode == 0
    for what in ("classad/*.jsonl", "yunikorn/*.yaml", "gridengine/*.yaml", "negotiator/*.yaml"):
        assert f"not run: {tmp_path} has no {what}" in result.stdout


def test_an_invalid_folder_is_a_usage_error(tmp_path):
    """A folder that is missing or has none of the four areas is refused before anything is run."""
    missing = run(tmp_path / "nowhere")
    empty = run(tmp_path)
    assert missing.returncode == empty.returncode == pytest.ExitCode.USAGE_ERROR
    assert "nowhere: there is no such folder" in missing.stderr
    assert "expected one or more of the folders classad/, yunikorn/, gridengine/, negotiator/" in empty.stderr


def test_the_corpus_is_complete():
    """Every file of the corpus is read to its last line, so that a missing one cannot pass."""
    files = [OURS.read(name) for name in OURS.files()]
    assert len(files) == 9
    assert all(file.problems == [] for file in files)
    assert sum(len(file.cases) for file in files) > 60_000
