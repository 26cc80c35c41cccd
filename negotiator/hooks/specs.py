"""The plugin contract: every hook, its arguments, its records, and the effect of a failure.

A plugin is a module (or an object) with functions of these names, marked with ``negotiator.plugin.hookimpl``. A function
may leave out arguments that it does not need. Implementations are called in the order in which the bundle lists the
plugins (``plugins: order:``), then by plugin name, each by itself: the answer of one plugin never hides that of another.

``settings`` is the plugin's own part of the bundle (an instance of its ``Section.schema``), or None if it declared none.
All arguments of a hook are read-only.

A new hook is one declaration here and one section in ``docs/hooks.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.hooks import checks
from negotiator.hooks.checks import declarations
from negotiator.hooks.hook import AnswerShape, OnFailure, deferred, hookspec

if TYPE_CHECKING:
    import click

    from negotiator.classad import Table
    from negotiator.hooks.access import Access, AccessQuestion, QueueNotice, UserGroups
    from negotiator.hooks.ad_kinds import AdKind
    from negotiator.hooks.charges import Charge, CounterUsage, KeyCharge
    from negotiator.hooks.declarations import Constraint, Section
    from negotiator.hooks.order_type import RequestOrderType
    from negotiator.hooks.placement import PlacedApplication, PlacementRule
    from negotiator.hooks.pool_source import PoolSource
    from negotiator.hooks.records import Cycle, Filter, Gate, Match, Request
    from negotiator.hooks.reports import Report
    from negotiator.hooks.summary import CycleSummary
    from negotiator.queues import QueueTree


@hookspec(
    "Section", check=declarations.checked_section, shape=AnswerShape.ONE, on_failure=OnFailure.REFUSE_BUNDLE
)
def negotiator_section() -> Section:  # type: ignore[empty-body]
    """Declare the part of ``pool.yaml`` that this plugin owns.

    Called once when a bundle is loaded, before anything of it is used. A failure refuses the bundle.

    Example::

        @attrs.frozen
        class Maintenance:
            maintenance_calendar: Path

        @hookimpl
        def negotiator_section():
            return Section(schema=Maintenance)

    :return: one section; its keys must not belong to another plugin.
    """


@hookspec("click.Command", check=declarations.checked_command, on_failure=OnFailure.REPORT)
def negotiator_commands() -> Iterable[click.Command]:  # type: ignore[empty-body]
    """Add commands to the ``negotiator`` program.

    Called once at start, of installed plugins. A failure is reported, and the program goes on without the plugin's commands.

    Example::

        @hookimpl
        def negotiator_commands():
            yield show_calendar  # a click.Command

    :return: the commands; a name that is already used is refused.
    """


@hookspec("Constraint", check=declarations.checked_constraint, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_constraints(settings: Any) -> Iterable[Constraint]:  # type: ignore[empty-body]
    """Return the expressions that are ANDed to the Requirements of slots and jobs.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_constraints(settings):
            yield Constraint(
                rule="no-gpu-waste",
                side=ConstraintSide.JOB,
                expression=parse("(TARGET.GPUs ?: 0) == 0 || MY.RequestGPUs > 0"),
                text="slots with GPUs are for jobs that request GPUs",
            )

    :param settings: this plugin's part of the bundle.
    :return: the constraints, in the order in which they are to be counted.
    """


@hookspec("attribute names", check=declarations.checked_attribute, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_job_attributes(settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the job attributes that this plugin reads in ``negotiator_filter_slots`` and ``negotiator_charges``.

    Jobs that are equal in these (and in all attributes that expressions refer to) are one request, and policies are
    called once for it. A plugin that filters slots or charges and does not implement this hook switches that off: every
    job is then a request of its own.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_job_attributes():
            return ["Owner", "JobUniverse"]

    :param settings: this plugin's part of the bundle.
    :return: attribute names; an empty list means that no job attribute is read.
    """


