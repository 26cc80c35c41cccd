"""Finds the claim ids of slots in the text of private ads, without making ads of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from negotiator.classad.syntax import fold
from negotiator.pool.longform import whole_lines
from negotiator.pool.vault import Secret, claim_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: A string without escapes; other values are read as expressions.
_LINE: Final = re.compile(
    r'^(Name|MyAddress|StartdIpAddr|ClaimId|Capability|ClaimIdList) = "([^"\\\n]*)"$',
    re.MULTILINE | re.IGNORECASE,
)
_HEARD: Final = re.compile(r"^LastHeardFrom = (\d{1,18})$", re.MULTILINE | re.IGNORECASE | re.ASCII)
_UPDATE: Final = re.compile(r"^UpdateSequenceNumber = (\d{1,18})$", re.MULTILINE | re.IGNORECASE | re.ASCII)
_OF_UPDATE: Final = ("LastHeardFrom = ", "UpdateSequenceNumber = ")
_ADDRESSES: Final = ("myaddress", "startdipaddr")


class SlotKey(NamedTuple):
    """The name of a slot, and the address of its startd."""

    name: str
    address: str


def ad_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the text of each ad: the lines up to a blank one."""
    rest = ""
    for block in whole_lines(texts):
        *ads, rest = (rest + block).split("\n\n")
        yield from filter(str.strip, ads)
    if rest.strip():
        yield rest


class PresentSlot(NamedTuple):
    """A slot that a pool has: when the collector received its ad, the number of the update (-1 if it is missing), and how it is free.

    ``free`` is None for a slot that is not unclaimed; else equal as long as all other attributes of the text are.
    """

    heard: int
    number: int
    free: int | None


def present_slot(ad: str) -> tuple[SlotKey, PresentSlot] | None:
    """Return the slot of an ad with a few attributes; None if its name is missing or no plain string."""
    key, number = _key(_strings(ad)), update_number(ad)
    if key is None:
        return None
    lines = ad.split("\n")
    free = None
    if 'State = "Unclaimed"' in lines:
        free = hash(tuple(sorted(each for each in lines if not each.startswith(_OF_UPDATE))))
    return key, PresentSlot(last_heard_from(ad), -1 if number is None else number, free)


def last_heard_from(ad: str) -> int:
    """Return when the collector received an ad, by its clock in seconds; 0 if that is missing."""
    found = _HEARD.search(ad)
    return int(found[1]) if found else 0


def update_number(ad: str) -> int | None:
    """Return the number of the update that an ad is of, counted by its daemon; None if that is missing."""
    found = _UPDATE.search(ad)
    return int(found[1]) if found else None


def slot_claims(ad: str) -> tuple[SlotKey, tuple[Secret, ...]] | None:
    """Return a slot and its claim ids, from the text of a private ad; None if they are not plain strings."""
    found = _strings(ad)
    key = _key(found)
    claims = tuple(secret for name, value in found.items() for secret in claim_ids(name, value))
    return (key, claims) if key and claims else None


def _strings(ad: str) -> dict[str, str]:
    return {fold(name): value for name, value in _LINE.findall(ad)}


def _key(strings: dict[str, str]) -> SlotKey | None:
    name = strings.get("name")
    address = next(filter(None, map(strings.get, _ADDRESSES)), "")
    return SlotKey(name, address) if name else None
