"""Administrators' acts: who may do what, and doing it. Every one is recorded, also those that are denied.

An administrator of a queue (``adminacl``) may move applications out of it, hold and release them; an administrator of
the scheduler may do that anywhere, and change the configuration.
"""

from __future__ import annotations

import attrs

from negotiator.classad.syntax import fold
from negotiator.cycle.holds import ApplicationHold
from negotiator.hooks.access import Access, AccessKind, AccessQuestion
from negotiator.hooks.answers import Attributed
from negotiator.placement import AccessCache
from negotiator.placement.access import is_granted
from negotiator.queues import ROOT
from negotiator.queues.applications import RegisteredApplication
from negotiator.runtime.state import AdminAction, AdminAnswer
from negotiator.runtime.state import AdminRequest as Request
from negotiator.runtime.state_manager import StateManager


@attrs.frozen
class AdminResult:
    """A request and what became of it: ``by_rule`` is the rule of the access policy that decided."""

    request: Request
    answer: AdminAnswer
    by_rule: str


def perform(request: Request, state_manager: StateManager, now: float) -> AdminResult:
    """Do what an administrator asks for, if it is theirs to ask; what changed is written down by the state_manager's owner."""
    book = AccessCache(state_manager.bundle.hooks, state_manager.bundle.settings, state_manager.queues)
    if request.action in {AdminAction.RELOAD, AdminAction.CHANGE}:
        decided = book.answer(_asked(request, AccessKind.CONFIGURE, ""))
        what = "was changed, and" if request.action is AdminAction.CHANGE else "will be looked at, and"
        text = f"the bundle {what} is taken over before the next cycle if it has no errors"
        return _done(request, decided, AdminAnswer(ok=True, text=text))
    found = _find(request.application, state_manager, held=request.action is AdminAction.RELEASE)
    if not found:
        text = f"there is no application {request.application}: name it schedd#cluster, once a cycle has placed it"
        return AdminResult(request, AdminAnswer(ok=False, text=text), "")
    if len({entry.id.schedd for entry in found}) > 1:
        names = ", ".join(str(entry.id) for entry in found[:5])
        return AdminResult(
            request, AdminAnswer(ok=False, text=f"{request.application} is one of: {names}"), ""
        )
    decided = _administers(request, found[0].queue, book)
    refused = next(
        (
            each
            for each in (_administers(request, entry.queue, book) for entry in found)
            if not is_granted(each)
        ),
        None,
    )
    if refused is not None:
        return _done(request, refused, AdminAnswer(ok=True, text=""))
    return _done(request, decided, _do(request, found, state_manager, book, now))


def _do(
    request: Request,
    found: tuple[RegisteredApplication, ...],
    state_manager: StateManager,
    book: AccessCache,
    now: float,
) -> AdminAnswer:
    name = str(found[0].id)
    if request.action is AdminAction.MOVE:
        return _move(request, found, state_manager, book, now)
    if request.action is AdminAction.HOLD:
        state_manager.held.update(
            (entry.id, ApplicationHold(request.by, now, request.note)) for entry in found
        )
        return AdminAnswer(ok=True, text=f"{name} is out of matching")
    released = [state_manager.held.pop(entry.id, None) for entry in found]
    if not any(released):
        return AdminAnswer(ok=False, text=f"{name} is not held")
    return AdminAnswer(ok=True, text=f"{name} takes part in matching again")


def _move(
    request: Request,
    found: tuple[RegisteredApplication, ...],
    state_manager: StateManager,
    book: AccessCache,
    now: float,
) -> AdminAnswer:
    target = state_manager.queues.get(request.queue)
    if target is None:
        return AdminAnswer(ok=False, text=f"there is no queue {request.queue}")
    if not target.leaf or target.draining:
        what = "is draining" if target.leaf else "is a parent queue"
        return AdminAnswer(ok=False, text=f"{target.path} {what}: it takes no applications")
    into = book.answer(_asked(request, AccessKind.SUBMIT, target.path))
    if not is_granted(into) and not is_granted(book.answer(_asked(request, AccessKind.CONFIGURE, ""))):
        return AdminAnswer(ok=False, text=f"not into {target.path}: {into.record.text}")
    for entry in found:
        state_manager.registry.move(entry.id, target.path, now)
    return AdminAnswer(ok=True, text=f"{found[0].id} was moved from {found[0].queue} to {target.path}")


def _find(name: str, state_manager: StateManager, *, held: bool) -> tuple[RegisteredApplication, ...]:
    """The applications of a name: ``schedd#cluster``, or a cluster that only one schedd has.

    With ``held`` those too that are held and in no queue: they are the root's administrators'.
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


def _administers(request: Request, queue: str, book: AccessCache) -> Attributed[Access]:
    """Whether they administer the queue; else, whether they configure the scheduler."""
    own = book.answer(_asked(request, AccessKind.ADMINISTER, queue))
    if is_granted(own):
        return own
    scheduler = book.answer(_asked(request, AccessKind.CONFIGURE, ""))
    return scheduler if is_granted(scheduler) else own


def _asked(request: Request, act: AccessKind, queue: str) -> AccessQuestion:
    return AccessQuestion(request.by, request.groups, act, queue)


def _done(request: Request, decided: Attributed[Access], answer: AdminAnswer) -> AdminResult:
    if not is_granted(decided):
        return AdminResult(
            request, AdminAnswer(ok=False, text=f"denied: {decided.record.text}"), decided.record.rule
        )
    return AdminResult(request, answer, decided.record.rule)
