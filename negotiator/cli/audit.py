"""``negotiator audit``: verify the audit log, and read the bundles that it names."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

from negotiator.app.audit import Verification, parse_head, stored_bundle, verify_log
from negotiator.app.status import status_of
from negotiator.cli.errors import print_error
from negotiator.cli.render import print_table, printable
from negotiator.errors import NegotiatorError
from negotiator.exit_codes import ExitCode

_FOLDER = click.Path(path_type=Path)


@click.group()
def audit() -> None:
    """Verify the audit log, and read the bundles that it names.

    \b
    Examples:
      negotiator audit verify var/audit
      negotiator audit bundle 5f0c4a11 var/audit
    """


def _head(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return parse_head(value) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@audit.command("verify", short_help="Find records that were changed, removed, inserted or reordered.")
@click.argument("folder", metavar="PATH", type=_FOLDER)
@click.option("--head", metavar="SEQ:HASH", callback=_head, help="The head of a record, stored elsewhere.")
@click.option(
    "--key-file",
    metavar="FILE",
    type=_FOLDER,
    help="The key of a keyed log; not world-readable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the finding as one JSON object.")
@click.pass_context
def verify_command(
    context: click.Context, folder: Path, head: str | None, key_file: Path | None, *, as_json: bool
) -> None:
    """Find the first record of the audit log in the folder PATH that was changed, removed, inserted or reordered.

    The stored copies of the bundles that the records name are compared with their digests; a missing copy is a warning.
    Without --head, a log whose end was cut off verifies; with neither --head nor --key-file, so does one that was
    rewritten as a whole.

    \b
    Example:
      negotiator audit verify var/audit --head 1207:5f0c...e1

    \b
    Exit codes:
      0  every record is as it was written, and every stored bundle
      1  one is not; it is named
      2  invalid command line
      3  nothing can be verified: no log, an unreadable file, a missing or refused key
    """
    try:
        found = verify_log(folder, head, key_file)
    except NegotiatorError as error:
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


@audit.command("bundle", short_help="Print the policy bundle that a record names.")
@click.argument("digest")
@click.argument("folder", metavar="PATH", type=_FOLDER)
@click.argument("file", required=False)
@click.pass_context
def bundle_command(context: click.Context, digest: str, folder: Path, file: str | None) -> None:
    """Print the policy bundle that was in force: the FILE of it, or without FILE a list of its files.

    DIGEST is the field "bundle" of a record in the audit log in the folder PATH; its first 8 digits are enough. The
    text is compared with the digest before it is printed.

    \b
    Examples:
      negotiator audit bundle 5f0c4a11 var/audit
      negotiator audit bundle 5f0c4a11 var/audit pool.yaml

    \b
    Exit codes:
      0  it was printed
      1  the stored copy was changed, or the bundle has no such file
      2  invalid command line
      3  no copy of this bundle is stored, or it cannot be read
    """
    try:
        bundle = stored_bundle(folder, digest)
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
