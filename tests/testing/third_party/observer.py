"""An observer: writes a summary of each cycle to the file that the bundle names."""

from pathlib import Path

import attrs

from negotiator.plugin import Section, hookimpl


@attrs.frozen
class Report:
    cycle_report: str | None = None


@hookimpl
def negotiator_section():
    return Section(schema=Report)


@hookimpl
def negotiator_cycle_ended(summary, settings, cycle):
    if settings.cycle_report:
        waiting = sum(denial.jobs for denial in summary.denials)
        line = f"cycle {cycle.number}: {len(summary.matches)} matched, {waiting} waiting\n"
        with Path(settings.cycle_report).open("a") as file:
            file.write(line)
