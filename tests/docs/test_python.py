"""The page about the Python interface, and the docstrings of its names: every example runs, and the names are all documented."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import negotiator

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
FLAGS = doctest.ELLIPSIS | doctest.REPORT_NDIFF
NAMES = [name for name in negotiator.__all__ if name != "__version__"]


def failures(test):
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=report.append)
    return "".join(report)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    """Examples name the files of the project from its root."""
    monkeypatch.chdir(ROOT)


def test_every_example_of_the_page_gives_what_it_shows():
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", str(PAGE), 0)
    assert failures(test) == ""


def test_the_example_of_the_readme_runs(capsys):
    pytest.importorskip("pandas")
    found = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    (block,) = [each for each in found if "n.load_bundle" in each]
    exec(block, {})  # noqa: S102 - a page of the project
    assert "limits: limit of user * at root (queues.yaml:10:13)" in capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_each_public_name_has_a_docstring_with_an_example_that_works(name):
    found = doctest.DocTestFinder(exclude_empty=True).find(getattr(negotiator, name), name, globs={})
    assert next(each for each in found if each.name == name).examples
    assert "".join(map(failures, found)) == ""


def test_the_example_of_the_package_works():
    (test,) = [
        each
        for each in doctest.DocTestFinder().find(negotiator, "negotiator", globs={})
        if each.name == "negotiator"
    ]
    assert test.examples
    assert failures(test) == ""


def test_the_public_names_are_exactly_the_documented_ones():
    names = PAGE.read_text().partition("\n## Names\n")[2]
    rows = [row.split("|")[1] for row in names.splitlines() if row.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)[`(]", row)}
    assert documented == set(negotiator.__all__)
    assert {name for name in dir(negotiator) if name in documented} == documented


def test_every_public_attribute_of_a_class_is_in_its_row_of_the_page():
    rows = [row for row in PAGE.read_text().splitlines() if row.startswith("| `")]
    for name in ("Pool", "Policy", "Result", "JobExplanation", "Table", "Ledger"):
        row = next(row for row in rows if f"`{name}`" in row.split("|")[1])
        kind = getattr(negotiator, name)
        own = {each for each in {*vars(kind), *kind.__annotations__} if not each.startswith("_")}
        # Attributes with objects of the program are not documented.
        assert own - {"snapshot", "bundle", "decided", "found", "given"} == set(
            re.findall(r"`([a-z]\w*)", row.split("|")[2])
        ), name


def test_the_import_of_the_package_alone_loads_neither_numpy_nor_the_interface():
    code = "import negotiator, sys; print([each for each in ('numpy', 'attrs', 'negotiator.library') if each in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
