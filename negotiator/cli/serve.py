"""``negotiator serve``: negotiation cycles with a live pool, or over files, until it is stopped."""

from __future__ import annotations

import sys
from typing import Any

import click

from negotiator.app import web_process
from negotiator.app.runner import run_cycles
from negotiator.app.service_settings import PoolDriver, ServiceSettings
from negotiator.app.targets import bundle_folder, without_state_bundle
from negotiator.cli.event_log import open_log
from negotiator.cli.progress import ProgressLine
from negotiator.cli.run_output import LogOutput
from negotiator.cli.settings import settings_error, take_settings
from negotiator.exit_codes import ExitCode


def serve(context: click.Context, **given: Any) -> None:
    """Serve the pool of the settings.

    :raises SettingsError: the settings have errors.
    """
    settings = take_settings(context, given)
    if (error := settings_error(context, settings)) is not None:
        raise error
    if given["shadow"] and settings.pool_driver is PoolDriver.FILES:
        raise click.UsageError("--shadow observes a live pool: it cannot be used with pool_driver: files")
    _serve(settings, **given)


def _serve(
    settings: ServiceSettings,
    cycles: int | None,
    *,
    shadow: bool,
    change_bundle: bool,
    recover: bool,
    end_with_parent: bool,
    log_header: str,
    as_json: bool,
) -> None:
    if end_with_parent:
        web_process.end_with_parent()
    log = open_log(settings.log_format, settings.log_level, header=log_header)
    folder = bundle_folder(without_state_bundle(settings.targets))
    line = ProgressLine(enabled=False)
    output = LogOutput(log, folder, as_json, settings.log_level, line, lists_matches=not log_header)
    with (
        output.reporting_errors(),
        web_process.web_process(settings, lambda line: log.info("web", detail=line), output.notice),
    ):
        complete = run_cycles(
            settings.targets,
            output,
            every=settings.every,
            count=cycles,
            watch=settings.stable if settings.watch else None,
            change_bundle=change_bundle,
            recover=recover,
            driver=settings.pool_driver,
            bind=settings.bind_address,
            shadow=shadow,
            recorder=settings.recorder,
            engine=settings.engine,
        )
    sys.exit(ExitCode.DONE if complete or cycles is None else ExitCode.PLUGIN)
