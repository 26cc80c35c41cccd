"""``negotiator audit``: verify the audit log, find records in it, and read the bundles that it names."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from negotiator.cli import options
from negotiator.hooks.command_options import ANY_PATH

if TYPE_CHECKING:
    from negotiator.hooks.command_targets import CommandTargets

#: Words that are no subcommand, and what to use instead.
_MOVED: Final[Mapping[str, str]] = {
    "job": "negotiator audit why JOB --records --audit-log DIR",
    "search": "negotiator audit why --audit-log DIR, with the same filters",
}

_SINCE = click.option(
    "--since",
    type=options.PAST_TIME,
    help="From this time on: 2026-11-20, 2026-11-20T14:30Z, or 30m, 12h, 7d ago.",
)
_UNTIL = click.option("--until", type=options.PAST_TIME, help="Before this time, in the same forms.")
_LIMIT = click.option(
    "--limit",
    type=click.IntRange(min=1, max=100_000),
    help="Records to print at most, the newest ones.  [default: those that fit on the terminal; in a pipe or a file all]",
)
_AS_LINES = click.option("--json", "as_json", is_flag=True, help="Print the records, one JSON object a line.")


def _head(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    from negotiator.app.audit import parse_head

    try:
        return parse_head(value) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _log_folder(context: click.Context, targets: CommandTargets, folder: Path | None) -> Path:
    """Return the folder of the log that is given as an argument, else that of the option."""
    if folder is None:
        return targets.audit_log
    is_given = context.get_parameter_source("audit_log") is ParameterSource.COMMANDLINE
    if is_given and folder != targets.audit_log:
        name = click.format_filename(folder)
        raise click.UsageError(
            f"DIR and --audit-log name two folders: use negotiator audit verify {shlex.quote(name)}", context
        )
    return folder


class AuditCommand(click.Command):
    """A subcommand that takes the log by an option; a folder among its arguments is answered by the right form."""

    allow_extra_args = True

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; fail if there are too many, or if FILE is a folder."""
        words = list(args)
        extra = super().parse_args(ctx, args)
        file = ctx.params.get("file")
        folders = [*([file] if file and Path(file).is_dir() else ()), *extra]
        if len(extra) > 1 and not ctx.resilient_parsing:
            ctx.fail(f"unexpected arguments: {' '.join(extra)}")
        if folders and not ctx.resilient_parsing:
            folder = folders[0]
            words.remove(folder)
            right = shlex.join(["negotiator", "audit", self.name or "", *words, "--audit-log", folder])
            ctx.fail(f"unexpected argument {folder!r}: if it is the audit log, use {right}")
        return extra


class AuditGroup(click.Group):
    """The subcommands; a word of the table is answered by what to use instead."""

    command_class = AuditCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand that is called, and its arguments."""
        if args[0] in _MOVED:
            ctx.fail(f"No such command {args[0]!r}: use {_MOVED[args[0]]}")
        return super().resolve_command(ctx, args)


@click.group(cls=AuditGroup)
def audit() -> None:
    """Verify the audit log, find records, read the bundles they name.

    \b
    Examples:
      negotiator audit verify
      negotiator audit bundle 5f0c4a11
      negotiator audit who slot1@node1.example.org --since 7d
      negotiator audit why 12.7 --audit-log var/audit
      negotiator audit why --user sue --kind denial
      negotiator audit changes
      negotiator audit rollout
      negotiator audit sql "SELECT kind, count(*) FROM records GROUP BY kind"
    """


@audit.command(
    "verify", cls=click.Command, short_help="Find records that were changed, removed, inserted or reordered."
)
@click.argument("folder", metavar="[DIR]", required=False, type=ANY_PATH)
@options.targets("audit_log")
@click.option("--head", metavar="SEQ:HASH", callback=_head, help="The head of a record, stored elsewhere.")
@click.option(
    "--key-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The key of a keyed log; not world-readable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the finding as one JSON object.")
@click.pass_context
def verify_command(
    context: click.Context, /, targets: CommandTargets, folder: Path | None, **given: Any
) -> None:
    """Find the first record of the audit log that was changed, removed, inserted or reordered.

    DIR is the folder of the log, instead of that of --audit-log.

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

    implementation.verify_command(context, _log_folder(context, targets, folder), **given)


