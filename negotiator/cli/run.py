"""``negotiator run``: negotiation cycles over the ads of a pool."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Literal, NoReturn

import click

from negotiator.audit.errors import AuditError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.audit.records import records_by_kind
from negotiator.bundle import BundleError, default_bundle, load_bundle
from negotiator.bundle.model import Bundle
from negotiator.cli import options
from negotiator.cli.problems import print_problems
from negotiator.cli.render import POINT_IN_TIME, printable
from negotiator.cli.report import print_report
from negotiator.pool import PoolError, Snapshot, read_pool
from negotiator.records import Severity
from negotiator.runtime.run import CycleReport, OutcomeLostError, Runtime
from negotiator.runtime.settle import Offline

BAD_BUNDLE, NO_POOL, NO_AUDIT, NO_OUTCOME = 1, 4, 3, 5


@click.command(short_help="Run negotiation cycles over the ads of a pool.")
@click.argument("pool", nargs=-1, required=True, metavar="POOL...")
@options.bundle
@options.plugins_dir
@options.disable
@click.option(
    "--audit-log",
    type=click.Path(path_type=Path),
    default=Path("var/audit"),
    show_default=True,
    help="Folder of the audit log.",
)
@click.option("--no-audit", is_flag=True, help="Keep no audit log.")
@click.option("--key-file", type=click.Path(path_type=Path), help="Key for the chain of the audit log.")
@click.option(
    "--cycles", type=click.IntRange(min=1), default=1, show_default=True, help="Run so many cycles."
)
@click.option(
    "--now",
    type=POINT_IN_TIME,
    help="Take this as the time, in seconds since the epoch, so that a run can be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a cycle.")
@click.option("--trace-hooks", is_flag=True, help="Print every call of a plugin, to standard error.")
def run(
    pool: tuple[str, ...],
    folder: Path | None,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    audit_log: Path,
    key_file: Path | None,
    cycles: int,
    now: float | None,
    *,
    no_audit: bool,
    as_json: bool,
    trace_hooks: bool,
) -> None:
    """Run negotiation cycles over the ads in POOL and print who was matched, and why the others were not.

    POOL is a folder or file of ads (long form, -json or -xml, gzipped or not), or - for standard input. Ads that cannot
    be used are set aside and named; the others go on.

    \b
    Exit codes:
      0  the cycles ran, whether or not anything was matched
      1  the policy bundle has errors: nothing ran
      2  the command line is wrong
      3  the audit log could not be written: no match of that cycle was handed out
      4  the pool could not be read
      5  the audit log could not be written after matches were handed out: they are named
      74, 130, 141  the output could not be printed, was interrupted, is read by nobody

    \b
    Examples:
      negotiator run examples/first-pool
      condor_status -long | negotiator run --bundle policies/default - jobs.ads
    """
    tracer = partial(click.echo, err=True) if trace_hooks else None
    bundle = _bundle(folder or default_bundle(), plugins_dirs, disable, tracer)
    clock = time.time if now is None else lambda: now
    with ExitStack() as stack:
        log = None
        if not no_audit:
            log = stack.enter_context(_audit(audit_log, key_file, bundle))
        runtime = Runtime(bundle, _reader(pool), clock, Offline(), log)
        try:
            for report in runtime.cycles(cycles):
                _show(report, bundle, log, as_json=as_json)
        except OutcomeLostError as error:
            click.echo(f"error: {printable(str(error))}", err=True)
            sys.exit(NO_OUTCOME)
        except AuditError as error:
            _no_audit(error)
        except PoolError as error:
            click.echo(f"error: {printable(str(error))}", err=True)
            sys.exit(NO_POOL)


def _bundle(
    folder: Path,
    plugins_dirs: tuple[Path, ...],
    disable: tuple[str, ...],
    tracer: Callable[[str], None] | None,
) -> Bundle:
    try:
        bundle = load_bundle(folder, extra_folders=plugins_dirs, disable=disable, tracer=tracer)
    except BundleError as error:
        print_problems(error.problems, folder=folder, err=True)
        click.echo(
            f"error: {printable(str(folder))} has errors: nothing was run (see negotiator check)", err=True
        )
        sys.exit(BAD_BUNDLE)
    # Notices are for ``check``: a configuration file of a whole pool has hundreds of knobs without effect here.
    warnings = [problem for problem in bundle.problems if problem.severity is Severity.WARNING]
    print_problems(warnings, folder=folder, err=True)
    return bundle


def _audit(folder: Path, key_file: Path | None, bundle: Bundle) -> AuditLog:
    try:
        key = read_key(key_file) if key_file else None
        log = AuditLog.open(folder, key=key, rotate_bytes=bundle.audit.rotate_bytes)
    except AuditError as error:
        _no_audit(error)
    for notice in log.notices:
        click.echo(f"audit log: {printable(notice)}", err=True)
    return log


def _no_audit(error: AuditError) -> NoReturn:
    click.echo(f"error: {printable(str(error))}: no match was handed out", err=True)
    sys.exit(NO_AUDIT)


def _reader(pool: tuple[str, ...]) -> Callable[[], Snapshot]:
    """Read the pool anew for every cycle; standard input can be read once, and stays as it was."""
    paths: list[Path | Literal["-"]] = ["-" if path == "-" else Path(path) for path in pool]

    @cache
    def once() -> Snapshot:
        return read_pool(paths, sys.stdin.buffer if sys.stdin else None)

    return once if "-" in pool else lambda: read_pool(paths)


def _show(report: CycleReport, bundle: Bundle, log: AuditLog | None, *, as_json: bool) -> None:
    print_problems(report.snapshot.problems, err=True)
    if as_json:
        click.echo(json.dumps(records_by_kind(report.result), sort_keys=True))
    else:
        print_report(report, bundle)
        click.echo(f"Audit log head: {log.head}" if log else "No audit log was kept.")
