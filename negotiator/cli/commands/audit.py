"""``negotiator audit``: verify the audit log, and read the bundles that it names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from negotiator.cli.options import job_id

_FOLDER = click.Path(path_type=Path)


def _head(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    from negotiator.app.audit import parse_head

    try:
        return parse_head(value) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.group()
def audit() -> None:
    """Verify the audit log, and read the bundles that it names.

    \b
    Examples:
      negotiator audit verify var/audit
      negotiator audit bundle 5f0c4a11 var/audit
      negotiator audit job 12.7 var/audit
    """


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
def verify_command(context: click.Context, /, **given: Any) -> None:
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
    from negotiator.cli import audit as implementation

    implementation.verify_command(context, **given)


@audit.command("bundle", short_help="Print the policy bundle that a record names.")
@click.argument("digest")
@click.argument("folder", metavar="PATH", type=_FOLDER)
@click.argument("file", required=False)
@click.pass_context
def bundle_command(context: click.Context, /, **given: Any) -> None:
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
    from negotiator.cli import audit as implementation

    implementation.bundle_command(context, **given)


@audit.command("job", short_help="Print the records of the matches and denials of a job.")
@click.argument("job", callback=job_id)
@click.argument("folder", metavar="PATH", type=_FOLDER)
def job_command(**given: Any) -> None:
    """Print the records of the audit log in the folder PATH that match or deny JOB, one JSON object a line.

    JOB is the id of a job, such as 12.7, or a cluster, such as 12. A denial names all its jobs as ranges (job_ids); ids that
    it left out (job_ids_left_out) are not found. The chain of the log is not verified: see negotiator audit verify.

    \b
    Example:
      negotiator audit job 12.7 var/audit

    \b
    Exit codes:
      0  a record was printed
      1  no record names the job
      2  invalid command line
      3  no log, or it cannot be read
    """
    from negotiator.cli import audit as implementation

    implementation.job_command(**given)
