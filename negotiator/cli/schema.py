"""``negotiator schema``: the JSON schemas of files and of what commands print, and the document of the REST interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import click

from negotiator.app.output_formats import OUTPUTS, output_format
from negotiator.app.schemas import FileSchemas, schemas_of_files
from negotiator.bundle.json_schema import JsonSchema
from negotiator.cli.render import print_table, printable
from negotiator.errors import NotFoundError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import suggest


def schema(words: tuple[str, ...], targets: CommandTargets, *, as_list: bool) -> None:
    """Print a schema, or a list of all.

    :raises NotFoundError: there is no such schema.
    """
    if as_list == bool(words):
        raise click.UsageError("write the NAME of a file or a command, openapi, or --list")
    if as_list:
        _print_list(schemas_of_files(targets))
        return
    name = " ".join(words)
    if name == _OPENAPI:
        from negotiator.service.api.openapi import document_text  # noqa: PLC0415 - no other schema needs the service

        click.echo(document_text(), nl=False)
        return
    output = output_format(name)
    found = output.schema() if output else _of_file(name, schemas_of_files(targets))
    click.echo(json.dumps(found, indent=2))


def _of_file(name: str, found: FileSchemas) -> JsonSchema:
    base = Path(name).name
    for pattern, each in found.schemas.items():
        if base == pattern or fnmatchcase(base, pattern):
            _warn(found)
            return each
    known = (*found.schemas, _OPENAPI, *(each.command for each in OUTPUTS))
    raise NotFoundError(f"no schema {printable(name)!r}: {suggest(name, known, listed=False) or _HINT}")


_OPENAPI: Final = "openapi"
_HINT = "negotiator schema --list prints all"


def _warn(found: FileSchemas) -> None:
    if found.problems:
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        click.echo(
            f"warning: the bundle has errors, so that unknown keys are permitted: {printable(found.problems[0].message)}{more}",
            err=True,
        )


def _print_list(found: FileSchemas) -> None:
    _warn(found)
    print_table("Files", ("NAME", "DESCRIPTION"), [*map(_row, found.schemas.items())])
    rows = [(each.command, str(each.version), each.option, each.summary) for each in OUTPUTS]
    print_table("REST interface", ("NAME", "DESCRIPTION"), [(_OPENAPI, "OpenAPI document of /api/v1.")])
    print_table("Outputs of commands", ("NAME", "VERSION", "OPTION", "DESCRIPTION"), rows, right=(1,))


def _row(entry: tuple[str, Mapping[str, str]]) -> tuple[str, str]:
    name, each = entry
    return name, each["description"]
