"""The bundle and the time that the targets of a command name."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from negotiator.bundle import Bundle, BundleCheck, default_bundle, examine_bundle
from negotiator.errors import BundleError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.guard import Tracer


def bundle_folder(targets: CommandTargets) -> Path:
    """Return the folder of the policy bundle."""
    return targets.bundle or default_bundle()


def examine(targets: CommandTargets, tracer: Tracer | None = None) -> BundleCheck:
    """Read and check the bundle; its problems are part of the result."""
    return examine_bundle(
        bundle_folder(targets), extra_folders=targets.plugins_dirs, disable=targets.disable, tracer=tracer
    )


def load(targets: CommandTargets, tracer: Tracer | None = None) -> Bundle:
    """Return the bundle.

    :raises BundleError: it has errors.
    """
    return loaded(examine(targets, tracer), bundle_folder(targets))


def loaded(examination: BundleCheck, folder: Path) -> Bundle:
    """Return the bundle of an examination.

    :raises BundleError: it has errors.
    """
    if examination.bundle is None:
        raise BundleError(examination.problems, folder)
    return examination.bundle


def current_time(targets: CommandTargets) -> float:
    """Return the time to work with, in seconds since the epoch."""
    return time.time() if targets.now is None else targets.now


def clock(targets: CommandTargets) -> Callable[[], float]:
    """Return a clock, in seconds since the epoch; its time is constant if the targets name one."""
    now = targets.now
    return time.time if now is None else lambda: now
