"""Carries out requests of administrators, after checking their access.

An administrator of a queue (``adminacl``) may move applications out of it, hold, release and kill them; users may kill
their own. An administrator of the scheduler may change the configuration, and what an order remembers, such as accounts.

Jobs are killed by the command that the bundle names: it runs without a shell, with a deadline, in a process group of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

from negotiator.bundle.model import Bundle
from negotiator.bundle.site_commands import KillSettings
from negotiator.classad.syntax import fold
from negotiator.errors import CommandError, PluginFailureError
from negotiator.hooks.access import Access, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed
from negotiator.hooks.failures import describe_error
from negotiator.hooks.fields import check_exactly
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.hooks.order import OrderRows
from negotiator.hooks.order_type import RequestOrderType, RowsChange
from negotiator.placement import AccessCache
from negotiator.placement.chain import is_granted
from negotiator.queues import ROOT
from negotiator.queues.applications import ApplicationHold, RegisteredApplication
from negotiator.records.text import printable
from negotiator.runtime.reload import Reload
from negotiator.runtime.site_command import SiteCommand
from negotiator.runtime.state import AdminAction, AdminAnswer, AdminRequest
from negotiator.runtime.state_manager import StateManager

#: A name that means nothing else in an argument, nor in an expression. It comes from ads.
_SCHEDD = re.compile(r"[a-z0-9_][a-z0-9_.@:-]*", re.ASCII)
NOT_CONFIGURED = (
    "applications of this pool can't be killed: no command is configured (kill: command: in pool.yaml); "
    "hold it to keep further jobs from starting"
)
_SHADOW: Final = "nothing is killed in shadow mode: another negotiator serves the pool"
#: The rule by which users kill their own applications.
_OWNER = "owner"
#: The rights of which one is needed for an action on the configuration.
_OF_CONFIGURATION = {
    AdminAction.RELOAD: (AccessKind.CONFIGURE, AccessKind.CONFIGURE_QUEUES),
    AdminAction.CHANGE: (AccessKind.CONFIGURE,),
    AdminAction.CHANGE_QUEUES: (AccessKind.CONFIGURE_QUEUES,),
    AdminAction.CHANGE_ORDER: (AccessKind.CONFIGURE,),
}
MAX_ERRORS = 10  # of a rejected bundle in an answer
MAX_ERROR = 500  # characters of one of them


@attrs.frozen
class Kill:
    """A permitted kill of the applications of a cluster, to be carried out once it is recorded."""

    name: str
    words: tuple[str, ...]
    content: bytes
    seconds: float

    def run(self) -> AdminAnswer:
        """Run the command, and wait for it until its deadline."""
        failure = SiteCommand.start(self.words, self.content, self.seconds).wait()
        if failure:
            return AdminAnswer(
                ok=False, text=f"{self.name} was perhaps not killed: {self.words[0]}: {failure}"
            )
        return AdminAnswer(ok=True, text=f"{self.name} is killed")


def plan_kill(
    request: AdminRequest, found: tuple[RegisteredApplication, ...], settings: KillSettings
) -> Kill | AdminAnswer:
    """Return the command for a cluster with all of its applications, or the reason why there is none."""
    if not settings.command:
        return AdminAnswer(ok=False, text=NOT_CONFIGURED)
    schedd, cluster = found[0].id.schedd, str(found[0].id.cluster)
    words = tuple(
        word.replace("{schedd}", schedd).replace("{cluster}", cluster) for word in settings.command[1:]
    )
    if _SCHEDD.fullmatch(schedd) is None and any("{schedd}" in word for word in settings.command):
        return AdminAnswer(
            ok=False, text=f"{found[0].id} can't be killed: the name of its schedd is missing or unusual"
        )
    content = {
        "action": "kill",
        "application": str(found[0].id),
        "schedd": schedd,
        "cluster": found[0].id.cluster,
        "users": sorted(entry.id.user for entry in found),
        "requested_by": request.by,
        "note": request.note,
    }
    return Kill(
        str(found[0].id), (settings.command[0], *words), json.dumps(content).encode(), settings.seconds
    )


@attrs.frozen
class AdminResult:
    """A request and its answer; ``by_rule`` is the access rule that decided.

    With ``kill``, the request is permitted, and is to be carried out once that is recorded.
    """

    request: AdminRequest
    answer: AdminAnswer
    by_rule: str
    kill: Kill | None = None

    def killed(self, *, is_shadow: bool = False) -> AdminResult:
        """Return the result after the kill was carried out; in shadow mode it is refused."""
        if self.kill is None:
            return self
        if is_shadow:
            return attrs.evolve(self, answer=AdminAnswer(ok=False, text=_SHADOW), kill=None)
        return attrs.evolve(self, answer=self.kill.run(), kill=None)


def perform(request: AdminRequest, state_manager: StateManager, now: float) -> AdminResult:
    """Carry out a request if the access policy grants it. The caller records the result and saves the state."""
    access = AccessCache(state_manager.bundle.hooks, state_manager.bundle.settings, state_manager.queues)
    if request.action in _OF_CONFIGURATION:
        decided = _configures(request, access)
        if request.action is AdminAction.CHANGE_ORDER and is_granted(decided):
            return _result(request, decided, change_order(request, state_manager, now))
        return _result(request, decided, reload_answer(request, None))
    found = _find(request.application, state_manager, held=request.action is AdminAction.RELEASE)
    if not found:
        text = f"unknown application {request.application}: write schedd#cluster, once a cycle has placed it"
        return AdminResult(request, AdminAnswer(ok=False, text=text), "")
    if len({entry.id.schedd for entry in found}) > 1:
        names = ", ".join(str(entry.id) for entry in found[:5])
        return AdminResult(
            request, AdminAnswer(ok=False, text=f"{request.application} is ambiguous: {names}"), ""
        )
    others = _of_others(request, found)
    if not others:
        return _to_kill(request, found, state_manager, _OWNER)
    decided = _administers(request, others[0].queue, access)
    refused = next(
        (
            each
            for each in (_administers(request, entry.queue, access) for entry in others)
            if not is_granted(each)
        ),
        None,
    )
    if refused is not None:
        return _result(request, refused, AdminAnswer(ok=True, text=""))
    if request.action is AdminAction.KILL:
        return _to_kill(request, found, state_manager, decided.record.rule)
    return _result(request, decided, _carry_out(request, found, state_manager, access, now))


def reload_announcement(request: AdminRequest) -> AdminAnswer:
    """Return what is recorded of a granted request before the reload that answers it."""
    return AdminAnswer(
        ok=True, text=f"{_reloaded(request)} is reloaded now: the next reload record has the outcome"
    )


def _reloaded(request: AdminRequest) -> str:
    return "the changed bundle" if request.action.is_change else "the bundle"


def reload_answer(request: AdminRequest, reload: Reload | None) -> AdminAnswer:
    """Return the answer to a request for a reload: its outcome, with the errors of a rejected bundle, one a line.

    :param reload: None if no negotiator runs: the caller has read the bundle, which has no errors.
    """
    subject = _reloaded(request)
    if reload is None:
        return AdminAnswer(
            ok=True, text=f"{subject} has no errors; no negotiator is running: the next run uses it"
        )
    if reload.bundle is not None:
        return AdminAnswer(ok=True, text=f"{subject} was reloaded (digest {reload.digest})")
    errors = [f"  {each}"[:MAX_ERROR] for each in reload.errors]
    more = (
        [f"  and {len(errors) - MAX_ERRORS} more: see negotiator check"] if len(errors) > MAX_ERRORS else []
    )
    lines = (f"{subject} was rejected, the active one stays:", *errors[:MAX_ERRORS], *more)
    return AdminAnswer(ok=False, text="\n".join(lines))


def _of_others(
    request: AdminRequest, found: tuple[RegisteredApplication, ...]
) -> tuple[RegisteredApplication, ...]:
    """Return the applications for which the caller must be an administrator: users may kill their own."""
    own = request.action is AdminAction.KILL and request.by
    return tuple(each for each in found if not (own and each.id.user == request.by))


def _to_kill(
    request: AdminRequest, found: tuple[RegisteredApplication, ...], state_manager: StateManager, rule: str
) -> AdminResult:
    """Return a permitted kill, which is not carried out yet, or the reason why it can't be."""
    plan = plan_kill(request, found, state_manager.bundle.site_commands.kill)
    if isinstance(plan, AdminAnswer):
        return AdminResult(request, plan, rule)
    text = f"{plan.name} is to be killed: {plan.words[0]} is started"
    return AdminResult(request, AdminAnswer(ok=True, text=text), rule, plan)


