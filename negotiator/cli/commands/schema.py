"""``negotiator schema``: the JSON schemas of files and of what commands print, and the document of the REST interface."""

from __future__ import annotations

from typing import Any

import click

from negotiator.cli import options


@click.command(short_help="Print the schema of a file, an output, or the REST interface.")
@click.argument("words", nargs=-1, metavar="NAME")
@click.option("--list", "as_list", is_flag=True, help="List all schemas.")
@options.targets("bundle", "plugins_dirs", "disable")
def schema(**given: Any) -> None:
    """Print the JSON schema of a file (pool.yaml), or of what a command prints with --json (idle, audit who).

    The NAME openapi is that of the OpenAPI document of /api/v1.

    The schema of pool.yaml has the keys of the plugins of the bundle. An editor completes and checks the file by it if the first line names
    it, for editors with the YAML language server: # yaml-language-server: $schema=pool.schema.json

    What a schema refuses, negotiator check refuses too; it has more checks than a schema can have.

    The schema of an output has a version, which is increased with every change: the last part of its $id.

    \b
    Exit codes:
      0  printed
      1  there is no such schema
      2  invalid command line

    \b
    Examples:
      negotiator schema --list
      negotiator schema pool.yaml --bundle policies/site > pool.schema.json
      negotiator schema idle
      negotiator schema openapi
    """
    from negotiator.cli import schema as implementation

    implementation.schema(**given)
