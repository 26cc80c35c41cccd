"""Resource quota sets exactly as ``qconf -srqs`` prints them.

Source: qconf(1); the qmaster's own output: attributes in the order of the grammar, exclusions after inclusions, lines of at
most 80 bytes, broken at a blank or a comma.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from negotiator_quotasets.language.model import QuotaRule, RuleSet

_WIDTH = 80
_INDENT = b"   "
# The last blank of several: the others would begin the next piece, where blanks are lost.
_BLANK = re.compile(rb" (?![ \t])")
_BLANK_OR_COMMA = re.compile(rb",| (?![ \t])")


def format_set(set_: RuleSet) -> str:
    """Return the text of one set, with a newline at its end."""
    lines = (
        f"   name         {set_.name}",
        f"   description  {set_.description}",
        f"   enabled      {'TRUE' if set_.enabled else 'FALSE'}",
        *(f"   limit        {format_rule(rule)}" for rule in set_.rules),
    )
    # A description is broken at blanks only: at a comma, it would be parsed with an additional blank.
    broken = (_broken(line, commas=number != 1) for number, line in enumerate(lines))
    return "\n".join(("{", *broken, "}", ""))


def format_sets(sets: Iterable[RuleSet]) -> str:
    """Return the text of several sets, in their order."""
    return "".join(map(format_set, sets))


def format_rule(rule: QuotaRule) -> str:
    """Return the text of one rule in one line, without its ``limit``."""
    words = [f"name {rule.name}"] if rule.name else []
    words += [f"{scope} {filter_}" for scope, filter_ in rule.filters()]
    return " ".join((*words, "to", ",".join(map(str, rule.limits)) or "NONE"))


def _broken(line: str, *, commas: bool) -> str:
    """Break a line as Grid Engine does: by bytes, with `` \\`` at the end of each piece but the last."""
    rest = line.encode()
    start, length = len(_INDENT), _WIDTH
    pieces: list[bytes] = []
    at = 0
    while len(rest) - at > length:
        end = _break(rest, at + start, at + length - 2, commas=commas)
        if end < 0:
            break
        blank = rest[end : end + 1] == b" "
        pieces.append(rest[at : end if blank else end + 1])
        at = end + 1
        start, length = 0, _WIDTH - len(_INDENT)
    return (b" \\\n" + _INDENT).join((*pieces, rest[at:])).decode()


def _break(text: bytes, first: int, last: int, *, commas: bool) -> int:
    """Return the last blank or comma that leaves room for the backslash, else the first after it; -1 if none."""
    found = max(_blank_before(text, first, last), text.rfind(b",", first + 1, last) if commas else -1)
    if found >= 0:
        return found
    later = (_BLANK_OR_COMMA if commas else _BLANK).search(text, last)
    return -1 if later is None else later.start()


def _blank_before(text: bytes, first: int, last: int) -> int:
    end = last + 1
    while (end := text.rfind(b" ", first + 1, end)) >= 0:
        if _BLANK.match(text, end):
            return end
    return -1
