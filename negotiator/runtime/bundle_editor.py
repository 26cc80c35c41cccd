"""Changes files of a bundle for a caller: checks access, writes the file, and records the change or the denial."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs

from negotiator import posix
from negotiator.audit.errors import AuditError
from negotiator.bundle import Bundle, BundleCheck
from negotiator.bundle.folder import QUEUES
from negotiator.errors import BundleError, CommandError, InvalidCallError, StateError
from negotiator.hooks.access import AccessDecision, AccessKind, AccessQuestion
from negotiator.hooks.administration import Caller, ChangeOutcome, ChangeStatus, Permission
from negotiator.hooks.state_location import StateLocation
from negotiator.queues import QueueTree
from negotiator.runtime.admin_requests import AdminEnvironment, submit
from negotiator.runtime.bundle_identity import BundleChangedError
from negotiator.runtime.change_file import FileChange, change_file
from negotiator.runtime.state import AdminAction, AdminRequest, StateStore

LATER = "the change will be recorded as soon as that is possible"
_BROKEN = "the bundle has errors: only the user that runs the negotiator may change it"
_REPAIR = "the bundle has errors: the user that runs the negotiator may repair it"


class Examine(Protocol):
    """Checks the bundle, with other contents of some files; None for a file to treat as removed."""

    def __call__(self, replaced: Mapping[str, bytes | None] | None = None) -> BundleCheck:
        """Return the problems, and the bundle if it has no errors."""


@attrs.frozen
class BundleEditor:
    """What changing a bundle needs: its folder, what checks it, and where a change is saved and recorded.

    ``as_written`` checks the bundle with the plugins that it names itself: plugins that a caller adds or leaves out must
    not decide who may change it. None if ``examine`` does that.
    """

    folder: Path
    examine: Examine
    state: StateLocation
    audit_log: Path
    key_file: Path | None = None
    as_written: Examine | None = None

    def rights(self, before: BundleCheck | None = None) -> BundleCheck:
        """Return the check with the bundle that decides who may change it; ``before`` is the result of ``examine``."""
        return self.as_written() if self.as_written else before or self.examine()


def may_configure(editor: BundleEditor, caller: Caller) -> Permission:
    """Return whether a caller may change the bundle; if it has errors, whether they may repair it."""
    return _permission(editor, editor.rights(), caller, {})


def change(
    editor: BundleEditor,
    caller: Caller,
    name: str,
    content: bytes,
    note: str = "",
    superseded: Sequence[str] = (),
    expected: str | None = None,
) -> ChangeOutcome:
    """Replace a file of the bundle, and record that or the denial.

    :param superseded: files to retire once the file is written.
    :param expected: the SHA-256 of the contents to replace, empty for a file that does not exist; None: whatever they are.
    :raises InvalidCallError: a name is not that of a file of a bundle.
    :raises ChangedMeanwhileError: the contents are not those that are expected; nothing was changed.
    :raises ChangeError: the file cannot be written; nothing was changed.
    :raises StateError: the state cannot be opened, so that the change could not be recorded; nothing was changed.
    """
    before = editor.examine()
    for each in (name, *superseded):
        _check_name(editor.folder, each, before, new=each == name)
    wanted: dict[str, bytes | None] = {**dict.fromkeys(superseded), name: content}
    rights = editor.rights(before)
    permission = _permission(editor, rights, caller, wanted)
    if not permission.allowed:
        return _denied(editor, caller, wanted, permission, rights)
    with StateStore.open(editor.state) as store:  # without it the change could not be recorded
        changed = change_file(editor.folder, name, content, editor.examine, time.time(), superseded, expected)
        outcome = _outcome(name, changed, permission, superseded)
        if not changed.written:
            return outcome
        why = f" ({note})" if note else ""
        return _recorded(editor, store, caller, wanted, f"{outcome.text}{why}", outcome)


def _outcome(
    name: str, changed: FileChange, permission: Permission, superseded: Sequence[str]
) -> ChangeOutcome:
    """Return the outcome of a change that was not denied: written, or not because the bundle would have errors."""
    outcome = ChangeOutcome(
        status=ChangeStatus.INVALID,
        text=f"with this {name} the bundle has errors: nothing was changed",
        rule=permission.rule,
        problems=changed.problems,
        digest=changed.digest,
    )
    if not changed.written:
        return outcome
    saved = f", the old one is saved as {changed.backup.name}" if changed.backup else ""
    retired = "".join(
        f"; {old} was superseded, and is saved as {copy.name}"
        for old, copy in zip(superseded, changed.superseded, strict=True)
    )
    return attrs.evolve(
        outcome,
        status=ChangeStatus.DONE,
        text=f"{name} was written{saved}{retired}; digest {changed.digest}",
        backups=(*filter(None, [changed.backup]), *changed.superseded),
    )


def _check_name(folder: Path, name: str, examination: BundleCheck, *, new: bool) -> None:
    plain = name.isprintable() and "/" not in name and not name.startswith(".") and not name.endswith("~")
    if plain and ((new and examination.reads(name)) or (name and (folder / name).is_file())):
        return
    raise InvalidCallError(
        f"invalid file name {name!r}: must be settings (pool.yaml, queues.yaml, *.conf, a file of a plugin), or an "
        "existing file of the bundle"
    )


def _permission(
    editor: BundleEditor, before: BundleCheck, caller: Caller, wanted: Mapping[str, bytes | None]
) -> Permission:
    """Return the answer of the current bundle.

    A bundle with errors cannot answer. The owner of the negotiator's state may repair it, if the bundle with the change
    lets them or still has errors.
    """
    if before.bundle is not None:
        return _access(before.bundle, caller, wanted)
    if not _is_owner(editor.state, editor.folder):
        return Permission(allowed=False, text=_BROKEN)
    after = editor.examine(wanted) if wanted else before
    if after.bundle is None:  # writing it will fail, and report the errors
        return Permission(allowed=True, text=_REPAIR)
    return _access(after.bundle, caller, wanted)


def _access(bundle: Bundle, caller: Caller, names: Collection[str]) -> Permission:
    """Return the permission to change files, which needs every right that one of them needs."""
    rights = sorted({_right(name) for name in names}) or [AccessKind.CONFIGURE]
    questions = [AccessQuestion(caller.name, caller.groups, right) for right in rights]
    answers, _ = bundle.hooks.access(questions, QueueTree.of(bundle.partition.root, 0), bundle.settings)
    granted = [answer.record.decision is AccessDecision.GRANT for answer in answers]
    record = answers[0 if all(granted) else granted.index(False)].record
    return Permission(all(granted), record.text, record.rule)


def _right(name: str) -> AccessKind:
    """Return the right that the change of a file needs: queues change more often than static settings, and by others.

    Source: "Scheduler Configuration", separation of duty.
    """
    return AccessKind.CONFIGURE_QUEUES if name == QUEUES else AccessKind.CONFIGURE


def _is_owner(state: StateLocation, folder: Path) -> bool:
    """True if the negotiator's state belongs to the caller, or, without a state, the bundle."""
    if posix.is_set_user_id():  # a set-user-ID program: the files belong to another user than the caller
        return False
    try:
        if StateStore.exists(state):
            return StateStore.is_owned(state)
        return folder.stat().st_uid == posix.effective_user()
    except (StateError, OSError):
        return False


