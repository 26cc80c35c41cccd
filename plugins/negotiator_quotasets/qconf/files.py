"""Files that are named on the command line."""

from __future__ import annotations

import os

from negotiator.plugin import open_regular
from negotiator_quotasets.qconf.errors import QconfRefusedError

MAX_FILE = 1024 * 1024
"""In bytes: room for more than ten thousand sets."""


def read_text(name: str) -> str:
    """Read a file, or a descriptor of the process such as ``/dev/stdin``.

    :raises QconfRefusedError: it can't be read, is a FIFO or a device, is larger than ``MAX_FILE``, or is not UTF-8.
    """
    try:
        with os.fdopen(open_regular(name), "rb") as opened:
            content = opened.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise QconfRefusedError(f'error opening file "{name}" for reading: {reason}') from None
    if len(content) > MAX_FILE:
        raise QconfRefusedError(f'error reading file: "{name}" has more than {MAX_FILE} bytes')
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise QconfRefusedError(f'error reading file: "{name}" is not UTF-8, see line {line}') from None


def printable_name(name: str) -> str:
    """Return a file's name for messages: undecodable bytes are replaced."""
    return os.fsencode(name).decode(errors="replace")
