"""Access control lists of queues, and the one of the scheduler.

Source: "Scheduler Configuration", Access Control Lists. Access needs a list that grants it. A queue's own lists come
first, then those of the queues above it; an administrator of a queue may submit to it. The scheduler's list is
separate: it grants neither submission to a queue nor its administration. The owner of the process is always on it.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

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
    parent_of,
)

#: The key of a list, its queue, the list, and where it is configured.
_List: TypeAlias = tuple[str, str, Acl, Source]

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
    lists = _Lists(queues)
    for question in questions:
        if question.act is AccessKind.CONFIGURE:
            yield _of_scheduler(question, scheduler)
        else:
            yield _of_queue(question, lists) or Access(AccessDecision.ABSTAIN, "acl", _no_entry(question))


def _of_scheduler(question: AccessQuestion, acl: Acl) -> Access:
    if question.user and question.user == _owner():
        return Access(AccessDecision.GRANT, "process owner", f"the scheduler runs as {question.user}")
    entry = acl.allows(question.user, question.groups)
    if entry:
        return Access(AccessDecision.GRANT, "scheduleracl", f"scheduleracl has {entry}")
    return Access(AccessDecision.ABSTAIN, "scheduleracl", f"scheduleracl does not have {question.user}")


def _of_queue(question: AccessQuestion, lists: _Lists) -> Access | None:
    """Return the grant of the first list towards the root that has the user; no user may submit to the recovery queue."""
    if question.queue == RECOVERY and question.act is AccessKind.SUBMIT:
        return None
    for key, path, acl, source in lists.of(question.queue, submit=question.act is AccessKind.SUBMIT):
        entry = acl.allows(question.user, question.groups)
        if entry:
            return _granted(key, path, entry, source)
    return None


class _Lists:
    """The access control lists that are not empty, from a queue up to the root; found once for a batch."""

    def __init__(self, queues: QueueTree) -> None:
        self._queues = queues
        self._found: dict[tuple[str, bool], tuple[_List, ...]] = {}

    def of(self, path: str, *, submit: bool) -> tuple[_List, ...]:
        """Return the lists that apply to an act on a queue, in the order in which they are examined."""
        found = self._found.get((path, submit))
        if found is None:
            above = self.of(parent_of(path), submit=submit) if path else ()
            found = self._found[path, submit] = (*self._own(path, submit=submit), *above)
        return found

    def _own(self, path: str, *, submit: bool) -> Iterator[_List]:
        queue = self._queues.get(path)
        if queue is None:
            return
        config = queue.config
        if submit and not config.submit.grants_nobody:
            yield "submitacl", path, config.submit, config.source
        if not config.admin.grants_nobody:
            yield "adminacl", path, config.admin, config.source


@cache
def _granted(key: str, path: str, entry: str, source: Source) -> Access:
    rule = f"{key} of {_short(path)}"
    return Access(AccessDecision.GRANT, rule, f"{rule} has {entry}", source)


def _no_entry(question: AccessQuestion) -> str:
    lists = "submitacl or adminacl" if question.act is AccessKind.SUBMIT else "adminacl"
    return f"no {lists} of {_short(question.queue)}, or of a queue above it, has {question.user or 'a user without a name'}"


def _short(path: str) -> str:
    """Shorten a path for an answer: a rule name that is too long would invalidate the answers of a whole batch."""
    return path if len(path) <= _LONGEST else f"{path[: _LONGEST - 1]}…"


@cache
def _owner() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # for example in a container: the number is the name, as it is for callers of commands
        return str(os.geteuid())
