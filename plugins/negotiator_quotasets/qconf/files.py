"""Files that somebody names on the command line."""

from __future__ import annotations

import os
from pathlib import Path

from negotiator_quotasets.qconf.refusal import QconfRefusedError

MAX_FILE = 1024 * 1024
"""Bytes; more than ten thousand sets."""


def read_text(name: str) -> str:
    """Read a file, or whatever else can be read under its name.

    :raises RefusedError: it can't be read, is larger than ``MAX_FILE``, or is no UTF-8.
    """
    try:
        with Path(name).open("rb") as opened:
            content = opened.read(MAX_FILE + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise QconfRefusedError(f'error opening file "{name}" for reading: {why}') from None
    if len(content) > MAX_FILE:
        raise QconfRefusedError(f'error reading file: "{name}" has more than {MAX_FILE} bytes')
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise QconfRefusedError(f'error reading file: "{name}" is no UTF-8 text, see line {line}') from None


def shown_name(name: str) -> str:
    """A file's name, as problems may call it."""
    return os.fsencode(name).decode(errors="replace")
