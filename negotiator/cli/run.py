"""``negotiator run``: negotiation cycles over the ads of a pool."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import attrs
import click
from click.core import ParameterSource

from negotiator.activity import unwatched
from negotiator.app.recordings import keep_all
from negotiator.app.runner import run_cycles
from negotiator.app.targets import bundle_folder, without_state_bundle
from negotiator.cli.event_log import open_log
from negotiator.cli.loading import standard_input
from negotiator.cli.progress import ProgressLine
from negotiator.cli.run_output import LogOutput, RunOutput, TableOutput
from negotiator.cli.selection import Selection
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def run(
    pool: tuple[Path, ...],
    targets: CommandTargets,
    cycles: int | None,
    every: float | None,
    stable: float,
    log_format: str,
    log_level: str,
    *,
    watch: bool,
    no_audit: bool,
    change_bundle: bool,
    recover: bool,
    as_json: bool,
    trace_hooks: bool,
    full: bool,
    user: str | None,
    queue: str | None,
    job: str | None,
    record: Path | None,
    engine: str,
) -> None:
    """Run negotiation cycles over the ads in POOL; print the matches, and why other jobs were not matched."""
    targets = without_state_bundle(attrs.evolve(targets, pool=pool))
    folder = bundle_folder(targets)
    selection = Selection(full=full, user=user or "", queue=queue or "", job=job or "")
    line = ProgressLine(enabled=sys.stderr.isatty() and not trace_hooks)
    output: RunOutput = TableOutput(folder, as_json, selection, line, _details(targets))
    if every is not None:
        unwatched()
        output = LogOutput(open_log(log_format, log_level), folder, as_json, log_level, line)
    with output.reporting_errors(), line:
        complete = run_cycles(
            targets,
            output,
            every=every,
            count=cycles,
            audit=False if no_audit else _asks_for_log(targets),
            watch=stable if watch else None,
            tracer=output.hook_call if trace_hooks else None,
            stdin=standard_input(),
            change_bundle=change_bundle,
            recover=recover,
            recorder=None if record is None else keep_all(record),
            engine=engine,
        )
    sys.exit(ExitCode.DONE if complete else ExitCode.PLUGIN)


def _asks_for_log(targets: CommandTargets) -> bool | None:
    """Return True if the caller names an audit log or its key; None leaves it to the state and the bundle."""
    source = click.get_current_context().get_parameter_source("audit_log")
    return True if source is not ParameterSource.DEFAULT or targets.key_file else None


def _details(targets: CommandTargets) -> str:
    """Return the command that prints why the idle jobs of this pool get no slot; with standard input there is none but this one."""
    if any(str(path) == "-" for path in targets.pool):
        return "--full"
    named = (
        *(("--pool", path) for path in targets.pool),
        *((("--bundle", targets.bundle),) if targets.bundle else ()),
        *((("--state", targets.state),) if targets.state else ()),
    )
    return shlex.join(["negotiator", "idle", "--full", *(str(word) for each in named for word in each)])
