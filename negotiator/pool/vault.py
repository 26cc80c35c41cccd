"""Claim ids, apart from the snapshot: whoever holds a claim id may use the slot.

The vault returns each claim id once, to the part of the runtime that delivers matches. Nothing else can read it: it
cannot be printed, iterated over, copied or serialised.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final, Never

from negotiator.classad.syntax import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

_SINGLE: Final = frozenset({"claimid", "capability"})  # Capability is the name before HTCondor 7
_ENDPOINT: Final = re.compile(
    r"<(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}(?=[?>])"
)  # of an address as HTCondor writes it
_PUBLIC: Final = re.compile(r"<[^<>]{1,4000}>#\d{1,20}#\d{1,20}", re.ASCII)
_LIST: Final = "claimidlist"


class Secret:
    """A text that does not show itself in messages, dumps and tracebacks.

    ``is_listed``: it is one of several claim ids of a slot, from its ``ClaimIdList``.
    """

    __slots__ = ("__text", "is_listed")

    def __init__(self, text: str, *, is_listed: bool = False) -> None:
        self.__text, self.is_listed = text, is_listed

    def reveal(self) -> str:
        """Return the text."""
        return self.__text

    def is_of_another_startd(self, address: str) -> bool:
        """True if this is a claim id that begins with the address of another startd than this one (``ClaimIdParser``).

        Hosts and ports are compared: other parts of an address may change while the startd runs.
        """
        made_by, own = _ENDPOINT.match(self.__text), _ENDPOINT.match(address)
        return made_by is not None and own is not None and made_by[0] != own[0]

    @property
    def public_part(self) -> str:
        """What identifies a claim id and is no secret: the text that its slot publishes as ``PublicClaimId``.

        It ends before the last ``#`` (``ClaimIdParser::publicClaimId``). A digest stands for a claim id of another form than those of
        startds, address, start and number: what of it is a secret is not known.
        """
        public, mark, _ = self.__text.rpartition("#")
        if mark and _PUBLIC.fullmatch(public):
            return f"{public}#..."
        return f"sha256:{hashlib.sha256(self.__text.encode()).hexdigest()}"

    def __repr__(self) -> str:
        return "<Secret>"

    def __reduce_ex__(self, _protocol: object) -> Never:
        raise TypeError("a secret cannot be copied or serialised")


def claim_ids(name: str, value: object) -> tuple[Secret, ...]:
    """Return the claim ids in an attribute of a slot's ad, public or private; none if it holds no claim id.

    ``ClaimIdList`` has several, separated by blanks (``Resource::publish_private``) or commas (``MakeClaimIdHash``).
    """
    if not isinstance(value, str) or not value.strip():
        return ()
    if fold(name) in _SINGLE:
        return (Secret(value),)
    if fold(name) == _LIST:
        return tuple(Secret(each, is_listed=True) for each in value.replace(",", " ").split())
    return ()


class ClaimVault:
    """The claim ids of a pool's slots, by the slot's name and the address of its startd.

    Its ``repr`` shows how many there are. Copying, pickling and iterating raise ``TypeError``.
    """

    __slots__ = ("__by_match", "__claims", "__taken")

    def __init__(self) -> None:
        self.__claims: dict[str, dict[str, list[Secret]]] = {}
        # By slot: the list that claim ids were taken from, and their public parts. A list is replaced when new ones are stored.
        self.__taken: dict[str, tuple[list[Secret], frozenset[str]]] = {}
        self.__by_match: dict[str, str] = {}

    def put(self, slot: str, address: str, claims: Iterable[Secret]) -> None:
        """Store the claim ids of a slot, each once, in place of those it had.

        Of a slot with a ``ClaimIdList`` these alone: its ``ClaimId`` is another one, and becomes invalid when one of the list
        is used (``ResMgr::getResource``, condor_startd 25.14.1).
        """
        given = tuple(claims)
        listed = [claim for claim in given if claim.is_listed]
        found = {claim.reveal(): claim for claim in listed or given}
        self.__claims.setdefault(slot, {})[address] = list(found.values())

    def take(self, slot: str, address: str | None = None, match: str = "") -> str | None:
        """Return the next claim id of a slot and remove it; None without further ones.

        Without an ``address``, return None if slots of several startds have this name.

        :param match: the id of the match that it is for, by which ``taken`` finds its public part.
        """
        claims = self.__claims_of(slot, address)
        if not claims:
            return None
        claim = claims.pop(0)
        before, taken = self.__taken.get(slot, (claims, frozenset()))
        self.__taken[slot] = claims, (taken if before is claims else frozenset()) | {claim.public_part}
        if match:
            self.__by_match[match] = claim.public_part
        return claim.reveal()

    def taken(self, match: str) -> str | None:
        """Return the public part of the claim id that was taken for a match, once; None if none was."""
        return self.__by_match.pop(match, None)

    def count(self, slot: str, address: str) -> int:
        """Return how many claim ids a slot has."""
        return len(self.__claims.get(slot, {}).get(address, ()))

    def public_parts(self, slot: str) -> frozenset[str]:
        """Return the public parts of all claim ids of a slot, with those taken since they were stored.

        Empty if slots of several startds have this name.
        """
        claims = self.__claims_of(slot, None)
        if claims is None:
            return frozenset()
        before, taken = self.__taken.get(slot, (claims, frozenset()))
        found = frozenset(claim.public_part for claim in claims)
        return found | (taken if before is claims else frozenset())

    def drop(self, slot: str, address: str | None = None) -> None:
        """Remove the claim ids of a slot; without an ``address``, those of all slots of this name."""
        if address is None:
            self.__claims.pop(slot, None)
        else:
            self.__claims.get(slot, {}).pop(address, None)

    def clear(self) -> None:
        """Remove all claim ids."""
        self.__claims.clear()

    def __claims_of(self, slot: str, address: str | None) -> list[Secret] | None:
        by_address = self.__claims.get(slot, {})
        if address is not None:
            return by_address.get(address)
        return next(iter(by_address.values())) if len(by_address) == 1 else None

    def __len__(self) -> int:
        return sum(len(claims) for by_address in self.__claims.values() for claims in by_address.values())

    def __repr__(self) -> str:
        return f"<ClaimVault of {len(self)} claim ids>"

    __iter__ = None

    def __reduce_ex__(self, _protocol: object) -> Never:
        raise TypeError("a claim vault cannot be copied or serialised")
