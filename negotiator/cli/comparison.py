"""Prints what differs between two decisions of some cycles, within a screen; ``negotiator diff``: what another policy bundle would decide otherwise."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs
import click

from negotiator.app.batches import CycleTask
from negotiator.app.bundle_choice import BundleChoice
from negotiator.app.diff import (
    ChangedJob,
    ComparisonTask,
    CycleComparison,
    MatchChanges,
    RuleChanges,
    RuleReason,
    ShareChange,
    compare_pool,
    comparison_values,
    merged,
)
from negotiator.app.recordings import recorded_files
from negotiator.cli.batch import Batch
from negotiator.cli.errors import print_failures
from negotiator.cli.loading import standard_input
from negotiator.cli.phrases import NO_PART, number
from negotiator.cli.render import Row, printable
from negotiator.cli.screen import ScreenTable, print_tables
from negotiator.engines.choice import EngineChoice
from negotiator.exit_codes import ExitCode
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records import CORE

#: Changed jobs of a cycle that are named.
MOST_JOBS: Final = 10_000

_CHANGES: Final = ("BEFORE", "AFTER", "GAINED", "LOST", "OTHER SLOT", "OTHER REASON")
_RECORDED: Final = Path("recorded")


@attrs.frozen(kw_only=True)
class ComparisonOptions:
    """How a comparison is made and printed: the recorded cycles, if it is not over a pool, and what ``Batch`` needs for them."""

    recorded: tuple[Path, ...]
    engine: EngineChoice
    resume: Path | None
    with_jobs: bool
    full: bool
    as_json: bool

    @property
    def most_jobs(self) -> int:
        """How many changed jobs of a cycle are named."""
        return MOST_JOBS if self.with_jobs else 0


@attrs.frozen
class ComparisonOutput:
    """Prints a comparison. ``before`` and ``after`` are texts on what was compared."""

    before: str
    after: str
    how: ComparisonOptions

    def print_recorded(self, task: CycleTask[CycleComparison]) -> None:
        """Compare recorded cycles, print the sums, and end the command."""
        batch = Batch(self.how.engine, self.how.resume)
        found = merged(each for _, each in batch.results(recorded_files(self.how.recorded), task))
        batch.end(self.print(found, batch.remark))

    def print(self, found: CycleComparison, remark: str = "") -> ExitCode:
        """Print a comparison, and return the exit code.

        :param remark: what the first line has to add.
        """
        print_failures(tuple(dict.fromkeys((*found.failures[0], *found.failures[1]))))
        if self.how.as_json:
            values = {"before": self.before, "after": self.after, **comparison_values(found)}
            click.echo(json.dumps(values, indent=2))
            return _code(found)
        total = found.total
        matches = f"{number(total.before, 'match')} before, {total.after} after"
        heading = [
            f"{number(found.cycles, 'cycle')}: {matches}; {_counts(total)}{remark}",
            printable(f"Before: {self.before}{_stops(found.stops[0])}"),
            printable(f"After:  {self.after}{_stops(found.stops[1])}"),
        ]
        tables = (
            *((_jobs_table(found),) if self.how.with_jobs else ()),
            _rules_table(found.rules),
            _changes_table("Users", "USER", found.users),
            _changes_table("Queues", "QUEUE", found.queues),
            _shares_table(found),
        )
        more = "" if self.how.with_jobs else ", --jobs"
        print_tables(tables, full=self.how.full, details=f"Details: --full{more}, --json", heading=heading)
        return _code(found)


def _code(found: CycleComparison) -> ExitCode:
    return ExitCode.PLUGIN if any(found.failures) else ExitCode.DONE


def _counts(total: MatchChanges) -> str:
    return (
        f"{total.gained} gained, {total.lost} lost, {total.moved} on another slot,"
        f" {total.reason} wait for another reason"
    )


def _stops(count: int) -> str:
    return f"; {number(count, 'time limit')} reached" if count else ""


def _changes_table(title: str, header: str, changes: Mapping[str, MatchChanges]) -> ScreenTable:
    found = sorted(changes.items(), key=lambda item: (-item[1].changed, item[0]))
    rows = [_changes_row(name, each) for name, each in found if each.changed]
    return ScreenTable(title, (header, *_CHANGES), rows, right=range(1, 7))


def _changes_row(name: str, changes: MatchChanges) -> Row:
    counts = (
        changes.before,
        changes.after,
        changes.gained,
        changes.lost,
        changes.moved,
        changes.reason,
    )
    return printable(name) or NO_PART, *map(str, counts)


def _rules_table(rules: Sequence[RuleChanges]) -> ScreenTable:
    ordered = sorted(rules, key=lambda each: (-each.jobs, _rule(each.rule)))
    rows = [
        (*map(str, (each.lost, each.gained, each.denies, each.denied)), *_rule_cells(each.rule))
        for each in ordered
    ]
    headers = ("LOST", "GAINED", "WAIT NOW", "NO LONGER", "RULE", "REASON")
    return ScreenTable("Rules that made the difference", headers, rows, right=range(4))


def _rule(rule: RuleReason | None) -> str:
    if rule is None:
        return NO_PART
    if rule.plugin == CORE:
        return CORE
    where = f" ({rule.source})" if rule.source else ""
    return f"{rule.plugin}: {rule.rule}{where}"


def _rule_cells(rule: RuleReason | None) -> tuple[str, str]:
    text = "the jobs are in one of the two cycles only" if rule is None else rule.text
    return printable(_rule(rule)), printable(text)


def _shares_table(found: CycleComparison) -> ScreenTable:
    changed = sorted(filter(_is_changed, found.shares), key=lambda each: (-_difference(each), each.holder))
    rows = [_share_row(each, found.cycles) for each in changed]
    headers = ("HOLDER", "ENTITLED", "AFTER", "USED", "AFTER", "MATCHES", "AFTER", "UNIT")
    mean = " (mean of the cycles)" if found.cycles > 1 else ""
    return ScreenTable(f"Shares{mean}", headers, rows, right=range(1, 7))


def _is_changed(share: ShareChange) -> bool:
    return share.before != share.after


def _difference(share: ShareChange) -> float:
    return abs(share.after.used - share.before.used)


def _share_row(share: ShareChange, cycles: int) -> Row:
    before, after = share.before, share.after
    values = (before.entitled, after.entitled, before.used, after.used)
    means = (f"{each / cycles:.1f}" for each in values)
    return printable(share.holder), *means, str(before.granted), str(after.granted), share.unit


def _jobs_table(found: CycleComparison) -> ScreenTable:
    rows = [_job_row(each) for each in found.jobs]
    left = f" (and {number(found.jobs_left_out, 'more job')})" if found.jobs_left_out else ""
    headers = ("CYCLE", "JOB", "USER", "CHANGE", "BEFORE", "AFTER")
    return ScreenTable(f"Changed jobs{left}", headers, rows, right=(0,), noun="job")


def _job_row(job: ChangedJob) -> Row:
    before = job.before or _reason(job.denied)
    after = job.after or _reason(job.denies)
    return str(job.cycle), printable(job.job), printable(job.user), str(job.kind), before, after


def _reason(rule: RuleReason | None) -> str:
    """Return the rule that denies a job; of the core its sentence, which names a part of the job."""
    if rule is not None and rule.plugin == CORE:
        return printable(rule.text)
    return printable(_rule(rule))


def diff(old: Path, new: Path, targets: CommandTargets, how: ComparisonOptions) -> None:
    """Compare what two bundles decide."""
    if old == _RECORDED and not how.recorded:
        raise click.UsageError("OLD is recorded: name the recorded cycles by --recorded PATH")
    after = BundleChoice.of_folder(attrs.evolve(targets, bundle=new))
    before = None if old == _RECORDED else BundleChoice.of_folder(attrs.evolve(targets, bundle=old))
    output = ComparisonOutput(
        before="the decisions in the recordings" if before is None else described(before),
        after=described(after),
        how=how,
    )
    if how.recorded:
        output.print_recorded(ComparisonTask(before, after, how.most_jobs))
    elif before is not None:
        found = compare_pool(targets, before, after, how.most_jobs, standard_input())
        sys.exit(output.print(found))


def described(choice: BundleChoice) -> str:
    """Return the folder and the digest of a bundle."""
    return f"{choice.targets.bundle}, sha256 {choice.digest[:12]}"
