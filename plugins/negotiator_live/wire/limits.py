"""Limits of what a daemon may send: daemons are peers, not friends."""

from __future__ import annotations

from typing import Final

MAX_MESSAGE: Final = 16 << 20
"""Bytes of one message, headers of packets included; answers to queries have the limit of ``MAX_ANSWER``."""

MAX_ANSWER: Final = 4 << 30
"""Bytes of one answer to a query; it is read piece by piece."""

MAX_AD: Final = 4 << 20
"""Bytes of one ad."""

MAX_STRING: Final = 1 << 20
"""Bytes of one string."""

MAX_ATTRIBUTES: Final = 10_000
"""Attributes of one ad."""
