"""``negotiator audit``: verify the audit log, and read the bundles that it names."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

from negotiator.app.audit import Verification, stored_bundle, verify_log
from negotiator.cli.errors import print_error
from negotiator.cli.render import print_table, printable
from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def verify_command(
    context: click.Context, folder: Path, head: str | None, key_file: Path | None, *, as_json: bool
) -> None:
    """Find the first record of the audit log in a folder that was changed, removed, inserted or reordered."""
    try:
        found = verify_log(folder, head, key_file)
    except NegotiatorError as error:
        from negotiator.app.status import status_of

        click.echo(
            json.dumps({"ok": None, "error": str(error)}) if as_json else f"error: {printable(str(error))}",
            err=not as_json,
        )
        context.exit(status_of(error).exit_code)
    if as_json:
        click.echo(json.dumps({"ok": found.fault is None, **attrs.asdict(found)}))
    else:
        for warning in found.warnings:
            click.echo(f"warning: {printable(warning)}", err=True)
        click.echo(printable(_sentence(folder, found)))
    context.exit(ExitCode.NOT_DONE if found.fault else ExitCode.DONE)


def bundle_command(context: click.Context, targets: CommandTargets, digest: str, file: str | None) -> None:
    """Print the policy bundle that was in force: the FILE of it, or without FILE a list of its files."""
    try:
        bundle = stored_bundle(targets.audit_log, digest)
    except NegotiatorError as error:
        context.exit(print_error(error))
    if file is None:
        rows = [(name, str(len(content))) for name, content in bundle.files.items()]
        print_table(f"Bundle {bundle.digest}", ("FILE", "BYTES"), rows, right=(1,))
    elif file in bundle.files:
        click.echo(bundle.files[file], nl=False)
    else:
        click.echo(f"error: this bundle has no file {printable(file)}", err=True)
        context.exit(ExitCode.NOT_DONE)


def _sentence(folder: Path, found: Verification) -> str:
    fault = found.fault
    if fault:
        return f"{click.format_filename(folder / fault.file)}:{fault.line}: {fault.message}"
    records = f"{_count(found.records, 'record')} in {_count(found.files, 'file')}"
    bundles = f", {_count(found.bundles, 'bundle')}" if found.bundles else ""
    return f"ok: {records}{bundles}, head {found.head}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
