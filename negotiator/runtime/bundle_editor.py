"""Changes of a bundle that somebody asks for: who may, the file, and the record of it, which denied attempts have too."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import attrs

from negotiator.audit.errors import AuditError
from negotiator.bundle import Bundle, BundleCheck
from negotiator.errors import BundleError, CommandError, InvalidCallError, StateError
from negotiator.hooks.access import AccessDecision, AccessKind, AccessQuestion
from negotiator.hooks.administration import Caller, ChangeOutcome, ChangeStatus, Permission
from negotiator.queues import QueueTree
from negotiator.runtime.admin_requests import AdminEnvironment, submit
from negotiator.runtime.change_file import FileChange, change_file
from negotiator.runtime.state import AdminAction, StateStore
from negotiator.runtime.state import AdminRequest as Request

LATER = "the change is recorded when it next can be"
_BROKEN = "the bundle has errors: only who runs the negotiator may change it"
_MEND = "the bundle has errors, and who runs the negotiator may mend it"


class Examine(Protocol):
    """Looks at the bundle, with other contents of some files; None where one is to be gone."""

    def __call__(self, replaced: Mapping[str, bytes | None] | None = None) -> BundleCheck:
        """All that is found."""


@attrs.frozen
class BundleEditor:
    """Where a bundle is changed: its folder, what looks at it, and where a change is noted and recorded.

    ``as_written`` looks at it with the plugins that it names itself: those that a caller brings or leaves out must not
    say who may change it. None where ``examine`` does that.
    """

    folder: Path
    examine: Examine
    state: Path
    audit_log: Path
    key_file: Path | None = None
    as_written: Examine | None = None

    def rights(self, before: BundleCheck | None = None) -> BundleCheck:
        """The bundle that says who may change it; ``before`` is what ``examine`` found."""
        return self.as_written() if self.as_written else before or self.examine()


def may_configure(editor: BundleEditor, caller: Caller) -> Permission:
    """Say whether somebody may change the bundle; of one with errors, whether they may mend it."""
    return _permission(editor, editor.rights(), caller, {})


def change(
    editor: BundleEditor,
    caller: Caller,
    name: str,
    content: bytes,
    note: str = "",
    superseded: Sequence[str] = (),
) -> ChangeOutcome:
    """Give a file of the bundle other contents, and note and record that, or that it was denied.

    :param superseded: files that go once the file is written.
    :raises InvalidCallError: a name is none of a file of a bundle.
    :raises ChangeError: the file can't be written; nothing was.
    :raises StateError: the state can't be opened, so that the change could not be noted; nothing was written.
    """
    before = editor.examine()
    for each in (name, *superseded):
        _check_name(editor.folder, each, before, new=each == name)
    wanted: dict[str, bytes | None] = {**dict.fromkeys(superseded), name: content}
    rights = editor.rights(before)
    permission = _permission(editor, rights, caller, wanted)
    if not permission.allowed:
        return _denied(editor, caller, name, permission, rights)
    with StateStore.open(editor.state) as store:  # what could not be noted is not done
        changed = change_file(editor.folder, name, content, editor.examine, time.time(), superseded)
        outcome = _outcome(name, changed, permission, superseded)
        if not changed.written:
            return outcome
        why = f" ({note})" if note else ""
        return _recorded(editor, store, caller, f"{outcome.text}{why}", outcome)


def _outcome(
    name: str, changed: FileChange, permission: Permission, superseded: Sequence[str]
) -> ChangeOutcome:
    """What is told of a file that was written, or was not because the bundle would have errors."""
    outcome = ChangeOutcome(
        status=ChangeStatus.INVALID,
        text=f"with this {name} the bundle has errors: nothing was changed",
        rule=permission.rule,
        problems=changed.problems,
        digest=changed.digest,
    )
    if not changed.written:
        return outcome
    kept = f", the old one is kept as {changed.kept.name}" if changed.kept else ""
    gone = "".join(
        f"; {old} was superseded, and is kept as {copy.name}"
        for old, copy in zip(superseded, changed.superseded, strict=True)
    )
    return attrs.evolve(
        outcome,
        status=ChangeStatus.DONE,
        text=f"{name} was written{kept}{gone}; digest {changed.digest}",
        backups=(*filter(None, [changed.kept]), *changed.superseded),
    )


def _check_name(folder: Path, name: str, examination: BundleCheck, *, new: bool) -> None:
    plain = name.isprintable() and "/" not in name and not name.startswith(".") and not name.endswith("~")
    if plain and ((new and examination.reads(name)) or (name and (folder / name).is_file())):
        return
    raise InvalidCallError(
        f"{name!r} is no name of a file of a bundle: settings (pool.yaml, queues.yaml, *.conf, files of a plugin), "
        "or a file that is there already"
    )


def _permission(
    editor: BundleEditor, before: BundleCheck, caller: Caller, wanted: Mapping[str, bytes | None]
) -> Permission:
    """Ask the bundle that is there. One that has errors can say nothing, and has to be mended.

    Who owns the negotiator's state may do that, if the bundle with the change lets them.
    """
    if before.bundle is not None:
        return _asked(before.bundle, caller)
    if not _is_owner(editor.state, editor.folder):
        return Permission(allowed=False, text=_BROKEN)
    after = editor.examine(wanted) if wanted else before
    if after.bundle is None:  # which errors it then has is told where it is written
        return Permission(allowed=True, text=_MEND)
    return _asked(after.bundle, caller)


def _asked(bundle: Bundle, caller: Caller) -> Permission:
    question = AccessQuestion(caller.name, caller.groups, AccessKind.CONFIGURE)
    (answer,), _ = bundle.hooks.access([question], QueueTree.of(bundle.partition.root, 0), bundle.settings)
    record = answer.record
    return Permission(record.decision is AccessDecision.GRANT, record.text, record.rule)


def _is_owner(state: Path, folder: Path) -> bool:
    """Whether the negotiator's state belongs to who calls, or, where there is none, the bundle."""
    if os.getuid() != os.geteuid():  # the rights of this process are not those of who calls
        return False
    try:
        if StateStore.exists(state):
            return StateStore.is_owned(state)
        return folder.stat().st_uid == os.geteuid()
    except (StateError, OSError):
        return False


