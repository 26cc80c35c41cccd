"""The slots that a submitter uses: ``-getreslist`` of condor_userprio.

As in condor_negotiator these are the records of the last cycle, and when it counted each slot. Of a pool that is named they are its
claimed slots, and when this negotiator matched them.

Source: condor_userprio 25.14.1.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from datetime import UTC, tzinfo

import attrs
import numpy as np

from negotiator.plugin import Environment, OrderRows, SlotInUse, StoredMatch, Table, printable
from negotiator_fairshare.accounts.state_rows import check_row, is_of_slots, resources_of
from negotiator_fairshare.pie.slot_weights import SlotUse
from negotiator_fairshare.userprio.columns import date, duration

_LINE = "{:<30} {:>12} {:>12}"
_UNKNOWN = "???"


@attrs.frozen
class UsedResource:
    """A slot in use, and when it was matched, in seconds since the epoch; None if that is not known."""

    name: str
    since: int | None = None


def recorded_resources(rows: OrderRows, user: str) -> list[SlotInUse]:
    """Return the slots of a submitter in the rows of the state, by the keys of their records; damaged rows are left out."""
    valid = {}
    for key, row in rows.items():
        if is_of_slots(key):
            with contextlib.suppress(ValueError):
                check_row(key, row)
                valid[key] = row
    return [SlotInUse(key, each.start_time) for key, each in resources_of(valid, user).items()]


def claimed_resources(
    user: str, matches: Sequence[StoredMatch], slots: Table, now: float, *, discount_suspended: bool
) -> list[UsedResource]:
    """Return the slots of a pool that a submitter uses, as fair share counts them, and its matches not yet shown.

    A slot was matched when its job was, else when the slot was; a dynamic slot has a name that no match has.
    """
    in_use = SlotUse.of(slots, Environment(now=now), discount_suspended=discount_suspended)
    used = np.flatnonzero(in_use.counted)[[name == user for name in in_use.users]]
    own = [each for each in matches if each.submitter == user]
    by_job = {(_host(each.slot), each.job): each for each in own if not each.is_copy}
    by_slot = {each.slot: each for each in own}
    names, jobs = slots.take(used).strings("Name"), slots.take(used).strings("JobId")
    found: list[UsedResource] = []
    for name, job in zip(map(str, names.tolist()), jobs.tolist(), strict=True):
        match = by_job.get((_host(name), job)) or by_slot.get(name)
        found.append(UsedResource(name, None if match is None else int(match.at)))
    seen = {each.name for each in found}
    pending = [each for each in own if not each.shown and each.slot not in seen]
    return [*found, *(UsedResource(each.slot, int(each.at)) for each in pending)]


def resource_lines(resources: Sequence[UsedResource], now: int, zone: tzinfo | None = UTC) -> Iterator[str]:
    """Yield the lines of the table of condor_userprio, sorted by the names of the slots."""
    yield _LINE.format("Resource Name", " Start Time", " Match Time")
    yield _LINE.format("-" * 13, f" {'-' * 10}", f" {'-' * 10}")
    for each in sorted(resources, key=lambda each: each.name):
        times = (_UNKNOWN, _UNKNOWN)
        if each.since is not None:
            times = date(each.since, zone), duration(now - each.since)
        yield _LINE.format(printable(each.name), *times)
    yield _LINE.format("-" * 13, f" {'-' * 12}", f" {'-' * 12}")
    yield f"Number of Resources Used: {len(resources)}"


def _host(slot: str) -> str:
    return slot.rpartition("@")[2]
