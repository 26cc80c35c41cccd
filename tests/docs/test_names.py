"""Class names are unique in the production code, and retired names are not used again."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("negotiator", "plugins") for path in (ROOT / folder).rglob("*.py"))

#: Class names that readers of HTCondor, YuniKorn and Grid Engine did not understand.
RETIRED_CLASSES = frozenset(
    [
        "Standing",
        "Keeper",
        "Register",
        "Said",
        "Kept",
        "Room",
        "Place",
        "Reach",
        "Board",
        "Sieve",
        "Gathering",
        "Queued",
        "Office",
        "Desk",
        "Spots",
        "Tariff",
        "Bound",
        "Account",
        "Books",
        "Seen",
        "Holding",
        "Scope",
        "Stamped",
        "Places",
        "Configured",
        "Whom",
        "Act",
        "ActKind",
    ]
)
#: Module names that do not say what they hold.
RETIRED_MODULES = frozenset(
    [
        "said",
        "kept",
        "reach",
        "entries",
        "codes",
        "cells",
        "gathering",
        "standing",
        "sieve",
        "words",
        "asked",
        "spots",
        "books",
        "in_use",
        "keeper",
        "terms",
        "pace",
        "acts",
    ]
)
#: Attributes and variables that do not say what they hold.
RETIRED_NAMES = frozenset(
    ["said", "told", "untold", "noted", "sieve", "standing", "keeper", "tariff", "spots", "gathering"]
)


#: Names of the Python interface, for what the rest of the program calls so.
PUBLIC = {
    "Ledger": ["negotiator/ledger/ledger.py", "negotiator/library/ledger.py"],
    "Table": ["negotiator/classad/columnar/table.py", "negotiator/library/table.py"],
}


def test_each_class_name_is_used_once():
    files = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef):
                files[node.name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in files.items() if len(found) > 1} == PUBLIC


def test_no_class_and_no_module_has_a_retired_name():
    classes = {
        node.name.strip("_")
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    assert classes & RETIRED_CLASSES == set()
    assert {path.stem for path in FILES} & RETIRED_MODULES == set()


@pytest.mark.parametrize("name", sorted(RETIRED_NAMES))
def test_no_field_or_variable_has_a_retired_name(name):
    word = re.compile(rf"\b{name}\b")
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        if word.search(text := path.read_text("utf-8"))
        for node in ast.walk(ast.parse(text))
        if name in (getattr(node, "id", None), getattr(node, "arg", None), getattr(node, "attr", None))
    ]
    assert found == []