def _denied(
    editor: BundleEditor, caller: Caller, name: str, permission: Permission, before: BundleCheck
) -> ChangeOutcome:
    """Record the attempt, if it was denied by a rule: a bundle that has errors has none."""
    outcome = ChangeOutcome(
        status=ChangeStatus.DENIED,
        text=permission.text,
        rule=permission.rule,
        problems=() if before.bundle else before.problems,
    )
    if not permission.rule:
        return outcome
    note = f"asked to change {name}: nothing was written"
    try:
        with StateStore.open(editor.state) as store:
            return _recorded(editor, store, caller, note, outcome)
    except StateError as error:
        return attrs.evolve(outcome, error=error)


def _recorded(
    editor: BundleEditor, store: StateStore, caller: Caller, note: str, outcome: ChangeOutcome
) -> ChangeOutcome:
    """Note a change, or an attempt, for the negotiator; without one that runs, in the audit log.

    Whatever goes wrong, the file was written, or the attempt denied: that is what the outcome says.
    """
    request = Request(0, time.time(), caller.name, caller.groups, AdminAction.CHANGE, note=note)
    try:
        number = submit(
            store, request, AdminEnvironment(lambda: _loaded(editor), editor.audit_log, editor.key_file)
        )
        return attrs.evolve(outcome, request=number, recorded=store.answered(number) is not None)
    except (AuditError, BundleError, StateError) as error:
        if isinstance(error, BundleError):
            return attrs.evolve(outcome, error=CommandError(f"{editor.folder} has errors: {LATER}"))
        return attrs.evolve(outcome, error=type(error)(f"{error}: {LATER}"))


def _loaded(editor: BundleEditor) -> Bundle:
    examination = editor.examine()
    if examination.bundle is None:
        raise BundleError(examination.problems, editor.folder)
    return examination.bundle
