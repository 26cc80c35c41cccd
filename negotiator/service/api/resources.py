"""The table of resources: what ``/api/v1`` has."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from negotiator.app.administer import AdminAction
from negotiator.app.decisions import DecisionPage
from negotiator.app.token_roles import Role
from negotiator.app.why.subject import WhyKind
from negotiator.service.api import actions, cycles, pool, reports, why
from negotiator.service.api.records import (
    Action,
    ActionAnswer,
    ApplicationAction,
    AuditRecordQuery,
    AuditRecords,
    CycleList,
    CyclePlugins,
    CycleShares,
    Explanation,
    IdleJobGroups,
    IdleQuery,
    JobQuestion,
    LimitQuery,
    Limits,
    Move,
    NameQuestion,
    Plugins,
    PolicyEffects,
    RecordQuery,
    Reports,
    RequestNumber,
    ServiceStatus,
)
from negotiator.service.api.reports import REPORTS
from negotiator.service.api.resource import Page, Resource, SlowAnswers

_WITHOUT_CYCLES: Final = {HTTPStatus.NOT_FOUND: "The service has no state, or no cycle has ended yet."}
_OF_ACTION: Final = {
    HTTPStatus.ACCEPTED: "The negotiator has not answered yet; it carries out the request before its next cycle.",
    HTTPStatus.CONFLICT: "The negotiator refuses it: the message has its number and the reason.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "No negotiator runs, and the bundle has errors.",
}


def _action(path: str, summary: str, action: AdminAction, body: type[Action], role: Role) -> Resource:
    return Resource(
        method="POST",
        path=path,
        summary=summary,
        body=body,
        answers=ActionAnswer,
        answer=actions.act(action),
        role=role,
        status=actions.status_of_action,
        statuses=_OF_ACTION,
    )


RESOURCES: Final = (
    Resource(
        path="/status",
        summary="The service, and the negotiator that uses its state",
        answers=ServiceStatus,
        answer=pool.status,
    ),
    Resource(
        path="/plugins",
        summary="The plugins of the policy bundle, in the order of their calls",
        answers=Plugins,
        answer=pool.plugins,
        of_pool=True,
    ),
    Resource(
        path="/limits",
        summary="Limits of users, groups and queues, and concurrency limits, the fullest first",
        parameters=LimitQuery,
        answers=Limits,
        answer=pool.limits,
        of_pool=True,
    ),
    Resource(
        path="/policies",
        summary="What each rule did in the last cycle, and how long it did nothing",
        parameters=Page,
        answers=PolicyEffects,
        answer=cycles.policies,
        statuses=_WITHOUT_CYCLES,
    ),
    Resource(
        path="/cycles",
        summary="The last cycles, the newest first: times by station, sizes, and failures",
        parameters=Page,
        answers=CycleList,
        answer=cycles.cycles,
        statuses=_WITHOUT_CYCLES,
    ),
    Resource(
        path="/cycles/last/shares",
        summary="What each submitter or queue was entitled to in the last cycle, what it got, and why its jobs wait",
        parameters=Page,
        answers=CycleShares,
        answer=cycles.shares,
        statuses=_WITHOUT_CYCLES,
    ),
    Resource(
        path="/cycles/last/plugins",
        summary="The calls of the negotiator's plugins, their seconds and failures",
        parameters=Page,
        answers=CyclePlugins,
        answer=cycles.plugins,
        statuses=_WITHOUT_CYCLES,
    ),
    Resource(
        path="/decisions",
        summary="The decisions about a job, a user, a queue or a slot, the newest first, with their reasons",
        parameters=RecordQuery,
        answers=DecisionPage,
        answer=reports.decisions,
        slow=SlowAnswers.SEARCH,
    ),
    *(
        Resource(
            path=f"/why/{kind}",
            summary=summary,
            parameters=question,
            answers=Explanation,
            answer=why.explain(kind),
            slow=SlowAnswers.EXPLAIN,
            statuses={
                HTTPStatus.NOT_FOUND: f"The pool has no such {kind}; the message has the nearest name."
            },
        )
        for kind, question, summary in (
            (WhyKind.JOB, JobQuestion, "Why a job gets no slot, the decisive reason first"),
            (
                WhyKind.USER,
                NameQuestion,
                "Why the idle jobs of a user get no slot, with fair share and limits",
            ),
            (WhyKind.QUEUE, NameQuestion, "Why the idle jobs in a queue get no slot, with shares and limits"),
            (WhyKind.SLOT, NameQuestion, "Why a slot runs no idle job, or what it runs"),
        )
    ),
    Resource(
        path="/idle",
        summary="Why the idle jobs of the pool get no slot, by reason, user or queue",
        parameters=IdleQuery,
        answers=IdleJobGroups,
        answer=why.idle_jobs,
        slow=SlowAnswers.EXPLAIN,
    ),
    Resource(
        path="/audit",
        summary="Records of the audit log, the newest first",
        parameters=AuditRecordQuery,
        answers=AuditRecords,
        answer=reports.records,
        role=Role.QUEUE_ADMINISTRATOR,
        slow=SlowAnswers.SEARCH,
    ),
    Resource(
        path=REPORTS,
        summary="The reports that plugins make of the pool",
        answers=Reports,
        answer=reports.reports,
        of_pool=True,
    ),
    _action(
        "/applications/move",
        "Move an application to another queue",
        AdminAction.MOVE,
        Move,
        Role.QUEUE_ADMINISTRATOR,
    ),
    _action(
        "/applications/hold",
        "Exclude an application from matching; its running jobs continue",
        AdminAction.HOLD,
        ApplicationAction,
        Role.QUEUE_ADMINISTRATOR,
    ),
    _action(
        "/applications/release",
        "Admit an application, which is held, to matching again",
        AdminAction.RELEASE,
        ApplicationAction,
        Role.QUEUE_ADMINISTRATOR,
    ),
    _action(
        "/applications/kill",
        "End the jobs of an application, by the command that the bundle names",
        AdminAction.KILL,
        ApplicationAction,
        Role.QUEUE_ADMINISTRATOR,
    ),
    _action(
        "/reload",
        "Make the running negotiator reload its bundle",
        AdminAction.RELOAD,
        Action,
        Role.SCHEDULER_ADMINISTRATOR,
    ),
    Resource(
        path="/requests/{number}",
        summary="The answer to a request of an administrator",
        parameters=RequestNumber,
        answers=ActionAnswer,
        answer=actions.answer_of,
        role=Role.QUEUE_ADMINISTRATOR,
    ),
)
