"""The bundle and the time that the targets of a command name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from negotiator.activity import activity
from negotiator.bundle import Bundle, BundleCheck, default_bundle, examine_bundle
from negotiator.bundle.folder import MAIN
from negotiator.bundle.pool_configuration import AskPool, stored_configuration
from negotiator.errors import BundleError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.hooks.guard import Tracer
from negotiator.records import Problem, Severity, Source

if TYPE_CHECKING:
    from negotiator.runtime.state import StateStore


def bundle_folder(targets: CommandTargets) -> Path:
    """Return the folder of the policy bundle: the named one, else that of the state, else the built-in one.

    :raises StateError: the state cannot be read.
    :raises BundleChangedError: the folder that the state belongs to is missing.
    """
    if targets.bundle is not None:
        return targets.bundle
    with _state(targets) as store:
        return default_bundle() if store is None else _folder_of(store)


def without_state_bundle(targets: CommandTargets) -> CommandTargets:
    """Return the targets of a command that runs or administers a negotiator, with the bundle that is named or the built-in one.

    Such a command refuses a state of another bundle, so that a forgotten ``--bundle`` is noticed.
    """
    return attrs.evolve(targets, bundle=targets.bundle or default_bundle())


def check_state(targets: CommandTargets, bundle: Bundle) -> None:
    """Check that the state of the targets, if there is one, belongs to a bundle.

    :raises StateError: the state cannot be read.
    :raises BundleChangedError: it belongs to another one.
    """
    with _state(targets) as store:
        if store is not None:
            from negotiator.runtime.bundle_identity import check_bundle  # noqa: PLC0415 - imports NumPy, as the state does

            check_bundle(store, bundle)


def _folder_of(store: StateStore) -> Path:
    from negotiator.runtime.bundle_identity import state_folder  # noqa: PLC0415 - as above

    return state_folder(store) or default_bundle()


@contextmanager
def _state(targets: CommandTargets) -> Iterator[StateStore | None]:
    """Open the state for reading; None without one, and before its first run."""
    location = targets.state_location
    if location is None:
        yield None
        return
    from negotiator.runtime.state import StateStore  # noqa: PLC0415 - imports NumPy; many commands have no state

    if not StateStore.exists(location):
        yield None
        return
    with StateStore.read(location) as store:
        yield store


def examine(
    targets: CommandTargets,
    tracer: Tracer | None = None,
    replaced: Mapping[str, bytes] | None = None,
    settings: Mapping[str, str] = MappingProxyType({}),
    extra_plugins: Mapping[str, object] = MappingProxyType({}),
    ask_pool: AskPool = AskPool.NO,
) -> BundleCheck:
    """Read and check the bundle; its problems are part of the result.

    Unless the pool is asked for its own configuration, the one counts with which the negotiator of the state last ran.

    :param replaced: contents of files to use instead of those of the folder, by name.
    :param settings: texts that replace keys of ``pool.yaml``, by key.
    :param extra_plugins: further plugins by name, as modules or objects.
    :param ask_pool: whether the present configuration of the bundle's pool counts.
    """
    if ask_pool is AskPool.NO and targets.state_location is not None:
        replaced = {**stored_configuration(targets.state_location.folder), **(replaced or {})}
    with activity("loading the policy bundle"):
        return examine_bundle(
            bundle_folder(targets),
            extra_folders=targets.plugins_dirs,
            disable=targets.disable,
            tracer=tracer,
            replaced=replaced,
            overrides=overrides(targets),
            trial=settings,
            extra_plugins=extra_plugins,
            ask_pool=ask_pool,
        )


def overrides(targets: CommandTargets) -> Mapping[str, str]:
    """Return the texts of the configuration of the service that replace keys of the bundle.

    The list of the scheduler's administrators belongs to the bundle otherwise: one policy reads both.
    """
    return {} if targets.scheduler_acl is None else {"scheduleracl": targets.scheduler_acl}


def load(targets: CommandTargets, tracer: Tracer | None = None) -> Bundle:
    """Return the bundle that the state belongs to, if the targets have one.

    :raises BundleError: it has errors.
    :raises StateError: the state cannot be read.
    :raises BundleChangedError: another bundle is named than that of the state.
    """
    folder = bundle_folder(targets)
    bundle = loaded(examine(attrs.evolve(targets, bundle=folder), tracer), folder)
    check_state(targets, bundle)
    return bundle


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
