"""Use case: all problems of a policy bundle, those of its expressions included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import attrs

from negotiator.app.lint_bundle import lint_bundle
from negotiator.app.lint_resources import lint_resources
from negotiator.app.targets import current_time, examine
from negotiator.bundle import Bundle, BundleCheck
from negotiator.bundle.folder import MAIN
from negotiator.bundle.loader import in_order
from negotiator.bundle.pool_configuration import AskPool
from negotiator.bundle.reuse import ReusePlan
from negotiator.classad import bind, evaluate_table, parse
from negotiator.cycle.claim_reuse import ReuseReport as ReuseReport
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.overruns import OverrunAction
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from negotiator.pool import Snapshot

_CUT_SHORT: Final = bind(
    parse("MY.MaxJobRetirementTime > 0 && MY.MachineMaxVacateTime >= MY.MaxJobRetirementTime")
)


def check_bundle(
    targets: CommandTargets,
    pool: Snapshot | None = None,
    *,
    list_ignored: bool = False,
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
) -> BundleCheck:
    """Check the bundle and lint its expressions; with a pool, also against the pool's ads.

    The problems are in the order of their places. With an error, also of the lint, there is no bundle in the result.

    :param list_ignored: report each setting of HTCondor without effect, beside their summary.
    :param extra_plugins: further plugins by name, as modules or objects.
    """
    examination = examine(targets, extra_plugins=extra_plugins, ask_pool=AskPool.CHECK)
    now = current_time(targets)
    found = lint_bundle(examination, pool, now)
    if examination.bundle is not None:
        found = (*found, *lint_resources(examination.bundle, pool, now))
    if pool is not None and examination.bundle is not None:
        from negotiator.app.lint_accounting import lint_accounting

        found = (*found, *lint_accounting(examination.bundle, pool), *_retirement(examination.bundle, pool))
        lines = {(each.source.file, each.source.line) for each in examination.problems}
        found = (
            *found,
            *(each for each in examination.unset if (each.source.file, each.source.line) not in lines),
        )
    if list_ignored:
        found = (*found, *examination.ignored)
    if any(problem.severity is Severity.ERROR for problem in found):
        examination = attrs.evolve(examination, bundle=None)
    return attrs.evolve(examination, problems=in_order((*examination.problems, *found)))


def _retirement(bundle: Bundle, pool: Snapshot) -> Iterator[Problem]:
    """Find slots whose startds grant an ended job no retirement, though they are configured to.

    Source: ``Resource::retirementExpired`` (``condor_startd.V6``): what is left of a job's retirement counts only beyond the
    time in which the machine may be vacated.
    """
    if OverrunAction.VACATE not in {
        bundle.overruns.action,
        *(each.record.overruns for each in bundle.constraints),
    }:
        return
    cut_short = evaluate_table(_CUT_SHORT, pool.slots).is_true()
    if cut_short.any():
        name = pool.slots.strings("Name")[int(cut_short.argmax())]
        count = int(cut_short.sum())
        message = (
            f"{name}{f' and {count - 1} more' if count > 1 else ''}: a job that overruns: vacate ends gets no retirement,"
            " since MACHINEMAXVACATETIME is not less than MAXJOBRETIREMENTTIME"
        )
        hint = "set MACHINEMAXVACATETIME of their startds to less"
        yield Problem(Severity.WARNING, Source(MAIN), message, hint)


def claim_reuse(bundle: Bundle, pool: Snapshot | None) -> ReuseReport:
    """Return which rules further jobs of a claim may break in a pool; without one what is known from the bundle alone."""
    plan = ReusePlan.of(bundle)
    return ReuseReport.of_bundle(plan) if pool is None else ReuseReport.of(plan, pool)
