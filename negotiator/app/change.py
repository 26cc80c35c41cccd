"""Use case: replace a file of the policy bundle."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import attrs

from negotiator.app.status import status_of
from negotiator.app.targets import bundle_folder, overrides
from negotiator.bundle import BundleCheck, default_bundle, examine_bundle
from negotiator.defaults import MAX_NOTE
from negotiator.errors import CommandError, InvalidCallError, StateError
from negotiator.exit_codes import ExitCode
from negotiator.files import open_regular
from negotiator.hooks.administration import Caller, ChangeOutcome, ChangeStatus, Permission
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime import bundle_editor
from negotiator.runtime.change_file import ChangedMeanwhileError as ChangedMeanwhileError


def may_configure(targets: CommandTargets, caller: Caller) -> Permission:
    """Ask the access policy of the bundle whether the caller may change it.

    :raises InvalidCallError: no bundle is named.
    """
    return bundle_editor.may_configure(_editor(targets), caller)


def change_bundle(
    targets: CommandTargets,
    caller: Caller,
    name: str,
    content: bytes,
    note: str = "",
    superseded: Sequence[str] = (),
    expected: str | None = None,
) -> ChangeOutcome:
    """Replace the contents of a file at the top of the bundle, unless the changed bundle has errors.

    Other parameters, result and errors are those of ``CommandContext.change``.

    :param expected: the ``digest`` of the ``PresentFile`` that the change was made from; None: whatever the file has now.
    :raises ChangedMeanwhileError: the file has other contents now; nothing was changed.
    """
    if len(note) > MAX_NOTE:
        raise InvalidCallError(f"the note has {len(note)} characters: at most {MAX_NOTE} are allowed")
    try:
        outcome = bundle_editor.change(_editor(targets), caller, name, content, note, superseded, expected)
    except StateError as error:
        raise StateError(f"{error}: nothing was changed") from None
    return attrs.evolve(outcome, exit_code=_exit_code(outcome))


def _exit_code(outcome: ChangeOutcome) -> ExitCode:
    if outcome.status is not ChangeStatus.DONE:
        return ExitCode.NOT_DONE
    return ExitCode.DONE if outcome.error is None else status_of(outcome.error).exit_code


def _editor(targets: CommandTargets) -> bundle_editor.BundleEditor:
    folder = changeable_folder(targets)
    as_written = partial(examine_bundle, folder, overrides=overrides(targets))
    with_plugins = partial(as_written, extra_folders=targets.plugins_dirs, disable=targets.disable)
    differs = targets.plugins_dirs or targets.disable
    return bundle_editor.BundleEditor(
        folder=folder,
        examine=lambda replaced=None: with_plugins(replaced=replaced),
        # Plugins that the caller adds or leaves out must not decide who may change the bundle.
        as_written=(lambda replaced=None: as_written(replaced=replaced)) if differs else None,
        state=targets.required_state,
        audit_log=targets.audit_log,
        key_file=targets.key_file,
    )


def changeable_folder(targets: CommandTargets) -> Path:
    """Return the folder of the bundle, which can be changed.

    :raises InvalidCallError: it is the built-in one.
    :raises StateError: the state cannot be read.
    """
    folder = bundle_folder(targets)
    if folder == default_bundle():
        raise InvalidCallError("missing bundle: use --bundle FOLDER (the built-in one cannot be changed)")
    return folder


@attrs.frozen
class PresentFile:
    """A file of the bundle as it is now. ``digest`` is its SHA-256; it is empty, as the content, if there is no such file."""

    content: bytes
    digest: str


def present_file(targets: CommandTargets, name: str) -> PresentFile:
    """Return the present contents of a file at the top of the bundle, which a change would replace.

    :raises CommandError: it cannot be read.
    """
    path = bundle_folder(targets) / name
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            content = opened.read()
    except FileNotFoundError:
        return PresentFile(b"", "")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    return PresentFile(content, hashlib.sha256(content).hexdigest())


def check_change(targets: CommandTargets, name: str, content: bytes) -> BundleCheck:
    """Return the problems that the bundle would have with other contents of a file; nothing is written."""
    return examine_bundle(
        bundle_folder(targets),
        extra_folders=targets.plugins_dirs,
        disable=targets.disable,
        overrides=overrides(targets),
        replaced={name: content},
    )
