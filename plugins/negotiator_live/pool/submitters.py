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
    def of(cls, ads: Iterable[WireAd], schedds: Iterable[WireAd] = ()) -> SubmitterAds:
        """Return the submitters with idle jobs, each once for each schedd.

        An ad that names a schedd at another address than that schedd's own is left out: its jobs would pass for those of the schedd, and
        the matches of the schedd would be sent there.

        :param schedds: the ads of the pool's schedds; of those that have none the first address counts.
        """
        found: dict[tuple[str, str], Submitter] = {}
        problems: list[str] = []
        addresses = {
            each.string("Name").lower(): address for each in schedds if (address := _own_address(each))
        }
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
            schedd = ad.string("ScheddName")
            own = addresses.setdefault(schedd.lower(), address) if schedd else address
            if (own.primary, own.shared_port_id) != (address.primary, address.shared_port_id):
                problems.append(
                    f"submitter {name}: the ad is set aside: it names the schedd {schedd}, which is at"
                    f" {own.shown}, and not at {address.shown}"
                )
                continue
            found[name, str(address)] = Submitter(
                *(name, ad.string("SubmitterTag"), schedd, address),
                capability=SecuritySession.of_capability(ad.string("Capability")),
                idle=idle,
            )
        return cls(tuple(found.values()), tuple(problems))


def _own_address(schedd: WireAd) -> DaemonAddress | None:
    try:
        return DaemonAddress.parse(schedd.string("MyAddress") or schedd.string("ScheddIpAddr"))
    except AddressError:
        return None


def ads_of(blocks: Iterable[str]) -> Iterator[WireAd]:
    """Yield the ads of texts in long form, of blocks of whole ads."""
    for block in blocks:
        for text in block.split("\n\n"):
            pairs = (line.partition(" = ") for line in text.split("\n"))
            expressions = {name: value for name, equals, value in pairs if equals}
            if expressions:
                yield WireAd(expressions)
