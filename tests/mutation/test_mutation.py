"""``make mutate``: which changes are made, and which of them the tests of a room notice."""

from pathlib import Path

import pytest

pytest.importorskip("cosmic_ray", reason="make mutate installs it")
pytest.importorskip("coverage", reason="make mutate installs it")

from click.testing import CliRunner

from negotiator_mutation.command import mutate
from negotiator_mutation.equivalent import Equivalent, read_equivalents, stale_equivalents
from negotiator_mutation.errors import MutationError
from negotiator_mutation.mutants import mutants
from negotiator_mutation.plan import Outcome
from negotiator_mutation.rooms import Room
from negotiator_mutation.run import run_mutants

SOURCE = '''"""A module."""

LIMIT = 3


def fits(amount: "int | None", limit: int = LIMIT) -> bool:
    """Return True if it fits."""
    return amount is None or amount <= limit


class Unused:
    def zero(self):
        return 0
'''

TESTS = """
import subprocess
import sys

import pytest
from program import fits


@pytest.fixture(scope="module")
def answers():
    return fits(None), fits(1)


def test_a_process_has_the_change():
    code = "from program import fits; print(fits(100))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\\\\n"


def test_fits(answers):
    assert answers == (True, True)


def test_does_not_fit():
    assert not fits(4)
"""


@pytest.fixture
def tree(tmp_path):
    """A tree of one file and its tests, which do not try the amount that equals the limit."""
    for name, text in (("program/__init__.py", SOURCE), ("tests/test_it.py", TESTS.replace("\\\\", "\\"))):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    return tmp_path


def changes(source=SOURCE):
    return {
        (mutant.function, *mutant.change(source)) for mutant in mutants(Path("program/__init__.py"), source)
    }


def test_boundaries_negations_and_constants_are_changed_and_annotations_are_not():
    assert changes() == {
        ("", "LIMIT = 3", "LIMIT = 4"),
        ("", "LIMIT = 3", "LIMIT = 2"),
        *(
            ("fits", "return amount is None or amount <= limit", changed)
            for changed in (
                "return amount is not None or amount <= limit",
                "return amount is None or amount < limit",
                "return amount is None and amount <= limit",
            )
        ),
        ("Unused.zero", "return 0", "return 1"),
        ("Unused.zero", "return 0", "return -1"),
    }


def test_the_tests_of_a_room_kill_what_they_notice(tree):
    """In functions, at the top of a module, and in processes that a test starts."""
    chosen = list(mutants(Path("program/__init__.py"), SOURCE))
    results = run_mutants(tree, Room("it", "program", ("tests",)), chosen, report=lambda *_: None)
    found = {mutant.change(SOURCE)[1]: result.outcome for mutant, result in zip(chosen, results, strict=True)}
    assert {text for text, outcome in found.items() if outcome is Outcome.SURVIVED} == {
        "LIMIT = 2",
        "return amount is None or amount < limit",
        "return 1",
        "return -1",
    }
    assert (tree / "program/__init__.py").read_text() == SOURCE


def test_a_room_whose_tests_fail_without_a_change_is_refused(tree):
    (tree / "tests" / "test_it.py").write_text("import program\n\ndef test_no():\n    assert 0\n")
    chosen = list(mutants(Path("program/__init__.py"), SOURCE))
    with pytest.raises(MutationError, match=r"fail without any change:\n.*test_no"):
        run_mutants(tree, Room("it", "program", ("tests",)), chosen, report=lambda *_: None)


def test_an_equivalent_mutant_is_found_by_its_texts_and_reported_when_it_no_longer_fits(tree):
    entry = Equivalent("program/__init__.py", "Unused.zero", "return 0", "return 1", "nobody calls it")
    moved = SOURCE.replace("LIMIT = 3", "\n\nLIMIT = 3")
    (tree / entry.file).write_text(moved)
    matching = [mutant for mutant in mutants(Path(entry.file), moved) if entry.matches(mutant, moved)]
    assert [mutant.line for mutant in matching] == [15]
    assert stale_equivalents([entry], tree) == []
    (tree / entry.file).write_text(moved.replace("return 0", "return 7"))
    assert stale_equivalents([entry], tree) == [entry]


def test_any_change_of_a_line_may_be_equivalent():
    entry = Equivalent("program/__init__.py", "", "LIMIT = 3", "*", "it bounds a cache")
    found = [each for each in mutants(Path(entry.file), SOURCE) if entry.matches(each, SOURCE)]
    assert [each.line for each in found] == [3, 3]


def test_an_equivalent_mutant_needs_a_reason(tmp_path):
    path = tmp_path / "equivalent.toml"
    path.write_text('[[mutant]]\nfile = "a"\nfunction = "b"\nbefore = "c"\nafter = "d"\nreason = ""\n')
    with pytest.raises(
        MutationError, match="entry 1 must have exactly file, function, before, after, reason"
    ):
        read_equivalents(path)


def test_an_unknown_room_is_refused():
    result = CliRunner().invoke(mutate, ["--room", "attic"])
    assert (result.exit_code, "unknown room 'attic'; the rooms are ledger" in result.output) == (1, True)
