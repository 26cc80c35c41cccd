"""The page about ClassAds in Python shows what Python prints."""

import doctest
import re
from pathlib import Path

import pytest

from negotiator import classad

TEXT = (Path(__file__).parents[2] / "docs" / "classads.md").read_text(encoding="utf-8")
SESSIONS = re.findall(r"^```pycon\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("session", SESSIONS)
def test_each_session_prints_what_is_shown(session):
    test = doctest.DocTestParser().get_doctest(session, {}, "classads.md", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    printed = []
    runner.run(test, out=printed.append)
    assert (runner.summarize(verbose=False).failed, printed) == (0, [])
    assert test.examples


def test_the_names_in_the_table_exist():
    rows = re.search(r"## What is there\n\n(.*?)\n\n", TEXT, re.DOTALL)[1].splitlines()[2:]
    names = [name for row in rows for name in re.findall(r"`([\w.]+)`", row.split("|")[1])]
    assert {"ClassAd", "parseOne", "ClassAdException"} <= set(names)
    holders = (classad, classad.ClassAd, classad.ExprTree, classad.Value, str.__class__)
    for name in names:
        last = name.rpartition(".")[2]
        assert any(hasattr(holder, last) for holder in holders) or last in {"str", "repr"}, name
