"""Limits and exceptions of the readers: ads are hostile input.

Each limit is far above what pools print (an ad of a big site has about 600 attributes and 30 KB) and far below what
would hurt. An ad over a limit is set aside and reported, never cut off silently.
"""

from __future__ import annotations

from typing import Final

from negotiator.errors import PoolError

MAX_EXPANDED: Final = 2 << 30
"""Bytes to which any compressed file may expand; beyond that at most ``MAX_EXPANSION`` times its own size."""
MAX_EXPANSION: Final = 500
"""Ads expand 25 times, those of a large cluster of jobs that differ in a number 160 times; gzip could reach a thousand."""
MAX_AD: Final = 4 << 20
"""Characters of one ad."""
MAX_LITERAL: Final = 1 << 20
"""Characters of one ad written as a Python literal, whose parser needs hundreds of bytes a character."""
MAX_LINE: Final = 1 << 20
"""Characters of one line of long form; the expression parser has the same limit."""
MAX_ATTRIBUTES: Final = 10_000
"""Attributes of one ad: each is a column of a table of the whole pool."""
MAX_ELEMENTS: Final = 100_000
"""Elements of one ad in XML: each is made in Python, before the owner of the ad is known."""
MAX_DEPTH: Final = 100
"""Nesting depth of brackets in JSON and the new syntax, and of elements in XML."""
MAX_PROBLEMS: Final = 10_000
"""Problems reported one by one for a file; the rest are only counted."""
BLOCK: Final = 256 << 10
"""Bytes read at a time."""


class UnreadableError(PoolError):
    """The rest of a file cannot be read or decompressed; the message has the cause."""


class SnapshotFormatError(PoolError):
    """The bytes are not a snapshot of a known version, or they are damaged."""
