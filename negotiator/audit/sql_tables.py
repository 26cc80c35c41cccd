"""The tables of an audit log in SQL: their columns, and the views of DuckDB that read the files of the log.

Lines with bytes of an ad that are not UTF-8 are JSON for Python, and not for DuckDB: they are read apart.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.audit.chain import MAX_LINE
from negotiator.audit.errors import AuditError, naming
from negotiator.audit.search import parsed

#: What is read of each line: the fields with their types; the others are in the table ``log`` only.
_FIELDS: Final = {
    "seq": "BIGINT",
    "kind": "VARCHAR",
    "cycle": "BIGINT",
    "time": "TIMESTAMP",
    "bundle": "VARCHAR",
    "new_bundle": "VARCHAR",
    "shadow": "BOOLEAN",
    "user": "VARCHAR",
    "submitter": "VARCHAR",
    "schedd": "VARCHAR",
    "queue": "VARCHAR",
    "job": "VARCHAR",
    "first_job": "VARCHAR",
    "jobs": "BIGINT",
    "slot": "VARCHAR",
    "matched": "BIGINT",
    "candidates": "BIGINT",
    "rank": "JSON",
    "code": "VARCHAR",
    "action": "VARCHAR",
    "ok": "BOOLEAN",
    "text": "VARCHAR",
    "rule": "VARCHAR",
    "decisive": "BIGINT",
    "reason": "JSON",
    "reasons": "JSON[]",
    "warnings": "JSON[]",
    "steps": "JSON",
}
_JOB: Final = "coalesce(job, first_job)"
_RECORD_REASON: Final = (
    "coalesce(reason, CASE WHEN kind = 'denial' THEN reasons[decisive + 1] ELSE steps->'$[#-1]' END)"
)
#: The table of the lines that DuckDB cannot read as they are: valid JSON for it, one a row.
_CORRECTED: Final = "corrected_lines"
#: What a lone surrogate begins with, as pairs do, which DuckDB reads.
_SURROGATE = b"\\ud"


@attrs.frozen
class LogColumn:
    """A column of a table: its name, and the SQL expression of its value in terms of the fields of a record."""

    name: str
    value: str


_RECORD_COLUMNS: Final = tuple(LogColumn(name, name) for name in ("seq", "time", "cycle", "kind"))
_JOB_COLUMNS: Final = (
    *(LogColumn(name, f'"{name}"') for name in ("user", "submitter", "schedd", "queue")),
    LogColumn("job", _JOB),
    LogColumn("jobs", "CASE kind WHEN 'match' THEN 1 ELSE jobs END"),
)
_BUNDLE: Final = LogColumn("bundle", "bundle")


def _reason_columns(code: str = "", text: str = "", rule: str = "") -> Iterable[LogColumn]:
    """Yield the columns of the reason ``r``; the parameters are fields of a record that has them without a reason."""

    def value(path: str, *others: str) -> str:
        found = [f"r->>'$.{path}'", *(each for each in others if each)]
        return f"coalesce({', '.join(found)})" if len(found) > 1 else found[0]

    yield LogColumn("verdict", value("verdict"))
    yield LogColumn("mode", value("mode"))
    yield LogColumn("code", value("code", code))
    yield LogColumn("reason", value("text", text))
    yield LogColumn("plugin", value("provenance.plugin", "r->>'$.plugin'"))
    yield LogColumn("rule", value("provenance.rule", "r->>'$.rule'", rule))
    yield LogColumn("source", value("provenance.source", "r->>'$.source'"))
    for name, column in (("needed", "needed"), ("used", "used"), ("limit", "limit_amount")):
        yield LogColumn(column, f"try_cast(r->>'$.numbers.{name}' AS DOUBLE)")


#: ``records``: one row a record, with the reason that decided.
RECORDS: Final = (
    *_RECORD_COLUMNS,
    *_JOB_COLUMNS,
    *(LogColumn(name, name) for name in ("slot", "matched", "candidates")),
    LogColumn("rank", "try_cast(rank->>'$' AS DOUBLE)"),
    *_reason_columns("code", "text", "rule"),
    *(LogColumn(name, name) for name in ("action", "ok", "shadow")),
    _BUNDLE,
    LogColumn("new_bundle", "new_bundle"),
)
#: ``reasons``: one row for each reason of a denial, and for each warning of a match.
REASONS: Final = (
    *_RECORD_COLUMNS,
    *_JOB_COLUMNS,
    LogColumn("decisive", "coalesce(kind = 'denial' AND place = decisive + 1, false)"),
    *_reason_columns(),
    LogColumn("removed", "try_cast(r->>'$.removed' AS BIGINT)"),
    LogColumn("rejected", "try_cast(r->>'$.rejected' AS BIGINT)"),
    _BUNDLE,
)


def table_statements(files: Sequence[str], *, lenient: bool) -> Iterable[str]:
    """Yield the statements that make the tables ``log``, ``records`` and ``reasons`` over files of a log.

    :param files: paths, as :func:`escaped_path` returns them.
    :param lenient: leave out the lines that are no valid JSON for DuckDB; it is an error otherwise.
    """
    read = f"format = 'newline_delimited', maximum_object_size = {MAX_LINE + 1}, ignore_errors = {lenient}"
    paths = f"[{', '.join(map(sql_text, files))}]"
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in _FIELDS.items())
    fields = ", ".join(f'"{name}"' for name in _FIELDS)
    structure = sql_text(json.dumps(_FIELDS))
    yield f"CREATE TABLE IF NOT EXISTS {_CORRECTED} (line VARCHAR)"
    yield (
        f"CREATE OR REPLACE VIEW fields AS SELECT {fields} FROM read_json({paths}, columns = {{{columns}}}, {read}) WHERE seq IS NOT NULL "
        f"UNION ALL SELECT unnest(from_json(line, {structure})) FROM {_CORRECTED}"
    )
    yield (
        f"CREATE OR REPLACE VIEW log AS SELECT (json->>'$.seq')::BIGINT AS seq, json->>'$.kind' AS kind, json AS record "
        f"FROM (SELECT json FROM read_json_objects({paths}, {read}) WHERE json IS NOT NULL "
        f"UNION ALL SELECT line::JSON FROM {_CORRECTED})"
    )
    yield f"CREATE OR REPLACE VIEW records AS SELECT {_selected(RECORDS)} FROM (SELECT *, {_RECORD_REASON} AS r FROM fields)"
    yield (
        f"CREATE OR REPLACE VIEW reasons AS SELECT {_selected(REASONS)} FROM (SELECT *, unnest(found) AS r, generate_subscripts(found, 1) AS "
        "place FROM (SELECT *, CASE kind WHEN 'match' THEN warnings ELSE reasons END AS found FROM fields "
        "WHERE kind IN ('match', 'denial')))"
    )


def export_statements(file: str) -> Iterable[str]:
    """Yield the statement that makes the table ``records`` over an exported file."""
    yield f"CREATE OR REPLACE VIEW records AS SELECT * FROM read_parquet({sql_text(file)})"


def corrected_statement() -> str:
    """Return the statement that adds lines, its one parameter, a list, to those that were corrected."""
    return f"INSERT INTO {_CORRECTED} SELECT unnest($1::VARCHAR[])"


def unread_statement(files: Sequence[str]) -> str:
    """Return the query of the files with lines that DuckDB cannot read: their places among ``files`` and how many lines."""
    counts = (
        f"SELECT {place} AS place, count(*) AS lines FROM read_json({sql_text(file)}, columns = {{'seq': 'BIGINT'}}, "
        f"format = 'newline_delimited', maximum_object_size = {MAX_LINE + 1}, ignore_errors = true) WHERE seq IS NULL"
        for place, file in enumerate(files)
    )
    return f"SELECT * FROM ({' UNION ALL '.join(counts)}) WHERE lines > 0 ORDER BY place"


def sql_text(text: str) -> str:
    """Return a text as a literal of SQL."""
    return "'" + text.replace("'", "''") + "'"


def escaped_path(path: str) -> str:
    """Return a path as DuckDB takes it where patterns are permitted too."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in path)


def _selected(columns: Iterable[LogColumn]) -> str:
    return ", ".join(f'{each.value} AS "{each.name}"' for each in columns)


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
