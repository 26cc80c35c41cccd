"""``from negotiator.classad import *`` gives the names that the same line with HTCondor's ``classad2`` gives."""

import builtins
import subprocess
import sys

import pytest

from calls import needs_htcondor

LIST = "from {} import *\nprint(*(name for name in list(globals()) if not name.startswith('__')))"


def star_names(module):
    """Return the names that a star import gives in a new process, where nothing has used a name before."""
    words = [sys.executable, "-c", LIST.format(module)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def ours():
    return star_names("negotiator.classad")


@needs_htcondor
def test_a_star_import_gives_the_names_of_classad2(ours):
    """Its compiled module ``classad2_impl`` is not one of them."""
    assert ours == star_names("classad2") - {"classad2_impl"}


def test_a_star_import_gives_what_scripts_for_classad2_use(ours):
    assert {"ClassAd", "ExprTree", "ParserType", "Value", "parseAds", "version"} <= ours


def test_a_star_import_hides_no_builtin(ours):
    """``classad2`` hides none either."""
    assert ours & set(vars(builtins)) == set()
