"""The submitters of a pool: who has idle jobs, and at which schedd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from negotiator_live.security.sessions import SecuritySession
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.ads import WireAd


@attrs.frozen
class Submitter:
    """A submitter at a schedd.

    ``name`` is ``user@domain``, ``tag`` the pool that the schedd advertised it to, ``idle`` the number of its idle jobs there.
    ``capability`` is a session with the schedd in which a negotiator may speak to it; None if it gave none.
    """

    name: str
    tag: str
    schedd: str
    address: DaemonAddress
    capability: SecuritySession | None = attrs.field(default=None, eq=False, repr=False)
    idle: int = attrs.field(default=0, eq=False)


@attrs.frozen
class SubmitterAds:
    """The ads of submitters: those to negotiate with, and why others are left out."""

    submitters: tuple[Submitter, ...]
    problems: tuple[str, ...]

    @classmethod
    def of(cls, ads: Iterable[WireAd]) -> SubmitterAds:
        """Return the submitters with idle jobs, each once for each schedd."""
        found: dict[tuple[str, str], Submitter] = {}
        problems: list[str] = []
        for ad in ads:
            idle = ad.integer("IdleJobs")
            if not idle:
                continue
            try:
                address = DaemonAddress.parse(ad.string("MyAddress") or ad.string("ScheddIpAddr"))
            except AddressError as error:
                problems.append(f"submitter {ad.string('Name')}: {error}")
                continue
            name = ad.string("OriginalName") or ad.string("Name")
            found[name, str(address)] = Submitter(
                *(name, ad.string("SubmitterTag"), ad.string("ScheddName"), address),
                capability=SecuritySession.of_capability(ad.string("Capability")),
                idle=idle,
            )
        return cls(tuple(found.values()), tuple(problems))


def ads_of(blocks: Iterable[str]) -> Iterator[WireAd]:
    """Yield the ads of texts in long form, of blocks of whole ads."""
    for block in blocks:
        for text in block.split("\n\n"):
            pairs = (line.partition(" = ") for line in text.split("\n"))
            expressions = {name: value for name, equals, value in pairs if equals}
            if expressions:
                yield WireAd(expressions)
