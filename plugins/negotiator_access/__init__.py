"""Access control lists of queues, and the one of the scheduler.

Source: "Scheduler Configuration", Access Control Lists. Access needs a list that grants it. A queue's own lists come
first, then those of the queues above it; an administrator of a queue may submit to it. The scheduler's list is
separate: it grants neither submission to a queue nor, unless a key says so, its administration. The owner of the process
is always on it, and may act on any application. The configuration of queues can have a list of its own.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import TypeAlias

import attrs

from negotiator.plugin import (
    HINT,
    RECOVERY,
    SERVICE_CONFIGURATION,
    Access,
    AccessDecision,
    AccessKind,
    AccessQuestion,
    Acl,
    AclError,
    DeclaredRule,
    Problem,
    QueueConfig,
    QueueTree,
    ScalarText,
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
    """Access control lists of the configuration: ``scheduleracl`` of all of it, ``queueconfigacl`` of the queues.

    Without ``queueconfigacl``, ``scheduleracl`` is for the queues too. A single space is an empty list.
    """

    scheduleracl: str = ""
    queueconfigacl: ScalarText | None = None
    scheduleracl_administers_queues: bool = False
    source: Source | None = None
    sources: Mapping[str, Source] = MappingProxyType({})

    def rule(self, key: str) -> str:
        """Return the name of a list in answers and in the audit log: the bundle does not show that of the service."""
        of_service = key in self.sources and self.sources[key].file == SERVICE_CONFIGURATION
        return f"{key} of the service" if of_service else key

    @property
    def lists(self) -> Mapping[str, str]:
        """The lists as written, by key."""
        queues = {} if self.queueconfigacl is None else {"queueconfigacl": self.queueconfigacl.text}
        return {"scheduleracl": self.scheduleracl, **queues}


def _check(settings: AccessSettings) -> Iterable[Problem]:
    source = settings.source or Source("")
    for key, text in settings.lists.items():
        try:
            acl = Acl.parse(text)
        except AclError as error:
            yield Problem(Severity.ERROR, source, f"{key}: {error}", HINT)
            continue
        if acl.ignored:
            names = ", ".join(acl.ignored[:5])
            message = f"{key}: invalid names of users or groups, which never match: {names}"
            yield Problem(Severity.WARNING, source, message, HINT)


@hookimpl
def negotiator_section() -> Section:
    """Own ``scheduleracl`` and the keys beside it."""
    return Section(schema=AccessSettings, check=_check, rules=_rules)


def _rules(settings: AccessSettings, root: QueueConfig) -> Iterator[DeclaredRule]:
    """Yield the lists that grant something to somebody."""
    for key, text in settings.lists.items():
        if key in settings.sources and not Acl.parse(text).grants_nobody:
            yield DeclaredRule(rule=settings.rule(key), text=text, source=settings.sources[key], grants=True)
    for queue in root.walk():
        for key, acl in (("submitacl", queue.submit), ("adminacl", queue.admin)):
            if not acl.grants_nobody:
                yield DeclaredRule(
                    rule=_rule(key, queue.path), text=str(acl), source=queue.source, grants=True
                )


@hookimpl
def negotiator_access(
    questions: Sequence[AccessQuestion], queues: QueueTree, settings: AccessSettings
) -> Iterable[Access]:
    """Answer each question from the access control lists that apply."""
    configured = {key: Acl.parse(text) for key, text in settings.lists.items()}
    scheduler = (settings.rule("scheduleracl"), configured["scheduleracl"])
    of_queues = (
        ("queueconfigacl", configured["queueconfigacl"]) if "queueconfigacl" in configured else scheduler
    )
    lists = _Lists(queues)
    for question in questions:
        if question.act is AccessKind.CONFIGURE:
            yield _of_configuration(question, *scheduler)
        elif question.act is AccessKind.CONFIGURE_QUEUES:
            yield _of_configuration(question, *of_queues)
        else:
            answer = _of_queue(question, lists) or Access(AccessDecision.ABSTAIN, "acl", _no_entry(question))
            if answer.decision is AccessDecision.ABSTAIN and question.act is AccessKind.ADMINISTER:
                answer = _of_any_queue(question, scheduler, settings) or answer
            yield answer


def _of_configuration(question: AccessQuestion, key: str, acl: Acl) -> Access:
    if _is_owner(question):
        return _granted_to_owner(question)
    entry = acl.allows(question.user, question.groups)
    if entry:
        return Access(AccessDecision.GRANT, key, f"{key} has {entry}")
    return Access(AccessDecision.ABSTAIN, key, f"{key} does not have {question.user}")


def _of_any_queue(
    question: AccessQuestion, scheduler: tuple[str, Acl], settings: AccessSettings
) -> Access | None:
    """Return the grant of the administration of all queues: to the owner of the process, and by the key to the list."""
    if _is_owner(question):
        return _granted_to_owner(question)
    if settings.scheduleracl_administers_queues:
        answer = _of_configuration(question, *scheduler)
        return answer if answer.decision is AccessDecision.GRANT else None
    return None


def _is_owner(question: AccessQuestion) -> bool:
    return bool(question.user) and question.user == _owner()


def _granted_to_owner(question: AccessQuestion) -> Access:
    return Access(AccessDecision.GRANT, "process owner", f"the scheduler runs as {question.user}")


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
    rule = _rule(key, path)
    return Access(AccessDecision.GRANT, rule, f"{rule} has {entry}", source)


def _rule(key: str, path: str) -> str:
    return f"{key} of {_short(path)}"


def _no_entry(question: AccessQuestion) -> str:
    lists = "submitacl or adminacl" if question.act is AccessKind.SUBMIT else "adminacl"
    return f"no {lists} of {_short(question.queue)}, or of a queue above it, has {question.user or 'a user without a name'}"


def _short(path: str) -> str:
    """Shorten a path for an answer: a rule name that is too long would invalidate the answers of a whole batch."""
    return path if len(path) <= _LONGEST else f"{path[: _LONGEST - 1]}…"


@cache
def _owner() -> str:
    if not hasattr(os, "geteuid"):  # Windows
        return getpass.getuser()
    import pwd  # missing on Windows

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # for example in a container: the number is the name, as it is for callers of commands
        return str(os.geteuid())