@audit.command("bundle", short_help="Print the policy bundle that a record names.")
@click.argument("digest")
@click.argument("file", required=False)
@options.targets("audit_log")
@click.pass_context
def bundle_command(context: click.Context, /, **given: Any) -> None:
    """Print the policy bundle that was in force: the FILE of it, or without FILE a list of its files.

    DIGEST is the field "bundle" of a record of the audit log; its first 8 digits are enough. The
    text is compared with the digest before it is printed.

    \b
    Examples:
      negotiator audit bundle 5f0c4a11
      negotiator audit bundle 5f0c4a11 pool.yaml --audit-log var/audit

    \b
    Exit codes:
      0  it was printed
      1  the stored copy was changed, or the bundle has no such file
      2  invalid command line
      3  no copy of this bundle is stored, or it cannot be read
    """
    from negotiator.cli import audit as implementation

    implementation.bundle_command(context, **given)


@audit.command("who", short_help="Print the matches of a slot, a job or a user.")
@click.argument("name")
@options.targets("audit_log")
@_SINCE
@_UNTIL
@_LIMIT
@_AS_LINES
def who_command(**given: Any) -> None:
    """Print who got what: the matches of NAME, a slot, a job (12.7), a cluster (12), a user or a submitter, the newest one first.

    \b
    Examples:
      negotiator audit who slot1@node1.example.org --since 24h
      negotiator audit who 12.7 --audit-log var/audit
      negotiator audit who sue --limit 10

    \b
    Exit codes:
      0  a match was printed
      1  there is none
      2  invalid command line
      3  no log, or it cannot be read
    """
    from negotiator.cli import audit_why as implementation

    implementation.who(**given)


@audit.command("why", short_help="Print what was decided about a job or a slot, or find records.")
@click.argument("subject", metavar="[JOB|SLOT]", required=False, default="")
@options.targets("audit_log")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="match, denial, admin, ...; may be repeated."
)
@click.option(
    "--job",
    default="",
    callback=options.job_id,
    metavar="ID",
    help="Matches and denials of this job, or of a cluster.",
)
@click.option("--user", default="", metavar="NAME", help="Who owns the jobs, or requested a change.")
@click.option("--queue", default="", metavar="PATH", help="The complete path of a queue.")
@click.option("--slot", default="", metavar="NAME", help="The complete name of a slot.")
@click.option(
    "--text", default="", metavar="TEXT", help="Any part of a record, in any case of ASCII letters."
)
@_SINCE
@_UNTIL
@_LIMIT
@options.full
@click.option(
    "--records",
    is_flag=True,
    help="Print the records of the whole log instead, one JSON object a line, the oldest one first.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object; without JOB or SLOT, one for each record."
)
def why_command(**given: Any) -> None:
    """Print what the audit log has about a job (12.7, SCHEDD#12.7, or a cluster 12) or a slot, the newest decision first.

    Decisions by the same rule under the same bundle are one line, with their number and times. Below are the lines of each rule as the
    bundle had them; --full prints all. The pool and the state are not read; for a job that waits now see negotiator why.

    Without JOB or SLOT, the newest records that have all given properties are printed, a line each. With it, the properties and --limit select
    among its decisions. A denial names all its jobs as ranges (job_ids); ids that it left out (job_ids_left_out) are not found. The chain of the log is not
    verified: see negotiator audit verify.

    \b
    Examples:
      negotiator audit why 12.7 --audit-log var/audit
      negotiator audit why slot1@node1.example.org --since 7d
      negotiator audit why 12.7 --records
      negotiator audit why --kind denial --user sue --since 2d
      negotiator audit why --text small-machines --json

    \b
    Exit codes:
      0  printed
      1  no record names the job or the slot, or has these properties
      2  invalid command line, or several schedds have the job
      3  no log, or it cannot be read
    """
    from negotiator.cli import audit_why as implementation

    implementation.why(**given)


