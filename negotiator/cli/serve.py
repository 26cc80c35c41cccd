"""``negotiator serve``: negotiation cycles with a live pool."""

from __future__ import annotations

import sys

from negotiator.app import parent_watch
from negotiator.app.runner import run_cycles
from negotiator.app.targets import bundle_folder
from negotiator.cli.progress import ProgressLine
from negotiator.cli.run_output import LogOutput, open_log
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets


def serve(
    targets: CommandTargets,
    cycles: int | None,
    every: float | None,
    stable: float,
    log_format: str,
    log_level: str,
    *,
    watch: bool,
    shadow: bool,
    change_bundle: bool,
    recover: bool,
    end_with_parent: bool,
    as_json: bool,
) -> None:
    """Serve the live pool that the policy bundle names."""
    if end_with_parent:
        parent_watch.end_with_parent()
    line = ProgressLine(enabled=False)
    output = LogOutput(open_log(log_format, log_level), bundle_folder(targets), as_json, log_level, line)
    with output.reporting_errors():
        complete = run_cycles(
            targets,
            output,
            every=every,
            count=cycles,
            watch=stable if watch else None,
            change_bundle=change_bundle,
            recover=recover,
            live=True,
            shadow=shadow,
        )
    sys.exit(ExitCode.DONE if complete or cycles is None else ExitCode.PLUGIN)