def _denied(
    editor: BundleEditor,
    caller: Caller,
    names: Collection[str],
    permission: Permission,
    before: BundleCheck,
) -> ChangeOutcome:
    """Record a denial, if a rule denied it; a bundle with errors has no rules."""
    outcome = ChangeOutcome(
        status=ChangeStatus.DENIED,
        text=permission.text,
        rule=permission.rule,
        problems=() if before.bundle else before.problems,
    )
    if not permission.rule:
        return outcome
    note = f"change of {', '.join(names)} denied: nothing was written"
    try:
        with StateStore.open(editor.state) as store:
            return _recorded(editor, store, caller, names, note, outcome)
    except StateError as error:
        return attrs.evolve(outcome, error=error)


def _recorded(
    editor: BundleEditor,
    store: StateStore,
    caller: Caller,
    names: Collection[str],
    note: str,
    outcome: ChangeOutcome,
) -> ChangeOutcome:
    """Record a change or a denial: through the running negotiator, or without one in the audit log.

    The file was written or the change was denied, regardless of errors here; the outcome reports them.
    """
    only_queues = {_right(name) for name in names} == {AccessKind.CONFIGURE_QUEUES}
    action = AdminAction.CHANGE_QUEUES if only_queues else AdminAction.CHANGE
    request = AdminRequest(0, time.time(), caller.name, caller.groups, action, note=note)
    try:
        number = submit(
            store, request, AdminEnvironment(lambda: _loaded(editor), editor.audit_log, editor.key_file)
        )
        return attrs.evolve(outcome, request=number, recorded=store.answered(number) is not None)
    except (AuditError, BundleError, BundleChangedError, StateError) as error:
        if isinstance(error, BundleError):
            return attrs.evolve(outcome, error=CommandError(f"{editor.folder} has errors: {LATER}"))
        return attrs.evolve(outcome, error=type(error)(f"{error}: {LATER}"))


def _loaded(editor: BundleEditor) -> Bundle:
    examination = editor.examine()
    if examination.bundle is None:
        raise BundleError(examination.problems, editor.folder)
    return examination.bundle
