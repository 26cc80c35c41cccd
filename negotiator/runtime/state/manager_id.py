"""The id of a central manager: each has an audit log of its own, and the state knows a record of each log."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from negotiator.files import open_regular, replace_file

_FILE: Final = "manager.id"
_MODE: Final = 0o640
_LONGEST: Final = 100


def read_manager_id(folder: Path) -> str:
    """Return the id in the folder of a state; empty if there is none: no other manager shares the state.

    :raises OSError: it cannot be read.
    """
    try:
        with os.fdopen(open_regular(folder / _FILE), "rb") as opened:
            return opened.read(_LONGEST).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""


def make_manager_id(folder: Path) -> str:
    """Return the id in the folder of a state; make one if there is none.

    :raises OSError: it cannot be read or written.
    """
    if not (found := read_manager_id(folder)):
        found = secrets.token_hex(16)
        replace_file(folder / _FILE, f"{found}\n".encode(), mode=_MODE)
    return found
