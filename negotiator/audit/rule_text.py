"""The text of a rule as a bundle had it: the lines at the place that a record names, in the stored copy of the bundle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.audit.bundles import read_bundle
from negotiator.audit.errors import AuditError
from negotiator.bundle.text import MAX_EXCERPT

_PLACE: Final = re.compile(r"(?P<file>.+?):(?P<line>[0-9]{1,9})(?::[0-9]+)?")
_ABOVE: Final = 6  # lines above the place
_MOST: Final = 12  # lines


@attrs.frozen
class RuleText:
    """The lines of a rule: ``line`` is the number of its place, ``first`` that of the first line. Without lines, ``problem`` is why."""

    file: str
    line: int
    first: int = 0
    lines: tuple[str, ...] = ()
    problem: str = ""


def rule_text(folder: Path, digest: str, source: str) -> RuleText | None:
    """Return the text of a rule: the entry of a list that its line is part of, or the line with those that are indented deeper.

    None if its place is in no file.

    :param folder: the folder of the audit log.
    :param source: the place of the rule in the bundle, such as ``pool.yaml:12:3``.
    """
    place = _PLACE.fullmatch(source)
    if place is None:
        return None
    file, line = place["file"], int(place["line"])
    try:
        content = read_bundle(folder, digest).get(file)
    except AuditError as error:
        return RuleText(file, line, problem=str(error))
    if content is None:
        return RuleText(file, line, problem=f"bundle {digest[:12]} has no file {file}")
    lines = content.decode(errors="replace").splitlines()
    if line > len(lines):
        return RuleText(file, line, problem=f"{file} has fewer than {line} lines")
    first = _first(lines, line - 1)
    return RuleText(file, line, first + 1, _block(lines[first:]))


def _first(lines: Sequence[str], place: int) -> int:
    """Return the place of the line that begins the entry of a list, in YAML, that a line is part of; else its own."""
    for above in range(place - 1, max(-1, place - 1 - _ABOVE), -1):
        if lines[above].lstrip().startswith("- ") and _indentation(lines[above]) < _indentation(lines[place]):
            return above
    return place


def _block(lines: Sequence[str]) -> tuple[str, ...]:
    found = [lines[0]]
    for each in lines[1:_MOST]:
        if not each.strip() or _indentation(each) <= _indentation(lines[0]):
            break
        found.append(each)
    return tuple(each[:MAX_EXCERPT] for each in found)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
