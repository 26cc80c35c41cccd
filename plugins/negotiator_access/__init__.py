"""Access control lists of queues, and the one of the scheduler.

Source: "Scheduler Configuration", Access Control Lists. Access needs a list that grants it. A queue's own lists come
first, then those of the queues above it; an administrator of a queue may submit to it. The scheduler's list is
separate: it grants neither submission to a queue nor its administration. The owner of the process is always on it.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Sequence
from functools import cache

import attrs

from negotiator.plugin import (
    HINT,
    RECOVERY,
    Access,
    AccessDecision,
    AccessKind,
    AccessQuestion,
    Acl,
    AclError,
    Problem,
    QueueTree,
    Section,
    Severity,
    Source,
    hookimpl,
    upwards,
)

_LONGEST = 150  # characters of a path in the name of a rule, which has at most 200


@attrs.frozen
class AccessSettings:
    """``scheduleracl``: who may configure the scheduler, as an access control list."""

    scheduleracl: str = ""
    source: Source | None = None

    @property
    def scheduler(self) -> Acl:
        """The parsed list, without the owner of the process."""
        return Acl.parse(self.scheduleracl)


def _check(settings: AccessSettings) -> Iterable[Problem]:
    try:
        acl = settings.scheduler
    except AclError as error:
        yield Problem(Severity.ERROR, settings.source or Source(""), f"scheduleracl: {error}", HINT)
        return
    if acl.ignored:
        message = (
            f"scheduleracl: invalid names of users or groups, which never match: {', '.join(acl.ignored[:5])}"
        )
        yield Problem(Severity.WARNING, settings.source or Source(""), message, HINT)


@hookimpl
def negotiator_section() -> Section:
    """Own ``scheduleracl``."""
    return Section(schema=AccessSettings, check=_check)


@hookimpl
def negotiator_access(
    questions: Sequence[AccessQuestion], queues: QueueTree, settings: AccessSettings
) -> Iterable[Access]:
    """Answer each question from the access control lists that apply."""
    scheduler = settings.scheduler
    for question in questions:
        if question.act is AccessKind.CONFIGURE:
            yield _of_scheduler(question, scheduler)
        else:
            yield _of_queue(question, queues) or Access(AccessDecision.ABSTAIN, "acl", _no_entry(question))


def _of_scheduler(question: AccessQuestion, acl: Acl) -> Access:
    if question.user and question.user == _owner():
        return Access(AccessDecision.GRANT, "process owner", f"the scheduler runs as {question.user}")
    entry = acl.allows(question.user, question.groups)
    if entry:
        return Access(AccessDecision.GRANT, "scheduleracl", f"scheduleracl has {entry}")
    return Access(AccessDecision.ABSTAIN, "scheduleracl", f"scheduleracl does not have {question.user}")


def _of_queue(question: AccessQuestion, queues: QueueTree) -> Access | None:
    """Return the grant of the first list towards the root that has the user; nobody submits to the recovery queue."""
    if question.queue == RECOVERY and question.act is AccessKind.SUBMIT:
        return None
    for path in upwards(question.queue):
        queue = queues.get(path)
        if queue is None:
            continue
        config = queue.config
        lists = (("submitacl", config.submit), ("adminacl", config.admin))
        for key, acl in lists if question.act is AccessKind.SUBMIT else lists[1:]:
            entry = acl.allows(question.user, question.groups)
            if entry:
                return _granted(key, path, entry, config.source)
    return None


@cache
def _granted(key: str, path: str, entry: str, source: Source) -> Access:
    rule = f"{key} of {_short(path)}"
    return Access(AccessDecision.GRANT, rule, f"{rule} has {entry}", source)


def _no_entry(question: AccessQuestion) -> str:
    lists = "submitacl or adminacl" if question.act is AccessKind.SUBMIT else "adminacl"
    return f"no {lists} of {_short(question.queue)}, or of a queue above it, has {question.user or 'nobody'}"


def _short(path: str) -> str:
    """Shorten a path for an answer: a rule name that is too long would invalidate the answers of a whole batch."""
    return path if len(path) <= _LONGEST else f"{path[: _LONGEST - 1]}…"


@cache
def _owner() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # for example in a container: the number is the name, as it is for callers of commands
        return str(os.geteuid())
