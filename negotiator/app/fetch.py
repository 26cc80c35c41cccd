"""Use case: save the ads of a live pool as files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import attrs

from negotiator.activity import activity
from negotiator.app.targets import load
from negotiator.bundle import Bundle
from negotiator.errors import CommandError, InvalidCallError, PoolError
from negotiator.hooks.command_targets import CommandTargets
from negotiator.pool.saved_ads import SavedAds
from negotiator.records import Problem
from negotiator.runtime.live_pool import ShadowPool


@attrs.frozen
class SavedPool:
    """The ads that were saved in a folder: how many of each kind can be used.

    ``unanswered`` are the daemons that did not answer, ``set_aside`` the ads that cannot be used; they were saved too.
    """

    folder: Path
    counts: Mapping[str, int]
    unanswered: tuple[Problem, ...]
    set_aside: tuple[Problem, ...]


def fetch_pool(
    targets: CommandTargets,
    folder: Path,
    address: str = "",
    *,
    compress: bool = False,
    replace: bool = False,
) -> SavedPool:
    """Save the ads of the bundle's live pool, or of the one at an address, in a folder.

    :raises BundleError: the bundle has errors.
    :raises InvalidCallError: the folder exists and must not be replaced, or the address is invalid.
    :raises PoolError: the pool cannot be observed; nothing was saved.
    :raises CommandError: the folder cannot be written; nothing was saved.
    """
    bundle = load(targets)
    if address:
        bundle = _at(bundle, address)
    pool = ShadowPool(lambda: bundle)
    try:
        saving = SavedAds(folder, compress=compress, replace=replace)
        with saving as ads, activity("fetching the ads of the pool"):
            pool.observe(ads)
            snapshot = ads.snapshot()
            ads.save()
    except OSError as error:
        raise CommandError(f"{folder}: the ads cannot be saved: {error.strerror or error}") from error
    finally:
        pool.close()
    tables = {
        "slot": snapshot.slots,
        "schedd": snapshot.schedds,
        "submitter": snapshot.submitters,
        "job": snapshot.jobs,
    }
    counts = {kind: len(table) for kind, table in tables.items()}
    aside = tuple(each for each in snapshot.problems if each not in ads.unanswered)
    return SavedPool(folder, counts, tuple(ads.unanswered), aside)


def _at(bundle: Bundle, address: str) -> Bundle:
    """Return the bundle with the pool at another address."""
    source = bundle.source.chosen
    if source is None or source.record.at is None:
        name = source.record.name if source else "none"
        raise InvalidCallError(f"the live pool of the bundle ({name}) has no address: leave out POOL")
    try:
        settings = source.record.at(bundle.source.settings, address)
    except PoolError as error:
        raise InvalidCallError(str(error)) from error
    return attrs.evolve(bundle, source=attrs.evolve(bundle.source, settings=settings))
