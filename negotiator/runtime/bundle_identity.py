"""The policy bundle of a state: what reads or continues the state uses no other, which would drain and remove its queues."""

from __future__ import annotations

import os
from pathlib import Path

from negotiator.audit.administration import reload_record
from negotiator.audit.log import AuditLog
from negotiator.bundle import Bundle, default_bundle
from negotiator.bundle.archive import files_digest
from negotiator.errors import InvalidCallError
from negotiator.runtime.state import StateBundle, StateStore

BUILT_IN = "built-in"


class BundleChangedError(InvalidCallError):
    """The state belongs to another bundle than the given one, and no change was requested."""


def identity(bundle: Bundle) -> StateBundle:
    """Return what identifies a bundle: its absolute path, in which links are not followed, and its digest."""
    if bundle.folder == default_bundle():
        return StateBundle(BUILT_IN, bundle.digest)
    path = os.path.abspath(bundle.folder)  # noqa: PTH100 - a link may lead to another version of the same bundle
    return StateBundle(path, bundle.digest)


def state_folder(store: StateStore) -> Path | None:
    """Return the folder of the bundle that a state belongs to; None before its first run.

    :raises BundleChangedError: the folder is missing.
    """
    known = store.bundle()
    if known is None:
        return None
    if known.folder == BUILT_IN:
        return default_bundle()
    folder = Path(known.folder)
    if not folder.is_dir():
        raise BundleChangedError(
            f"{store.name}: the {_name(known)}, which this state belongs to, is missing: use --bundle FOLDER with a copy of it"
        )
    return folder


def check_bundle(store: StateStore, bundle: Bundle) -> None:
    """Check that a bundle is the one of a state: the same folder, whatever its files and plugins, or the same elsewhere.

    :raises BundleChangedError: it is another one.
    """
    known, given = store.bundle(), identity(bundle)
    if known is None or _is_same(known, given, bundle):
        return
    used = "--bundle" if known.folder != BUILT_IN else "no --bundle"
    raise BundleChangedError(
        f"{store.name}: this state belongs to the {_name(known)}, but the {_name(given)} was given: use {used}"
        f"{f' {known.folder}' if known.folder != BUILT_IN else ''}, or negotiator run --change-bundle, which replaces all "
        "queues of the state"
    )


def use_bundle(store: StateStore, bundle: Bundle, log: AuditLog | None, user: str, now: float) -> None:
    """Let a state belong to a bundle; record the change if it belonged to another one."""
    known, given = store.bundle(), identity(bundle)
    if known == given:
        return
    if log is not None and known is not None and not _is_same(known, given, bundle):
        log.store_bundle(bundle.digest, bundle.files)
        log.append(
            [
                reload_record(
                    now=now,
                    bundle=known.digest,
                    trigger=f"--change-bundle by {user}: {_name(known)} -> {_name(given)}",
                    new_bundle=given.digest,
                    problems=(),
                    accepted=True,
                )
            ]
        )
        log.sync()
    store.use_bundle(given)


def _is_same(known: StateBundle, given: StateBundle, bundle: Bundle) -> bool:
    # An upgrade of a plugin changes the digest, and locks nobody out of the state of the same folder. Before it covered the
    # plugins, a state had the digest of the files alone.
    if known.folder == given.folder or known.digest in {given.digest, files_digest(bundle.files)}:
        return True
    return known.folder != BUILT_IN != given.folder and _is_same_folder(
        Path(known.folder), Path(given.folder)
    )


def _is_same_folder(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _name(bundle: StateBundle) -> str:
    return "built-in policy bundle" if bundle.folder == BUILT_IN else f"policy bundle {bundle.folder}"