@hookspec("attribute names", check=declarations.checked_attribute, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_gate_attributes(settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the job attributes that this plugin reads in ``negotiator_gate_ads``.

    The schedds of a live pool offer jobs that are equal in all significant attributes as one. A plugin with gates that does
    not implement this hook makes every job a request of its own there. For pools of files the hook has no effect.

    Called once when a bundle is loaded. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_gate_attributes():
            return ["Project"]

    :param settings: this plugin's part of the bundle.
    :return: attribute names; an empty list means that no attribute of jobs is read.
    """


@hookspec("hook names", check=declarations.checked_hook_name, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_unused_hooks(queues: QueueTree, settings: Any) -> Iterable[str]:  # type: ignore[empty-body]
    """Name the hooks of this plugin that have nothing to do under the bundle, so that no cycle calls them.

    A hook may be named if each answer of it would be empty, for any request: ``negotiator_filter_slots`` and
    ``negotiator_charges``. Do not name a hook whose charges have no limit but are reported as usage.

    Called once when a bundle is loaded. A cycle whose queues differ from those of the bundle, since one still drains or
    has the settings of a template, calls ``negotiator_charges`` all the same. A failure refuses the bundle.

    Example::

        @hookimpl
        def negotiator_unused_hooks(queues):
            if not any(queue.config.max for queue in queues):
                yield "negotiator_charges"

    :param queues: the queues as the bundle configures them.
    :param settings: this plugin's part of the bundle.
    :return: names of hooks that this plugin implements; an empty list means that all are called.
    """


@hookspec("PlacementRule", check=declarations.checked_placement_rule, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_placement_rules() -> Iterable[PlacementRule]:  # type: ignore[empty-body]
    """Add types of placement rules, for use in ``placementrules:`` of ``queues.yaml``.

    Called once when a bundle is loaded. A failure refuses the bundle. The core does what all rules have in common:
    filter, parent rule, ``create``, invalid names, and the access of the user to the queue.

    Example::

        def by_project(application, rule):
            project = application.tags.get("project")
            return QueueTarget.child(project) if project else None

        @hookimpl
        def negotiator_placement_rules():
            yield PlacementRule(name="project", target=by_project, tags=lambda value: ["Project"])

    :return: the types; a name that is already used is refused.
    """


@hookspec("RequestOrderType", check=declarations.checked_order, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_orders() -> Iterable[RequestOrderType]:  # type: ignore[empty-body]
    """Add ways to decide whose turn it is, for the key ``order:`` of ``pool.yaml``.

    Called once when a bundle is loaded. A failure refuses the bundle. In each cycle ``make`` is called with an
    ``OrderContext``, and returns an allocator: ``next`` returns the request of the next turn, ``feedback`` gets its outcome.

    Example::

        class LastFirst(RequestOrder):
            def __init__(self, settings, control):
                self.left = list(context.requests)

            def next(self):
                return self.left.pop() if self.left else None

            def feedback(self, feedback):
                pass

        @hookimpl
        def negotiator_orders():
            yield RequestOrderType(name="last_first", make=LastFirst)

    :return: the ways; a name that is already used is refused.
    """


@hookspec("PoolSource", check=declarations.checked_pool_source, on_failure=OnFailure.REFUSE_BUNDLE)
def negotiator_pool_sources() -> Iterable[PoolSource]:  # type: ignore[empty-body]
    """Add types of live pools, for the key ``source:`` of ``pool.yaml`` and ``negotiator serve``.

    Called once when a bundle is loaded. A failure refuses the bundle. ``open`` returns a ``LivePool``, whose ``fetch``,
    ``deliver`` and ``cycle_ended`` are called in each cycle: if ``fetch`` raises an exception there is no cycle, if ``deliver``
    does, it is unknown who has the matches, and they stay charged until ``claim_timeout``.

    Example::

        class Spool(LivePool):
            def __init__(self, settings, control):
                self.folder = Path("/var/spool/pool")

            def fetch(self, ads):
                for file in sorted(self.folder.glob("*.ads")):
                    ads.add(file.name, [file.read_text()])

            def deliver(self, decisions):
                for match in decisions.matches:
                    (self.folder / f"{match.id}.match").write_text(f"{match.job} {match.slot}")
                    yield Delivery(match, DeliveryStatus.DELIVERED)

        @hookimpl
        def negotiator_pool_sources():
            yield PoolSource(name="spool", open=Spool)

    :return: the types; a name that is already used is refused.
    """


@hookspec(
    "Access",
    check=deferred(lambda: checks.checked_access),
    shape=AnswerShape.ONE_EACH,
    on_failure=OnFailure.DENY,
    batch="questions",
)
def negotiator_access(  # type: ignore[empty-body]
    questions: Sequence[AccessQuestion], queues: QueueTree, settings: Any
) -> Iterable[Access]:
    """Decide who may submit to a queue, administer it, or configure the scheduler or its queues.

    Called once with all questions of a cycle. Access is granted if one policy grants it and none forbids it. If an
    implementation fails, all questions of the call are denied (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_access(questions):
            for question in questions:
                if question.user in SUSPENDED:
                    yield Access(AccessDecision.FORBID, "suspended", f"{question.user} is suspended")
                else:
                    yield Access(AccessDecision.ABSTAIN, "suspended", "not suspended")

    :param questions: the questions, each once.
    :param queues: the queues at present, with their access control lists.
    :param settings: this plugin's part of the bundle.
    :return: an answer for each question, in their order.
    """


@hookspec(
    "UserGroups",
    check=deferred(lambda: checks.checked_user_groups),
    on_failure=OnFailure.DENY,
    batch="users",
)
def negotiator_user_groups(users: Sequence[str], settings: Any, now: float) -> Iterable[UserGroups]:  # type: ignore[empty-body]
    """Return the groups of users.

    Called before a cycle, never in it, with users for whom no job names the groups: here a plugin may read files and
    query servers. The first plugin that knows a user decides. If an implementation fails, new applications of the users
    that no other plugin before it knows are rejected (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_user_groups(users):
            for user in users:
                if user in DIRECTORY:
                    yield UserGroups(user, DIRECTORY[user])

    :param users: the names of the users, each once.
    :param settings: this plugin's part of the bundle.
    :param now: seconds since the epoch, to compute the age of cached answers.
    :return: the groups of the users that this plugin knows.
    """


@hookspec(
    "group",
    check=deferred(lambda: checks.checked_group),
    shape=AnswerShape.ONE_EACH,
    on_failure=OnFailure.DENY,
    batch="applications",
)
def negotiator_application_groups(  # type: ignore[empty-body]
    applications: Sequence[PlacedApplication], queues: QueueTree, settings: Any
) -> Iterable[str]:
    """Choose the group that each application counts for.

    Called in each cycle for each table of jobs: with the new applications that rules have placed, and with those placed
    before, whose present group is in ``group``: return it unless the configuration no longer has it. The first plugin that
    names a group decides. Where an implementation fails, new applications are rejected (``plugin_error``), and the others
    keep their groups.

    Example::

        @hookimpl
        def negotiator_application_groups(applications):
            for application in applications:
                yield application.group or next(iter(application.groups), "")

    :param applications: the placed applications, each with the groups of its user and its queue.
    :param queues: the queues with those that rules have just created.
    :param settings: this plugin's part of the bundle.
    :return: a group for each application, in their order; an empty string for no group.
    """


@hookspec("Gate", check=deferred(lambda: checks.checked_gate), on_failure=OnFailure.DENY, batch="ads")
def negotiator_gate_ads(kind: AdKind, ads: Table, settings: Any, cycle: Cycle) -> Iterable[Gate]:  # type: ignore[empty-body]
    """Decide which ads are discarded before matching.

    Called once a cycle for each kind of ads (schedd, submitter, startd, job), with all of them. If an
    implementation fails, no ad of that kind is admitted (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_gate_ads(kind, ads, cycle):
            if kind is AdKind.STARTD:
                stale = cycle.now - ads.numbers("LastHeardFrom", default=0) > 900
                yield Gate(rule="stale", discard=stale, code="stale", text="not heard from for 15 minutes")

    :param kind: the kind of the ads.
    :param ads: all ads of that kind, a row each.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    :return: the gates, each with a mask over the rows of ``ads``.
    """


@hookspec(
    "Filter",
    check=deferred(lambda: checks.checked_filter),
    on_failure=OnFailure.DENY,
    batch="slots",
    may_be_unused=True,
)
def negotiator_filter_slots(request: Request, slots: Table, settings: Any, cycle: Cycle) -> Iterable[Filter]:  # type: ignore[empty-body]
    """Decide which slots a request may be matched with.

    Called once for each request (equal jobs, not one job), with all admitted slots. If an implementation fails, the
    request gets no match in this cycle (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_filter_slots(request, slots):
            names = slots.strings("Machine")
            yield Filter(rule="maintenance", allow=~np.isin(names, DOWN), code="maintenance",
                         text="the machine is under maintenance")

    :param request: the equal jobs.
    :param slots: all admitted slots, a row each.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    :return: the filters, each with a mask over the rows of ``slots``.
    """


@hookspec(
    "Charge",
    check=deferred(lambda: checks.checked_charge),
    on_failure=OnFailure.DENY,
    batch="slots",
    may_be_unused=True,
)
def negotiator_charges(  # type: ignore[empty-body]
    request: Request, slots: Table, queues: QueueTree, settings: Any, cycle: Cycle, order: str
) -> Iterable[Charge | KeyCharge]:
    """Declare the charges of each match of a request: counters, amounts and limits.

    Called once for each request, and once for equal running jobs when the counters are rebuilt at the start of a cycle.
    The core makes a match only if all charges of all plugins fit, all or none. It records which charge refused a match,
    and releases charges of matches that ended. Counters are a plugin's own: others can't charge them. If an implementation fails, the
    request gets no match in this cycle (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_charges(request, slots):
            hosts = slots.strings("Machine")
            names, codes = np.unique(hosts.astype(str), return_inverse=True)
            yield Charge(
                counter=Grouping(codes, Family(("jobs on host",), names.tolist())),
                amount=1,
                limit=10,
                label=Quota(rule="ten-a-host", text="jobs on one host"),
            )

    :param request: the idle jobs; the running ones when counters are rebuilt.
    :param slots: the slots, a row each: the admitted ones, or all when counters are rebuilt.
    :param queues: the queues as they are now, with their configuration.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    :param order: the name of the order of requests (``order:`` of pool.yaml).
    :return: the charges, each with a ``Quota`` as its label.
    """


@hookspec(
    "dict",
    check=deferred(lambda: checks.checked_entry),
    on_failure=OnFailure.REPORT,
    own=("settings", "used"),
)
def negotiator_usage(  # type: ignore[empty-body]
    report: str, used: CounterUsage, queues: QueueTree, settings: Any
) -> Iterable[Mapping[str, Any]]:
    """Report the usage of the limits of this plugin.

    Called by ``negotiator usage``. A failure is reported.

    Example::

        @hookimpl
        def negotiator_usage(report, used):
            if report == "hosts":
                for (_, host), count in used.sums.items():
                    yield {"host": host, "jobs": count}

    :param report: the name of the report: ``users``, ``groups``, or any other name that a plugin knows.
    :param used: the amounts on this plugin's counters.
    :param queues: the queues as they are now, with their configuration.
    :param settings: this plugin's part of the bundle.
    :return: the entries, as values that JSON has; none for an unknown report.
    """


@hookspec("Report", check=deferred(lambda: checks.checked_report), on_failure=OnFailure.REPORT)
def negotiator_reports(settings: Any) -> Iterable[Report]:  # type: ignore[empty-body]
    """Bring reports about a pool, which the HTTP interface serves at ``/api/v1/reports/NAME``.

    Called when the pool was read, and when the interface is described. A failure is reported.

    Example::

        @attrs.frozen
        class HostJobs:
            host: str
            jobs: int

        def collect(source):
            return [HostJobs(host, jobs) for (_, host), jobs in source.usage.counters.sums.items()]

        @hookimpl
        def negotiator_reports():
            yield Report(name="host-jobs", summary="Jobs on each machine", row=HostJobs, collect=collect,
                         rows=lambda found, given: found)

    :param settings: this plugin's part of the bundle.
    :return: the reports; a name that is already used is refused.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT, batch="matches")
def negotiator_matches_made(matches: Sequence[Match], settings: Any, cycle: Cycle) -> None:
    """Observe the matches that were delivered.

    Called once a cycle, after the matches are in the audit log and were delivered. A failure is reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_matches_made(matches):
            for match in matches:
                print(match.job, match.slot)

    :param matches: all matches of the cycle that were delivered.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT)
def negotiator_cycle_ended(summary: CycleSummary, settings: Any, cycle: Cycle) -> None:
    """Observe the whole result of a cycle: matches, denials with their reasons, discarded ads, failures and timings.

    Called once a cycle, after its outcome is in the audit log. A failure is reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_cycle_ended(summary):
            waiting = sum(denial.jobs for denial in summary.denials)
            print(f"{len(summary.matches)} matched, {waiting} waiting")

    :param summary: the result of the cycle.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """


@hookspec(shape=AnswerShape.NOTHING, on_failure=OnFailure.REPORT, batch="changes")
def negotiator_queues_changed(changes: Sequence[QueueNotice], settings: Any, cycle: Cycle) -> None:
    """Observe changes of queues, and the queues that are still draining, to notify administrators and owners.

    Called once a cycle, after it was recorded, if there are any. A failure is reported, and nothing else changes.

    Example::

        @hookimpl
        def negotiator_queues_changed(changes, cycle):
            for notice in changes:
                if notice.change == "draining":
                    days = (cycle.now - notice.since) / 86400
                    mail(notice.owners, f"{notice.queue} is closing, since {days:.0f} days: move your jobs")

    :param changes: the changes since the last cycle, and every queue that is draining.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    """