def _carry_out(
    request: AdminRequest,
    found: tuple[RegisteredApplication, ...],
    state_manager: StateManager,
    access: AccessCache,
    now: float,
) -> AdminAnswer:
    name = str(found[0].id)
    if request.action is AdminAction.MOVE:
        return _move(request, found, state_manager, access, now)
    if request.action is AdminAction.HOLD:
        state_manager.held.update(
            (entry.id, ApplicationHold(request.by, now, request.note)) for entry in found
        )
        return AdminAnswer(ok=True, text=f"{name} is held: it is not matched")
    released = [state_manager.held.pop(entry.id, None) for entry in found]
    if not any(released):
        return AdminAnswer(ok=False, text=f"{name} is not held")
    return AdminAnswer(ok=True, text=f"{name} is released")


def _move(
    request: AdminRequest,
    found: tuple[RegisteredApplication, ...],
    state_manager: StateManager,
    access: AccessCache,
    now: float,
) -> AdminAnswer:
    target = state_manager.queues.get(request.queue)
    if target is None:
        return AdminAnswer(ok=False, text=f"unknown queue {request.queue}")
    if not target.leaf or target.draining:
        state = "is draining" if target.leaf else "is a parent queue"
        return AdminAnswer(ok=False, text=f"{target.path} {state}: it accepts no applications")
    into = access.answer(_question(request, AccessKind.SUBMIT, target.path))
    if not is_granted(into) and not is_granted(_administers(request, target.path, access)):
        return AdminAnswer(ok=False, text=f"no access to {target.path}: {into.record.text}")
    for entry in found:
        state_manager.registry.move(entry.id, target.path, now)
    return AdminAnswer(ok=True, text=f"{found[0].id} was moved from {found[0].queue} to {target.path}")


