"""``negotiator run``: negotiation cycles over the ads of a pool."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, NoReturn

import click

from negotiator.audit.errors import AuditBusyError, AuditError
from negotiator.audit.key import read_key
from negotiator.audit.log import AuditLog
from negotiator.audit.records import records_by_kind
from negotiator.bundle import default_bundle
from negotiator.bundle.model import Bundle
from negotiator.cli import options
from negotiator.cli.bundles import examiner, print_warnings, the_bundle
from negotiator.cli.problems import print_problems
from negotiator.cli.render import printable
from negotiator.cli.report import print_report
from negotiator.errors import StateError
from negotiator.hooks import command_options
from negotiator.hooks.command_options import ANY_PATH, POINT_IN_TIME
from negotiator.pool import ClaimVault, PoolError, Snapshot, read_pool
from negotiator.runtime.cycle_timer import CycleTimer
from negotiator.runtime.reload import Reloader
from negotiator.runtime.run import CycleReport, OutcomeLostError, Runtime
from negotiator.runtime.settle import Offline
from negotiator.runtime.state import StateStore

NO_POOL, NO_AUDIT, NO_OUTCOME, NO_STATE = 4, 3, 5, 6
PATIENCE = 10.0  # seconds to wait for a command that does an act in place of a negotiator
_POLL = 0.2


class _Seconds(click.FloatRange):
    """A length of time; a range alone would take what is no number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds: float = super().convert(value, param, ctx)
        if not math.isfinite(seconds):
            self.fail("no length of time", param, ctx)
        return seconds


@click.command(short_help="Run negotiation cycles over the ads of a pool.")
@click.argument(
    "pool",
    nargs=-1,
    required=True,
    type=click.Path(allow_dash=True),
    envvar=command_options.POOL,
    metavar="POOL...",
)
@options.bundle
@options.plugins_dir
@options.disable
@options.audit_log
@click.option("--no-audit", is_flag=True, help="Keep no audit log.")
@options.key_file
@click.option(
    "--cycles",
    type=click.IntRange(min=1),
    help="Run so many cycles.  [default: 1; with --every, until stopped]",
)
@click.option("--every", type=_Seconds(min=0), metavar="SECONDS", help="Begin a cycle so often.")
@click.option("--watch", is_flag=True, help="Take over the bundle between two cycles when its files change.")
@click.option(
    "--state",
    type=ANY_PATH,
    envvar=command_options.STATE,
    show_envvar=True,
    help="Folder that keeps queues and applications from run to run.  [default: nothing is kept]",
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
    cycles: int | None,
    every: float | None,
    state: Path | None,
    now: float | None,
    *,
    watch: bool,
    no_audit: bool,
    as_json: bool,
    trace_hooks: bool,
) -> None:
    """Run negotiation cycles over the ads in POOL and print who was matched, and why the others were not.

    POOL is a folder or file of ads (long form, -json or -xml, gzipped or not), or - for standard input. Ads that cannot
    be used are set aside and named; the others go on. [env var: NEGOTIATOR_POOL]

    With --every it goes on until SIGTERM or SIGINT, and finishes the cycle it is in. SIGHUP, --watch and negotiator admin
    reload make it read its bundle again: another one is taken over between two cycles, whole; one with errors is told
    and leaves the active one in place.

    \b
    Exit codes:
      0  the cycles ran, whether or not anything was matched
      1  the policy bundle has errors: nothing ran
      2  the command line is wrong
      3  the audit log could not be written: no match of that cycle was handed out
      4  the pool could not be read
      5  the audit log could not be written after matches were handed out: they are named
      6  the state could not be read or written: no match of that cycle was handed out
      74, 130, 141  the output could not be printed, was interrupted, is read by nobody

    \b
    Examples:
      negotiator run examples/first-pool
      condor_status -long | negotiator run --bundle policies/default - jobs.ads
      negotiator run --every 60 --watch --state var/state --bundle policies/site pool/
    """
    tracer = partial(click.echo, err=True) if trace_hooks else None
    chosen = folder or default_bundle()
    # It looks at the files before they are read, so that no change between the two is missed.
    reloader = Reloader(chosen, "", examiner(chosen, plugins_dirs, disable, tracer), watch=watch)
    bundle = the_bundle(chosen, plugins_dirs, disable, tracer)
    reloader.digest = bundle.digest
    clock = time.time if now is None else lambda: now
    with ExitStack() as stack:
        try:
            # In the order in which a command takes the two locks: else each could wait for the other.
            store = stack.enter_context(_state(state)) if state else None
            log = None if no_audit else stack.enter_context(_audit(audit_log, key_file, bundle))
            runtime = Runtime(bundle, _reader(pool), clock, Offline(), log, store, reloader)
            pace = stack.enter_context(
                CycleTimer(reloader.request, every, cycles or (1 if every is None else None))
            )
            for _ in pace.cycles(partial(_between, runtime, chosen)):
                _show(runtime.next_cycle(), runtime.bundle, log, as_json=as_json)
        except StateError as error:
            click.echo(f"error: {printable(str(error))}: no match was handed out", err=True)
            sys.exit(NO_STATE)
        except OutcomeLostError as error:
            click.echo(f"error: {printable(str(error))}", err=True)
            sys.exit(NO_OUTCOME)
        except AuditError as error:
            _no_audit(error)
        except PoolError as error:
            click.echo(f"error: {printable(str(error))}", err=True)
            sys.exit(NO_POOL)


