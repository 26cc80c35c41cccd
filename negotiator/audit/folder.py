"""The files of an audit log: ``audit-000001.jsonl``, ``audit-000002.jsonl``, ...; none is ever renamed."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from negotiator.audit.errors import AuditError, naming

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


_NAME = re.compile(r"audit-([0-9]{6,12})\.jsonl")


def file_name(number: int) -> str:
    """Return the name of the file of a number, from 1. Beyond 999999 names are longer; files are ordered by number."""
    return f"audit-{number:06}.jsonl"


def number_of(path: Path) -> int:
    """Return the number in a file's name; 0 if it is not the name of a file of a log."""
    found = _NAME.fullmatch(path.name)
    return int(found[1]) if found and path.name == file_name(int(found[1])) else 0


def log_bytes(files: Iterable[Path]) -> int:
    """Return the size of files in bytes; a file that cannot be read counts as empty: reading it says why."""
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total


def chain_files(folder: Path) -> list[Path]:
    """Return the files of a log in the order in which they were written; other files are ignored."""
    with naming(folder, "read the folder of the audit log"):
        files = sorted(filter(number_of, folder.iterdir()), key=number_of)
    for file in files:
        if not file.is_file():
            raise AuditError(f"{file}: not a regular file")
    return files
