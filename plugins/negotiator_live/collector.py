"""Queries to the collector: the ads of the pool's daemons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import attrs

from negotiator_live.security.client import SecureClient
from negotiator_live.wire.addresses import DaemonAddress
from negotiator_live.wire.ads import quoted
from negotiator_live.wire.answers import ad_texts
from negotiator_live.wire.channel import Channel
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import TIMEOUT, DaemonKind, Deadline, Exchange


@attrs.frozen
class AdQuery:
    """A query for ads of a type, such as ``Machine``, ``Submitter`` or ``Scheduler``.

    ``requirements`` is an expression over an ad. ``projection`` are the attributes to be sent, all if empty.
    ``private`` asks for capabilities too, which needs NEGOTIATOR authorization.
    """

    command: DaemonCommand
    target: str
    requirements: str = "true"
    projection: Sequence[str] = ()
    private: bool = False

    def ad(self) -> dict[str, str]:
        """Return the ad that is sent."""
        ad = {"MyType": '"Query"', "TargetType": quoted(self.target), "Requirements": self.requirements}
        if self.projection:
            ad["Projection"] = quoted(" ".join(self.projection))
        if self.private:
            ad["SendPrivateAttributes"] = "true"
        return ad


SLOTS = AdQuery(DaemonCommand.QUERY_STARTD_ADS, "Machine")
SLOT_CLAIMS = AdQuery(DaemonCommand.QUERY_STARTD_PVT_ADS, "Machine")
SUBMITTERS = AdQuery(DaemonCommand.QUERY_SUBMITTOR_ADS, "Submitter")
#: With the capabilities of their schedds: sessions in which these negotiate.
SUBMITTERS_WITH_CAPABILITIES = AdQuery(DaemonCommand.QUERY_MULTIPLE_PVT_ADS, "Submitter", private=True)
SCHEDDS = AdQuery(DaemonCommand.QUERY_SCHEDD_ADS, "Scheduler")


@attrs.frozen
class Collector:
    """The collector of a pool; every query has a connection of its own.

    ``address`` is where it is, or a function that returns where it is at present.
    """

    address: DaemonAddress | Callable[[], DaemonAddress]
    client: SecureClient
    name: str = ""
    timeout: float = TIMEOUT
    """Seconds for a whole query."""
    note_progress: Callable[[], None] = lambda: None
    """Called after each command."""

    def query(self, query: AdQuery) -> Iterator[str]:
        """Yield the ads that a query finds, in long form, in blocks of whole ads.

        :raises DaemonError: while iterating, if the collector does not answer as it should, or in time.
        """
        with self._open(query.command) as channel:
            channel.put_ad(query.ad())
            channel.end_message()
            yield from ad_texts(channel)
        self.note_progress()

    def update(self, command: DaemonCommand, ad: Mapping[str, str]) -> None:
        """Send an ad of this program, such as a Negotiator ad; the collector does not answer.

        :param ad: the text of an expression for each name, MyType among them.
        :raises DaemonError: the collector cannot be reached, or denies the command.
        """
        with self._open(command) as channel:
            channel.put_ad(ad)
            channel.end_message()
        self.note_progress()

    def update_all(self, command: DaemonCommand, ads: Iterable[Mapping[str, str]]) -> None:
        """Send several ads, as ``update`` does, over one connection.

        :raises DaemonError: the collector cannot be reached, or denies the command.
        """
        channel: Channel | None = None
        try:
            for ad in ads:
                if channel is None:
                    channel = self._open(command)
                else:
                    channel.put_int(command)
                channel.put_ad(ad)
                channel.end_message()
        finally:
            if channel is not None:
                channel.close()
        self.note_progress()

    def _open(self, command: DaemonCommand) -> Channel:
        address = self.address if isinstance(self.address, DaemonAddress) else self.address()
        exchange = Exchange(DaemonKind.COLLECTOR, self.name, address, command)
        return self.client.open(exchange, Deadline(self.timeout))
