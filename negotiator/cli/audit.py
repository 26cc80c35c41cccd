"""``negotiator audit``: what can be asked of the audit log."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import click

from negotiator.audit.chain import ChainLink
from negotiator.audit.errors import AuditError
from negotiator.audit.key import read_key
from negotiator.audit.verify import Verification, verify
from negotiator.cli.render import printable

TAMPERED = 1
NOT_CHECKED = 2


@click.group()
def audit() -> None:
    """Ask the audit log.

    \b
    Example:
      negotiator audit verify var/audit
    """


def _head(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    try:
        return str(ChainLink.parse(value)) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@audit.command("verify", short_help="Has a record been changed, removed, inserted or reordered?")
@click.argument("folder", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--head", metavar="SEQ:HASH", callback=_head, help="The head of a record, kept elsewhere.")
@click.option(
    "--key-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The key of a keyed log; not world-readable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the finding as one JSON object.")
@click.pass_context
def verify_command(
    context: click.Context, folder: Path, head: str | None, key_file: Path | None, *, as_json: bool
) -> None:
    """Find the first record of the audit log in the folder PATH that was changed, removed, inserted or reordered.

    Without --head, a log whose end was cut off verifies; with neither --head nor --key-file, so does one that was
    rewritten as a whole.

    \b
    Example:
      negotiator audit verify var/audit --head 1207:5f0c...e1

    \b
    Exit codes:
      0  every record is as it was written
      1  a record is not; it is named
      2  nothing can be said: no log, an unreadable file, a missing or refused key
    """
    try:
        found = verify(folder, key=read_key(key_file) if key_file else None, head=head)
    except AuditError as error:
        click.echo(
            json.dumps({"ok": None, "error": str(error)}) if as_json else f"error: {printable(str(error))}",
            err=not as_json,
        )
        context.exit(NOT_CHECKED)
    if as_json:
        click.echo(json.dumps({"ok": found.fault is None, **attrs.asdict(found)}))
    else:
        click.echo(printable(_sentence(folder, found)))
    context.exit(TAMPERED if found.fault else 0)


def _sentence(folder: Path, found: Verification) -> str:
    fault = found.fault
    if fault:
        return f"{click.format_filename(folder / fault.file)}:{fault.line}: {fault.message}"
    records = "record" if found.records == 1 else "records"
    files = "file" if found.files == 1 else "files"
    return f"ok: {found.records} {records} in {found.files} {files}, head {found.head}"
