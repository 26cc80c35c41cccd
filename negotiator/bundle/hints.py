"""Hints for what people write who know another system or language better."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from negotiator.records.text import suggest

# Words of people and of other systems, and the word of a bundle; it is suggested where it is among the choices.
_SYNONYMS = {
    "machine": "startd",
    "slot": "startd",
    "node": "startd",
    "host": "startd",
    "submitter": "schedd",
    "submit": "schedd",
    "pair": "match",
}

_WORD = re.compile(r"and|or|not", re.IGNORECASE)
_OPERATORS = {"and": "&&", "or": "||", "not": "!"}
# A text in double quotes, or a name in single quotes that would be a name without them too.
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"|'([A-Za-z_][A-Za-z0-9_]*)'""", re.DOTALL)


def choice_hint(word: str, choices: Collection[str]) -> str:
    """Return a hint at the choice that a word may have been meant for; empty if there is no word."""
    meant = _SYNONYMS.get(word.lower().removesuffix("s"))
    if meant in choices:
        return f"did you mean {meant}?"
    return suggest(word, choices) if word else ""


def syntax_hint(text: str, at: int) -> str:
    """Return how ClassAds write what an expression has at an index where it does not parse; empty if unknown."""
    if re.match(r"=(?![=?!])", text[at:]):
        return "write == to compare, or =?= if the attribute may be undefined"
    # "not MY.A" fails behind the word, which is a name by itself.
    before = re.search(r"(\w+)\s*$", text[:at])
    for word in (re.match(r"\w*", text[at:]), before):
        found = _WORD.fullmatch(word[0].strip()) if word else None
        if found:
            return f"write {_OPERATORS[found[0].lower()]} instead of {found[0]}"
    return ""


def quoted_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield index and name of each attribute in single quotes that needs none: a text was probably meant."""
    for found in _QUOTED.finditer(text):
        if found[1]:
            yield found.start(), found[1]
