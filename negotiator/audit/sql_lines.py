"""The lines of an audit log that are JSON for Python, and not for DuckDB: those with bytes of an ad that are not UTF-8."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from negotiator.audit.errors import AuditError, naming
from negotiator.audit.search import parsed

#: What a lone surrogate begins with, as pairs do, which DuckDB reads.
_SURROGATE = b"\\ud"


def check_ends(files: Sequence[Path]) -> None:
    """Check that each file but the last one ends with a whole line: DuckDB may leave out what comes after the last line.

    :raises AuditError: one does not, or cannot be read.
    """
    for file in files[:-1]:
        with naming(file, "read the audit log"), file.open("rb") as opened:
            if opened.seek(0, os.SEEK_END):
                opened.seek(-1, os.SEEK_END)
                if opened.read() != b"\n":
                    opened.seek(0)
                    raise _not_a_record(file, sum(1 for _ in opened))


def corrected_lines(file: Path, count: int, *, is_last: bool) -> list[str]:
    """Return the lines of a file that DuckDB cannot read, with a question mark instead of each byte that is not UTF-8.

    :param count: how many DuckDB found.
    :param is_last: the last line may be unfinished; then it is left out.
    :raises AuditError: another line is not a record, or the file cannot be read.
    """
    with naming(file, "read the audit log"):
        found = list(_corrected(file))
        number = _first_invalid(file, is_last=is_last) if count > len(found) else 0
    if number:
        raise _not_a_record(file, number)
    return found


def _not_a_record(file: Path, number: int) -> AuditError:
    return AuditError(f"{file}:{number}: not a record (see negotiator audit verify)")


def _corrected(file: Path) -> Iterator[str]:
    with file.open("rb") as lines:
        for line in lines:
            record = parsed(line) if _SURROGATE in line and line.endswith(b"\n") else None
            if record:
                text = json.dumps(record, ensure_ascii=False)
                corrected = text.encode("utf-8", "replace").decode()
                if corrected != text:
                    yield corrected


def _first_invalid(file: Path, *, is_last: bool) -> int:
    """Return the number of the first line that is not a record; 0 if there is none."""
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not (parsed(line) or {}).get("seq") and not (is_last and not line.endswith(b"\n")):
                return number
    return 0
