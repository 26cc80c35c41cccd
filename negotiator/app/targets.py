"""The bundle and the time that the targets of a command name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import attrs

from negotiator.activity import activity
from negotiator.bundle import Bundle, BundleCheck, default_bundle, examine_bundle
from negotiator.bundle.folder import MAIN
from negotiator.errors import BundleError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.guard import Tracer
from negotiator.records import Problem, Severity, Source


def bundle_folder(targets: CommandTargets) -> Path:
    """Return the folder of the policy bundle."""
    return targets.bundle or default_bundle()


def examine(
    targets: CommandTargets,
    tracer: Tracer | None = None,
    replaced: Mapping[str, bytes] | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> BundleCheck:
    """Read and check the bundle; its problems are part of the result.

    :param replaced: contents of files to use instead of those of the folder, by name.
    :param settings: texts that replace keys of ``pool.yaml``, by key.
    """
    with activity("loading the policy bundle"):
        return examine_bundle(
            bundle_folder(targets),
            extra_folders=targets.plugins_dirs,
            disable=targets.disable,
            tracer=tracer,
            replaced=replaced,
            overrides=overrides(targets),
            trial=settings,
        )


def overrides(targets: CommandTargets) -> Mapping[str, str]:
    """Return the texts of the configuration of the service that replace keys of the bundle.

    The list of the scheduler's administrators belongs to the bundle otherwise: one policy reads both.
    """
    return {} if targets.scheduler_acl is None else {"scheduleracl": targets.scheduler_acl}


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


def bound(examination: BundleCheck, address: tuple[str, int] | None) -> BundleCheck:
    """Return an examination whose live pool accepts connections at an address, instead of that of the bundle.

    :param address: the host and port; None leaves it to the bundle.
    """
    bundle = examination.bundle
    if bundle is None or address is None or bundle.source.chosen is None:
        return examination
    source = bundle.source.chosen.record
    if source.bind is None:
        message = f"the source {source.name} accepts no connections of tools and daemons"
        hint = "remove bind_host and bind_port from the configuration of the service"
        wrong = Problem(Severity.ERROR, Source(MAIN), message, hint)
        return attrs.evolve(examination, bundle=None, problems=(*examination.problems, wrong))
    settings = source.bind(bundle.source.settings, *address)
    moved = attrs.evolve(bundle, source=attrs.evolve(bundle.source, settings=settings))
    return attrs.evolve(examination, bundle=moved)
