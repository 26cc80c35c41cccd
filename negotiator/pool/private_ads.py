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


def slot_key(ad: str) -> SlotKey | None:
    """Return the key of the slot that the text of an ad names; None if its name is missing or no plain string."""
    return _key(_strings(ad))


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