@audit.command("changes", short_help="Print who changed what, and the bundles that were loaded.")
@options.targets("audit_log")
@_SINCE
@_UNTIL
@_LIMIT
@_AS_LINES
def changes_command(**given: Any) -> None:
    """Print the requests of administrators, the reloads of the bundle and the recoveries, the newest one first.

    The text of a bundle is printed by negotiator audit bundle with the digits in the table.

    \b
    Example:
      negotiator audit changes --since 30d

    \b
    Exit codes:
      0  a change was printed
      1  there is none
      2  invalid command line
      3  no log, or it cannot be read
    """
    from negotiator.cli import audit_why as implementation

    implementation.changes(**given)


@audit.command("rollout", short_help="Print what rules in mode warn or dryrun would have denied.")
@click.argument("rule", required=False, default="", metavar="[RULE]")
@options.targets("audit_log", "plugins_dirs", "disable")
@click.option("--by", type=click.Choice(["user", "day"]), help="Add up the matches by user or day (UTC).")
@click.option(
    "--since",
    type=options.PAST_TIME,
    help="From this time on: 2026-11-20, 2026-11-20T14:30Z, or 30m, 12h, 7d ago.  [default: the first cycle of each rule]",
)
@options.full
@options.as_json
def rollout_command(**given: Any) -> None:
    """Print what the policies, limits and quotas in mode warn or dryrun would have denied since they were added, from the audit log.

    RULE is the name of one of them. A rule counts from the first cycle that had it with its present text and mode, by the texts of the
    bundles that the log has. A job that would have been denied a match may get another slot if the rule enforces.

    At most a screen is printed; --full prints everything. The chain of the log is not verified: see negotiator audit verify.

    \b
    Exit codes:
      0  it was printed
      1  no such rule is in mode warn or dryrun
      2  invalid command line
      3  no log, or it cannot be read

    \b
    Examples:
      negotiator audit rollout --audit-log var/audit
      negotiator audit rollout memory-of-students --by user --since 7d
    """
    from negotiator.cli import audit_rollout as implementation

    implementation.rollout(**given)


@audit.command("sql", short_help="Query the audit log in SQL.")
@click.argument("query", metavar="QUERY")
@options.targets(
    "audit_log",
    audit_log={"metavar": "PATH", "help": "Folder of the audit log, or a file of negotiator audit export."},
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    help="Rows to print at most.  [default: of a table those that fit on the terminal, else all]",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1, max=86400),
    default=60.0,
    show_default=True,
    help="Seconds that the query may take.",
)
@click.option("--json", "as_json", is_flag=True, help="Print each row as a JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
def sql_command(**given: Any) -> None:
    """Print the result of QUERY, one SELECT in DuckDB's SQL, over the audit log.

    The tables are records (a row for each record, with the reason that decided), reasons (a row for each reason of a denial and each
    warning of a match) and log (each record as JSON); "DESCRIBE records" prints the columns. The query cannot write, and reads
    no other file; it takes at most 2 GB of memory. DuckDB is needed: pip install 'pool-negotiator[sql]'. The chain of the log is not verified: see negotiator audit verify.

    \b
    Examples:
      negotiator audit sql "SELECT rule, sum(jobs) FROM records GROUP BY rule"
      negotiator audit sql "SELECT user, count(*) FROM records GROUP BY user" --audit-log november.parquet --csv

    \b
    Exit codes:
      0  the result was printed
      1  the query is refused or failed, or DuckDB is not installed
      2  invalid command line
      3  no log, or it cannot be read
    """
    from negotiator.cli import audit_sql as implementation

    if given["as_json"] and given["as_csv"]:
        raise click.UsageError("--json and --csv exclude each other")
    implementation.sql(**given)


@audit.command("export", short_help="Write the records as Parquet.")
@click.argument("file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path))
@options.targets("audit_log")
@_SINCE
@_UNTIL
def export_command(**given: Any) -> None:
    """Write the records of the audit log to FILE, as Parquet: the table records of negotiator audit sql.

    An old FILE is replaced once the new one is complete. Like the log, FILE is not open to everybody. DuckDB is needed: pip install
    'pool-negotiator[sql]'.

    \b
    Example:
      negotiator audit export november.parquet --since 2026-11-01 --until 2026-12-01

    \b
    Exit codes:
      0  written
      1  DuckDB is not installed
      2  invalid command line
      3  no log, it cannot be read, or the file cannot be written
    """
    from negotiator.cli import audit_sql as implementation

    implementation.export(**given)
