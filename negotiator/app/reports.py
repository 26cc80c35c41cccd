"""Use case: the reports that plugins make of a pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import attrs

from negotiator.app.order_rows import read_rows
from negotiator.app.plugins import PluginFunction
from negotiator.app.pool_view import PoolView
from negotiator.bundle import Bundle
from negotiator.errors import InvalidCallError, PluginFailureError, StateError
from negotiator.hooks import specs
from negotiator.hooks.administration import PluginUsage, StoredRows
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.reports import Report, ReportSource

T = TypeVar("T")


@attrs.frozen(eq=False)
class CollectedReport:
    """A report of a plugin, and what it collected of a pool; or the failure of that.

    ``uncounted`` are the parts of the pool that could not be counted, with the reasons.
    """

    of: Attributed[Report]
    uncounted: tuple[str, ...]
    content: Any = None
    failure: HookFailure | None = None

    @property
    def report(self) -> Report:
        """The report, as the plugin declares it."""
        return self.of.record

    def rows(self, given: Mapping[str, str]) -> list[Any]:
        """Return the rows for the values of all parameters.

        :raises InvalidCallError: a value is invalid.
        :raises PluginFailureError: the plugin failed.
        """
        return self._made(
            lambda: [_of_class(row, self.report.row) for row in self.report.rows(self.content, given)]
        )

    def text(self, media_type: str, given: Mapping[str, str]) -> str:
        """Return the report in another form; raises what ``rows`` raises."""
        return self._made(lambda: _of_class(self.report.texts[media_type](self.content, given), str))

    def _made(self, make: Callable[[], T]) -> T:
        if self.failure is not None:
            raise PluginFailureError(str(self.failure))
        return _function(self.of).answer(make)


def _declared(bundle: Bundle) -> tuple[tuple[Attributed[Report], ...], tuple[HookFailure, ...]]:
    """Return the reports of all plugins by name, and the failures of plugins; of two with one name, the first."""
    answers = bundle.hooks.ask(specs.negotiator_reports, settings=bundle.settings)
    found: dict[str, Attributed[Report]] = {}
    failures = list(answers.failures)
    for each in answers.records:
        first = found.setdefault(each.record.name, each)
        if first is not each:
            text = f"the report {each.record.name} is one of plugin {first.plugin} already"
            failures.append(HookFailure(each.plugin, each.version, specs.negotiator_reports.name, text))
    return tuple(found[name] for name in sorted(found)), tuple(failures)


def collect_reports(view: PoolView) -> tuple[tuple[CollectedReport, ...], tuple[HookFailure, ...]]:
    """Let the plugins collect what their reports need of a pool; return the reports, and the failures.

    :raises PoolError: the pool cannot be read.
    :raises StateError: the state cannot be read.
    """
    declared, failures = _declared(view.bundle)
    collected = tuple(_collect(each, view) for each in declared)
    return collected, (*failures, *(each.failure for each in collected if each.failure is not None))


def _collect(declared: Attributed[Report], view: PoolView) -> CollectedReport:
    usage = view.usage
    uncounted = tuple(map(str, usage.failures))
    source = ReportSource(
        usage=PluginUsage(
            usage.of(declared.plugin),
            view.snapshot.slots,
            usage.queues,
            uncounted,
            view.snapshot.problems,
        ),
        order_rows=lambda order: (
            StoredRows({}) if view.targets.state_location is None else read_rows(view.targets, order)
        ),
        now=view.now,
    )
    content = _function(declared).answer_or_failure(lambda: declared.record.collect(source))
    if isinstance(content, HookFailure):
        return CollectedReport(declared, uncounted, failure=content)
    return CollectedReport(declared, uncounted, content)


def _function(declared: Attributed[Report]) -> PluginFunction:
    """Return the functions of a report; they may refuse a parameter, or be refused the state."""
    report = declared.record
    subject, refusals = f"the report {report.name}", (InvalidCallError, StateError)
    return PluginFunction(declared, specs.negotiator_reports, report.collect, subject, refusals)


def _of_class(value: Any, expected: type[T]) -> T:
    if type(value) is not expected:
        raise TypeError(f"expected {expected.__name__}, got {type(value).__name__}")
    return value
