"""How texts are stored: names come from ads, and need be neither UTF-8 nor free of NUL, which not every database stores."""

from __future__ import annotations

import re
from typing import Final

#: Begins the code of a character: it is in no name that people type, and JSON writes it otherwise.
_MARK: Final = "\x1a"
_UNSTORABLE: Final = re.compile("[\0\x1a\ud800-\udfff]")
_CODE: Final = re.compile(f"{_MARK}([0-9a-f]{{4}})")


def stored_text(text: str) -> str:
    """Return the form in which a text is stored; nearly every text is its own."""
    return _UNSTORABLE.sub(lambda found: f"{_MARK}{ord(found[0]):04x}", text)


def original_text(stored: str) -> str:
    """Return the text that is stored in a form."""
    return _CODE.sub(lambda found: chr(int(found[1], 16)), stored) if _MARK in stored else stored
