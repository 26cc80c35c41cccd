"""Use case: replace a file of the policy bundle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import attrs

from negotiator.app.status import status_of
from negotiator.app.targets import bundle_folder, overrides
from negotiator.bundle import BundleCheck, examine_bundle
from negotiator.defaults import MAX_NOTE
from negotiator.errors import InvalidCallError, StateError
from negotiator.exit_codes import ExitCode
from negotiator.hooks.administration import Caller, ChangeOutcome, ChangeStatus, Permission
from negotiator.hooks.command_targets import CommandTargets
from negotiator.runtime import bundle_editor


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
) -> ChangeOutcome:
    """Replace the contents of a file at the top of the bundle, unless the changed bundle has errors.

    Parameters, result and errors are those of ``CommandContext.change``.
    """
    if len(note) > MAX_NOTE:
        raise InvalidCallError(f"the note has {len(note)} characters: at most {MAX_NOTE} are allowed")
    try:
        outcome = bundle_editor.change(_editor(targets), caller, name, content, note, superseded)
    except StateError as error:
        raise StateError(f"{error}: nothing was changed") from None
    return attrs.evolve(outcome, exit_code=_exit_code(outcome))


def _exit_code(outcome: ChangeOutcome) -> ExitCode:
    if outcome.status is not ChangeStatus.DONE:
        return ExitCode.NOT_DONE
    return ExitCode.DONE if outcome.error is None else status_of(outcome.error).exit_code


def _editor(targets: CommandTargets) -> bundle_editor.BundleEditor:
    if targets.bundle is None:
        raise InvalidCallError("missing bundle: use --bundle FOLDER (the built-in one cannot be changed)")
    as_written = partial(examine_bundle, targets.bundle, overrides=overrides(targets))
    with_plugins = partial(as_written, extra_folders=targets.plugins_dirs, disable=targets.disable)
    differs = targets.plugins_dirs or targets.disable
    return bundle_editor.BundleEditor(
        folder=targets.bundle,
        examine=lambda replaced=None: with_plugins(replaced=replaced),
        # Plugins that the caller adds or leaves out must not decide who may change the bundle.
        as_written=(lambda replaced=None: as_written(replaced=replaced)) if differs else None,
        state=targets.required_state,
        audit_log=targets.audit_log,
        key_file=targets.key_file,
    )


def check_change(targets: CommandTargets, name: str, content: bytes) -> BundleCheck:
    """Return the problems that the bundle would have with other contents of a file; nothing is written."""
    return examine_bundle(
        bundle_folder(targets),
        extra_folders=targets.plugins_dirs,
        disable=targets.disable,
        overrides=overrides(targets),
        replaced={name: content},
    )
