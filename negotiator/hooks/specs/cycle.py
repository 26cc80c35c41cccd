"""The hooks that decide in a cycle: access and groups, gates, filters, scores and charges. A failure denies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from negotiator.hooks import checks
from negotiator.hooks.hook import AnswerShape, OnFailure, deferred, hookspec

if TYPE_CHECKING:
    from negotiator.classad import Table
    from negotiator.hooks.access import Access, AccessQuestion, UserGroups
    from negotiator.hooks.ad_kinds import AdKind
    from negotiator.hooks.charges import Charge, KeyCharge
    from negotiator.hooks.placement import PlacedApplication
    from negotiator.hooks.records import Cycle, Filter, Gate, Request, Score
    from negotiator.queues import QueueTree


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
    applications: Sequence[PlacedApplication], queues: QueueTree, settings: Any, policy: Any = None
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
    :param policy: what ``negotiator_policy`` of this plugin returned.
    :return: a group for each application, in their order; an empty string for no group.
    """


@hookspec("Gate", check=deferred(lambda: checks.checked_gate), on_failure=OnFailure.DENY, batch="ads")
def negotiator_gate_ads(  # type: ignore[empty-body]
    kind: AdKind, ads: Table, settings: Any, cycle: Cycle, policy: Any = None
) -> Iterable[Gate]:
    """Decide which ads are discarded before matching.

    Called once a cycle for each kind of ads (schedd, submitter, startd, job), with all of them; once more with the
    running jobs and with their slots, as if they were idle and free, to find what it would deny that runs. If an
    implementation fails, no ad of that kind is admitted (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_gate_ads(kind, ads, cycle):
            if kind is AdKind.STARTD:
                stale = cycle.now - ads.numbers("LastHeardFrom", default=0) > 900
                yield Gate(rule="stale", discard=stale, code="stale", text="not heard from for 15 minutes")

    :param kind: the kind of the ads.
    :param ads: all ads of that kind, a row each; of those that run, as if they were matched now.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    :param policy: what ``negotiator_policy`` of this plugin returned.
    :return: the gates, each with a mask over the rows of ``ads``. ``outside`` marks slots that are not of this negotiator's pool.
    """


@hookspec(
    "Filter",
    check=deferred(lambda: checks.checked_filter),
    on_failure=OnFailure.DENY,
    batch="slots",
    may_be_unused=True,
)
def negotiator_filter_slots(  # type: ignore[empty-body]
    request: Request, slots: Table, settings: Any, cycle: Cycle, policy: Any = None
) -> Iterable[Filter]:
    """Decide which slots a request may be matched with.

    Called with all admitted slots, once for all requests of a cycle that are alike: equal in the fields of ``request`` that the call
    reads, and in the job attributes that the plugin declared. A call that reads ``count``, ``first_job`` or ``applications`` is for
    one request alone. Called also for equal jobs that run, with their own slots as if these were free, to find what it would
    deny that runs. If an implementation fails, the request gets no match in this cycle (``plugin_error``).

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
    :param policy: what the object that ``negotiator_policy`` of this plugin returned has made of these slots.
    :return: the filters, each with a mask over the rows of ``slots``.
    """


@hookspec(
    "Score",
    check=deferred(lambda: checks.checked_score),
    on_failure=OnFailure.DENY,
    batch="slots",
    may_be_unused=True,
)
def negotiator_score_slots(  # type: ignore[empty-body]
    request: Request, slots: Table, settings: Any, cycle: Cycle, policy: Any = None
) -> Iterable[Score]:
    """Score the slots that a request may get: which are better than others.

    Called once for each request (equal jobs, not one job), with all admitted slots. Scores sort slots before every rank of
    the pool and of the job; slots of equal score fall to these ranks. Several scores are compared one after the other, in the
    bundle's order of plugins, never summed. A score never ends a job: free slots come before those whose job the match
    would end. If an implementation fails, the request gets no match in this cycle (``plugin_error``).

    Example::

        @hookimpl
        def negotiator_score_slots(slots):
            yield Score("few-gpus-first", -slots.numbers("GPUs", default=0))

    :param request: the equal jobs.
    :param slots: all admitted slots, a row each.
    :param settings: this plugin's part of the bundle.
    :param cycle: number and time of the cycle, digest of the bundle.
    :param policy: what the object that ``negotiator_policy`` of this plugin returned has made of these slots.
    :return: the scores, each with a number for each row of ``slots``.
    """


@hookspec(
    "Charge",
    check=deferred(lambda: checks.checked_charge),
    on_failure=OnFailure.DENY,
    batch="slots",
    may_be_unused=True,
)
def negotiator_charges(  # type: ignore[empty-body]
    request: Request,
    slots: Table,
    queues: QueueTree,
    settings: Any,
    cycle: Cycle,
    order: str,
    policy: Any = None,
) -> Iterable[Charge | KeyCharge]:
    """Declare the charges of each match of a request: counters, amounts and limits.

    Called once for alike requests, as ``negotiator_filter_slots`` is, and once for equal running jobs when the counters are rebuilt
    at the start of a cycle. Requests stay alike if ``request.applications`` is passed on as the keys of a ``KeyCharge``, and what
    they ask for is charged by ``RequestedCharge.of``; reading an amount of ``request.resources`` tells them apart by it.
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
    :param policy: what the object that ``negotiator_policy`` of this plugin returned has made of these slots.
    :return: the charges, each with a ``Quota`` as its label.
    """
