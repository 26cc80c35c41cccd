"""Resource quota sets of real sites, manuals and test suites, parsed and printed back."""

import os
import re
from pathlib import Path

import pytest

from negotiator_quotasets.complexes import STANDARD, Complex, Complexes, ComplexType, Consumable, Relation
from negotiator_quotasets.language import format_sets, parse_sets

SHARED = Path(os.environ.get("NEGOTIATOR_SHARED") or Path(__file__).parents[3] / "shared")
REFUSED = re.compile(r"\$\{|\$arch")  # a variable of a shell, and a formula of words
RESOURCE = re.compile(r"([A-Za-z_0-9]+)=(\S+)")


def complexes(text):
    """The standard complexes, and the others that a text refers to."""
    own = {name: value for name, value in RESOURCE.findall(text) if name not in STANDARD}
    return Complexes([*STANDARD, *(made(name, value) for name, value in own.items())])


def made(name, value):
    type_ = ComplexType.MEMORY if re.fullmatch(r"[0-9]+[A-Za-z]?", value) else ComplexType.RESTRING
    return Complex(name, name, type_, Relation.LE, consumable=Consumable.YES)


@pytest.mark.data
def test_real_sets_are_parsed():
    """All files but those that Grid Engine refuses too; printed sets are parsed back."""
    files = sorted((SHARED / "data" / "rqs").glob("*.rqs"))
    if not files:
        pytest.skip(f"no real sets in {SHARED / 'data' / 'rqs'}: set NEGOTIATOR_SHARED")
    for path in files:
        text = path.read_text()
        parsed = parse_sets(text, path.name, complexes(text), required=True)
        assert bool(parsed.problems) == bool(REFUSED.search(text)), (path.name, parsed.problems)
        again = parse_sets(format_sets(parsed.sets), path.name, complexes(text))
        assert (again.sets, again.problems) == (parsed.sets, ())