def _between(runtime: Runtime, folder: Path) -> None:
    """Do what was asked for between two cycles, and tell it."""
    reloads, acts = runtime.between_cycles()
    for done in acts:
        click.echo(
            f"{done.request.action} by {printable(done.request.by)}: {printable(done.answer.text)}", err=True
        )
    for reload in reloads:
        print_problems(reload.errors, folder=folder, err=True)
        what = "is active" if reload.bundle else "has errors: the one before stays active"
        click.echo(f"reload ({printable(reload.trigger)}): bundle {reload.digest[:12]} {what}", err=True)
        if reload.bundle:
            print_warnings(reload.problems, folder)


def _state(folder: Path) -> StateStore:
    store = StateStore.open(folder)
    end = time.monotonic() + PATIENCE
    while not store.hold_lock():
        if time.monotonic() < end:
            time.sleep(_POLL)
            continue
        store.close()
        raise StateError(f"{folder}: another negotiator works with this state")
    return store


def _audit(folder: Path, key_file: Path | None, bundle: Bundle) -> AuditLog:
    try:
        key = read_key(key_file) if key_file else None
        log = _opened(folder, key, bundle)
    except AuditError as error:
        _no_audit(error)
    for notice in log.notices:
        click.echo(f"audit log: {printable(notice)}", err=True)
    return log


def _opened(folder: Path, key: bytes | None, bundle: Bundle) -> AuditLog:
    """Open the audit log; where another process has it, that may be a command, for a moment."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return AuditLog.open(folder, key=key, rotate_bytes=bundle.audit.rotate_bytes)
        except AuditBusyError:
            if time.monotonic() >= end:
                raise
        time.sleep(_POLL)


def _no_audit(error: AuditError) -> NoReturn:
    click.echo(f"error: {printable(str(error))}: no match was handed out", err=True)
    sys.exit(NO_AUDIT)


def _reader(pool: tuple[str, ...]) -> Callable[[], tuple[Snapshot, ClaimVault]]:
    """Return what reads the pool anew for every cycle; standard input is read once. No claim is delivered from here."""
    paths: list[Path | Literal["-"]] = ["-" if path == "-" else Path(path) for path in pool]

    @cache
    def once() -> Snapshot:
        return read_pool(paths, sys.stdin.buffer if sys.stdin else None)

    read = once if "-" in pool else partial(read_pool, paths)
    return lambda: (read(), ClaimVault())


def _show(report: CycleReport, bundle: Bundle, log: AuditLog | None, *, as_json: bool) -> None:
    print_problems(report.snapshot.problems, err=True)
    if as_json:
        click.echo(json.dumps(records_by_kind(report.result), sort_keys=True))
    else:
        print_report(report, bundle)
        click.echo(f"Audit log head: {log.head}" if log else "No audit log was kept.")
