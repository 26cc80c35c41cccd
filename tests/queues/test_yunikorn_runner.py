"""The runner of queue cases detects each wrong answer, and skips nothing silently."""

import copy
import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from yunikorn import Folder, verdict

ROOT = Path(__file__).parents[2]
OURS = Folder(ROOT / "tests" / "conformance" / "yunikorn")
QUEUES = {"queues": [{"name": "root", "submitacl": "*", "queues": [{"name": "a"}]}]}
SUBMIT = {
    "op": "submit",
    "app": "x",
    "user": "u",
    "queue": "root.a",
    "expect": {"outcome": "placed", "queue": "root.a"},
}
AMOUNT = {"id": "sum-1", "area": "resource", "input": {"type": "vcore", "value": 2}, "follow": "both"}
RIGHT = {**AMOUNT, "expect": {"quantity": 2000}}
WRONG = {**AMOUNT, "id": "sum-2", "title": "two", "expect": {"quantity": 2}}
RELOAD = {
    "id": "life-1",
    "area": "lifecycle",
    "follow": "seed",
    "config": QUEUES,
    "steps": [{**SUBMIT, "expect": {"outcome": "panic"}}],
    "steps_recommended": [
        SUBMIT,
        {"op": "reload", "config": {"queues": [{"name": "b.c"}]}, "expect": {"error": "invalid_queue_name"}},
        {"op": "queue", "queue": "root.a", "expect": {"leaf": True, "managed": True, "state": "Active"}},
    ],
}
OTHER_WORD = {
    "id": "conf-1",
    "area": "config",
    "follow": "both",
    "config": {"text": "partitions: [{queues: 5}]"},
    "expect": {"valid": False, "stage": "validate", "error": "a_word_of_their_own"},
}
COUNTED = {
    "id": "ugm-1",
    "area": "ugm",
    "follow": "code",
    "config": QUEUES,
    "steps": [
        {"op": "increase", "user": "u", "queue": "root.a", "app": "x", "usage": {"memory": 3}},
        {"op": "decrease", "user": "u", "queue": "root.a.b", "app": "x", "usage": {"memory": 1}},
        {"op": "user_usage", "user": "u", "expect": {"queue": "Root", "usage": {"memory": 2}, "apps": ["x"],
         "children": [{"queue": "root.A", "usage": {"memory": 3}, "apps": ["x"]}]}},
        {"op": "trackers", "expect": {"users": ["u"], "groups": []}},
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """Return a function that writes cases as a file, gzipped if its name ends so."""
    (tmp_path / "yunikorn").mkdir()

    def write(name, *cases, **keys):
        content = yaml.safe_dump({**keys, "cases": list(cases)}, sort_keys=False).encode()
        path = tmp_path / "yunikorn" / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return Folder(path.parent)

    return write


def counted(folder, name, not_passing=()):
    counts, failures = verdict(folder.read(name), not_passing)
    return {what: count for what, count in counts.items() if count}, failures


def test_files_of_any_name_are_run(folder):
    """Gzipped or not; the area may be that of the file or the case; recommended answers count if they are to be followed."""
    area = {key: value for key, value in RIGHT.items() if key != "area"}
    folder("new things.yaml.gz", RELOAD, RIGHT)
    cases = folder("more.yaml", area, area="resource")
    assert cases.files() == ["more.yaml", "new things.yaml.gz"]
    assert counted(cases, "more.yaml") == ({"passed": 1}, [])
    assert counted(cases, "new things.yaml.gz") == ({"passed": 2}, [])


def test_a_wrong_answer_is_reported(folder):
    """With the id and the title of its case, the actual and the expected answer; in steps with their number."""
    step = {**SUBMIT, "expect": {"outcome": "rejected", "error": "no_rule_matched"}}
    case = {**RELOAD, "steps_recommended": [step, *RELOAD["steps_recommended"]]}
    counts, failures = counted(folder("some.yaml", RIGHT, WRONG, case), "some.yaml")
    assert counts == {"passed": 1, "failed": 2}
    assert failures[0] == "sum-2: two\n    got {'quantity': 2000}, expected {'quantity': 2}"
    assert "step 1, submit x: got {'outcome': 'placed', 'error': None}, expected" in failures[1]


def leaves(value, path=()):
    """Yield the places of all scalars of an answer."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif path[-1] != "stage":
        yield path, value


def answers(content):
    """Yield the places of all answers of a case."""
    yield from (("expect", *path) for path, _ in leaves(content.get("expect", {})))
    for number, step in enumerate(content.get("steps", ())):
        if "expect" in step:
            yield from (("steps", number, *path) for path, _ in leaves({"expect": step["expect"]}))


def changed(content, path):
    """Return the case with another answer in one place."""
    content = copy.deepcopy(content)
    *above, key = path
    holder = content
    for each in above:
        holder = holder[each]
    old = holder[key]
    match old:
        case bool():
            holder[key] = not old
        case int():
            holder[key] = old + 1
        case _ if key == "error":
            holder[key] = "limit_nothing_set" if old != "limit_nothing_set" else "acl_syntax"
        case "ok":
            holder[key] = {"error": "acl_syntax"}
        case _:
            holder[key] = f"{old}x"
    return content


@pytest.mark.parametrize("name", ["acl", "config", "filter", "lifecycle", "placement", "resource", "ugm"])
def test_every_recorded_answer_matters(folder, name):
    """If any is changed, its case fails: all are compared."""
    wrong = [
        {**changed(case.content, path), "follow": "both", "id": f"{case.id} {path}"}
        for case in OURS.read(f"{name}.yaml.gz").cases
        for path in answers(case.content)
    ]
    counts, _ = counted(folder("wrong.yaml", *wrong, area=name), "wrong.yaml")
    assert counts == {"failed": len(wrong)}


def test_flaws_of_yunikorns_usage_are_replayed_only_for_cases_that_follow_the_code(folder):
    """Otherwise a decrease in a queue without usage changes nothing."""
    other = {**COUNTED, "id": "ugm-2", "follow": "both"}
    counts, failures = counted(folder("some.yaml", COUNTED, other), "some.yaml")
    assert counts == {"passed": 1, "failed": 1}
    assert failures[0].startswith(
        "ugm-2: \n    step 3, user_usage u: got {'queue': 'root', 'usage': {'memory': 3}"
    )


def test_a_step_that_cannot_be_run_is_a_failure(folder):
    """An invalid configuration is reported with its errors."""
    steps = [{"op": "config", "config": {"queues": [{"name": "b.c"}]}}, {"op": "wait"}]
    counts, failures = counted(folder("some.yaml", {**COUNTED, "steps": steps[:1]}), "some.yaml")
    assert counts == {"failed": 1}
    assert "step 1, config: got refused: invalid_queue_name, expected None" in failures[0]
    counts, failures = counted(folder("some.yaml", {**COUNTED, "steps": steps[1:]}), "some.yaml")
    assert counts == {"could not be read": 1}
    assert "step 1, wait: the steps of this runner are config, increase" in failures[0]


def test_a_refusal_with_another_code_is_counted_separately(folder):
    """If the program has no code for YuniKorn's word; another of its own codes is a failure."""
    known = {**OTHER_WORD, "expect": {"valid": False, "error": "duplicate_queue"}}
    counts, failures = counted(folder("some.yaml", OTHER_WORD, known), "some.yaml")
    assert counts == {"refused, word unknown here": 1, "failed": 1}
    assert "yaml_schema'}, expected {'valid': False, 'error': 'duplicate_queue'}" in failures[0]


UNREADABLE = [
    ({"area": "resource"}, "case 1: expected a mapping with a text as 'id'"),
    ({**RIGHT, "area": "weather"}, "case 1: sum-1: 'weather' is none of the areas placement"),
    ({**RIGHT, "follow": "nobody"}, "case 1: sum-1: 'follow' is to be both, code or seed, not 'nobody'"),
    (
        {**RIGHT, "follow": "seed"},
        "case 1: sum-1: there is no expect_recommended or steps_recommended to follow",
    ),
    ({**RIGHT, "expect": {"quantity": 2000, "unit": "m"}}, "sum-1: what is expected has ['unit']"),
    (
        {**RELOAD, "steps_recommended": [{"op": "wait"}]},
        "life-1: step 1, wait : the steps of this runner are submit",
    ),
    ({**RELOAD, "steps_recommended": [{"op": "complete", "app": "y"}]}, "life-1: application y does not run"),
]


@pytest.mark.parametrize(("case", "words"), UNREADABLE)
def test_invalid_cases_are_reported(folder, case, words):
    """With the file and the reason; the other cases are run."""
    counts, failures = counted(folder("some.yaml", case, WRONG), "some.yaml")
    assert counts == {"failed": 1, "could not be read": 1}
    assert "some.yaml" in failures[0]
    assert words in failures[0]


def test_an_exception_is_a_failure(folder):
    """Of the case or of the program: it is reported, and the other cases are run."""
    case = {**RIGHT, "input": {}}
    counts, failures = counted(folder("some.yaml", case, RIGHT), "some.yaml")
    assert counts == {"passed": 1, "failed": 1}
    assert "raised KeyError('type')" in failures[0]


@pytest.mark.parametrize("content", [b"a: [", b"- 1", b"cases: 5", b"\xff"])
def test_invalid_files_are_reported(folder, content):
    """Without a traceback."""
    cases = folder("some.yaml")
    (cases.path / "some.yaml").write_bytes(content)
    counts, failures = counted(cases, "some.yaml")
    assert counts == {"could not be read": 1}
    assert str(cases.path / "some.yaml") in failures[0]


def test_a_case_on_the_list_must_not_pass(folder):
    """A case on the list of those that cannot pass may fail only."""
    cases = folder("some.yaml", RIGHT, WRONG)
    listed = {"sum-1": "for a reason", "sum-2": "for a reason"}
    counts, failures = counted(cases, "some.yaml", listed)
    assert counts == {"passed": 1, "that cannot pass": 1}
    assert failures == ["sum-1 passes: take it off the list of those that cannot"]


def test_the_counts_are_printed(folder):
    """By the documented command, on another folder."""
    path = folder("a.yaml", RIGHT, WRONG).path
    folder("b.yaml", COUNTED)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/conformance",
        "--cases",
        str(path.parent),
        "-p",
        "no:cacheprovider",
    ]
    # Where CI is set, pytest repeats the whole of each failure in its summary.
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "BUILD_NUMBER"}}
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert result.returncode == 1
    assert "Traceback" not in result.stdout
    assert "a.yaml 1 passed, 1 failed" in lines
    assert "b.yaml 1 passed" in lines
    assert "all 2 passed, 1 failed" in lines


def test_the_corpus_is_complete():
    """Each file is read to its end, so that a missing one does not pass."""
    files = [OURS.read(name) for name in OURS.files()]
    assert all(file.problems == [] for file in files)
    assert sum(len(file.cases) for file in files) == 575
