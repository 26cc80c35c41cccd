"""Access control lists of queues, and the one of the scheduler.

Source: "Scheduler Configuration", Access Control Lists. Nobody may do anything that no list gives them. A queue's
lists are asked first, then those of the queues above it; who may administer a queue may submit to it. The list of the
scheduler stands apart: it neither lets anybody submit nor administer a queue. The owner of the process is always on it.
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

_LONGEST = 150  # characters of a path in the name of a rule, which has 200


@attrs.frozen
class AccessSettings:
    """``scheduleracl``: who may configure the scheduler, as an access control list."""

    scheduleracl: str = ""
    source: Source | None = None

    @property
    def scheduler(self) -> Acl:
        """The list, without the owner of the process."""
        return Acl.parse(self.scheduleracl)


def _check(settings: AccessSettings) -> Iterable[Problem]:
    try:
        acl = settings.scheduler
    except AclError as error:
        yield Problem(Severity.ERROR, settings.source or Source(""), f"scheduleracl: {error}", HINT)
        return
    if acl.ignored:
        message = (
            f"scheduleracl: no names of users or groups, so they never match: {', '.join(acl.ignored[:5])}"
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
    """Look each question up in the lists that it is a matter of."""
    scheduler = settings.scheduler
    for asked in questions:
        if asked.act is AccessKind.CONFIGURE:
            yield _of_scheduler(asked, scheduler)
        else:
            yield _of_queue(asked, queues) or Access(AccessDecision.ABSTAIN, "acl", _nobody(asked))


def _of_scheduler(asked: AccessQuestion, acl: Acl) -> Access:
    if asked.user and asked.user == _owner():
        return Access(AccessDecision.GRANT, "process owner", f"the scheduler runs as {asked.user}")
    whom = acl.allows(asked.user, asked.groups)
    if whom:
        return Access(AccessDecision.GRANT, "scheduleracl", f"scheduleracl has {whom}")
    return Access(AccessDecision.ABSTAIN, "scheduleracl", f"scheduleracl does not have {asked.user}")


def _of_queue(asked: AccessQuestion, queues: QueueTree) -> Access | None:
    """The first list on the way up to the root that gives access. The recovery queue takes nobody's submission."""
    if asked.queue == RECOVERY and asked.act is AccessKind.SUBMIT:
        return None
    for path in upwards(asked.queue):
        queue = queues.get(path)
        if queue is None:
            continue
        config = queue.config
        lists = (("submitacl", config.submit), ("adminacl", config.admin))
        for key, acl in lists if asked.act is AccessKind.SUBMIT else lists[1:]:
            whom = acl.allows(asked.user, asked.groups)
            if whom:
                return _granted(key, path, whom, config.source)
    return None


@cache
def _granted(key: str, path: str, whom: str, source: Source) -> Access:
    rule = f"{key} of {_short(path)}"
    return Access(AccessDecision.GRANT, rule, f"{rule} has {whom}", source)


def _nobody(asked: AccessQuestion) -> str:
    lists = "submitacl or adminacl" if asked.act is AccessKind.SUBMIT else "adminacl"
    return f"no {lists} of {_short(asked.queue)}, or of a queue above it, has {asked.user or 'nobody'}"


def _short(path: str) -> str:
    """A path as it may stand in an answer: one that is too long would make all answers of a batch wrong."""
    return path if len(path) <= _LONGEST else f"{path[: _LONGEST - 1]}…"


@cache
def _owner() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # in a container, say: it is known by its number, as who calls a command then is
        return str(os.geteuid())