def _find(name: str, state_manager: StateManager, *, held: bool) -> tuple[RegisteredApplication, ...]:
    """Return the applications of a name, which is ``schedd#cluster`` or ``cluster``.

    With ``held``, include held applications that are in no queue; they belong to the administrators of root.
    """
    schedd, _, cluster = name.rpartition("#")
    if not (cluster.isascii() and cluster.isdecimal() and len(cluster) < 19):
        return ()
    schedd, number = fold(schedd), int(cluster)
    found = state_manager.registry.find(schedd, number)
    if not held:
        return found
    placed = {entry.id for entry in found}
    lost = (each for each in state_manager.held if each.cluster == number and schedd in {"", each.schedd})
    return (
        *found,
        *(
            RegisteredApplication(each, ROOT, state_manager.held[each].at)
            for each in lost
            if each not in placed
        ),
    )


def _administers(request: AdminRequest, queue: str, access: AccessCache) -> Attributed[Access]:
    """Return the answer whether the caller administers a queue."""
    return access.answer(_question(request, AccessKind.ADMINISTER, queue))


def _configures(request: AdminRequest, access: AccessCache) -> Attributed[Access]:
    """Return the first answer that grants a right of which one is needed; else the first denial."""
    answers = [access.answer(_question(request, kind)) for kind in _OF_CONFIGURATION[request.action]]
    return next(filter(is_granted, answers), answers[0])


def _question(request: AdminRequest, kind: AccessKind, queue: str = "") -> AccessQuestion:
    return AccessQuestion(request.by, request.groups, kind, queue)


def _result(request: AdminRequest, decided: Attributed[Access], answer: AdminAnswer) -> AdminResult:
    if not is_granted(decided):
        return AdminResult(
            request, AdminAnswer(ok=False, text=f"denied: {decided.record.text}"), decided.record.rule
        )
    return AdminResult(request, answer, decided.record.rule)


def change_order(request: AdminRequest, state_manager: StateManager, now: float) -> AdminAnswer:
    """Let the plugin of an order change its rows, and return the answer.

    If the plugin refuses the change or fails, or a row would be damaged, nothing is changed.
    """
    before = state_manager.order_rows.get(request.order, {})
    try:
        changed = changed_rows(state_manager.bundle, request.order, before, request.change, now)
    except CommandError as error:
        return AdminAnswer(ok=False, text=str(error))
    state_manager.order_rows = {**state_manager.order_rows, request.order: changed.rows}
    return AdminAnswer(ok=True, text=printable(changed.text))


def changed_rows(bundle: Bundle, name: str, before: OrderRows, change: str, now: float) -> RowsChange:
    """Return the rows of an order after a change.

    :raises CommandError: the plugin of the order is missing, refuses the change or fails, or a row would be damaged.
    """
    order = bundle.ordering.known.get(name)
    if order is None:
        raise CommandError(f"unknown order {printable(name)}: its plugin is missing")
    try:
        return _changed(order, before, change, bundle.settings.get(order.plugin), now)
    except ValueError as error:
        raise CommandError(printable(str(error))) from None
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything
        raise_if_interrupted(error)
        text = f"plugin {order.plugin}: the change of the order {name} failed: {describe_error(error)}"
        raise PluginFailureError(printable(text)) from None


def _changed(
    order: Attributed[RequestOrderType], before: OrderRows, change: str, settings: Any, now: float
) -> RowsChange:
    changed = order.record.change(before, change, settings, now)
    check_exactly(changed, RowsChange, "a RowsChange")
    check_exactly(changed.text, str, "a text in a RowsChange")
    for key, row in changed.rows.items():
        if before.get(key) != row:
            _check(order.record, key, row)
    return changed


def _check(order: RequestOrderType, key: str, row: Mapping[str, Any]) -> None:
    """Check a row as the next process will find it.

    :raises ValueError: it is damaged, or cannot be stored.
    """
    order.check_row(key, json.loads(json.dumps(dict(row), allow_nan=False)))
