"""How much of an input is read: ads are hostile until proven otherwise.

Each limit is far above what pools print (an ad of a big site has about 600 attributes and 30 KB) and far below what
would hurt. What is over a limit is set aside and reported, never cut off silently.
"""

from __future__ import annotations

from typing import Final

MAX_FILE: Final = 2 << 30
"""Bytes read of one file, after decompression."""

MAX_AD: Final = 16 << 20
"""Characters of one ad in JSON, XML or the new syntax."""

MAX_LITERAL: Final = 1 << 20
"""Characters of one ad written as a Python literal, whose parser needs hundreds of bytes a character."""

MAX_LINE: Final = 1 << 20
"""Characters of one line of long form; the expression parser has the same limit."""

MAX_ATTRIBUTES: Final = 10_000
"""Attributes of one ad: each is a column of a table of the whole pool."""

MAX_DEPTH: Final = 100
"""Brackets of JSON, XML and the new syntax, one inside the other."""

MAX_PROBLEMS: Final = 10_000
"""Problems told one by one of one file; of the rest only the number is told."""

BLOCK: Final = 256 << 10
"""Bytes read at once."""
