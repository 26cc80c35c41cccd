"""The jobs of a pool as its schedds report them: by query, as condor_q does, never by a negotiation.

Source: ``CondorQ::fetchQueueFromHostAndProcessV2`` and ``DCSchedd::queryJobs``: QUERY_JOB_ADS, authorization READ.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from negotiator_live.security.client import SecureClient
from negotiator_live.wire.addresses import AddressError, DaemonAddress
from negotiator_live.wire.ads import WireAd, quoted
from negotiator_live.wire.commands import DaemonCommand
from negotiator_live.wire.exchange import DaemonKind, Deadline, Exchange
from negotiator_live.wire.job_answers import job_texts

_REPLACED: Final = re.compile(r"^(?:MyType|GlobalJobId) = .*\n", re.MULTILINE | re.IGNORECASE)
_NUMBER: Final = {
    name: re.compile(rf"^{name} = (\d{{1,18}})$", re.MULTILINE | re.IGNORECASE)
    for name in ("ClusterId", "ProcId", "QDate")
}
_ID: Final = ("ClusterId", "ProcId")


@attrs.define(eq=False)
class JobQuery:
    """A query for jobs of one schedd, by default for all; ``texts`` are their ads in long form.

    ``projection`` are the attributes to be sent, all if empty. ``seconds`` are those that the last ``fetch`` took.
    """

    schedd: str
    address: DaemonAddress
    client: SecureClient
    timeout: float
    constraint: str = "true"
    projection: tuple[str, ...] = ()
    texts: list[str] = attrs.field(factory=list, init=False, repr=False)
    seconds: float = attrs.field(default=0.0, init=False)

    def fetch(self) -> None:
        """Fetch the jobs.

        :raises DaemonError: the schedd does not answer as it should, or in time; ``texts`` are then empty.
        """
        since = time.monotonic()
        try:
            self._fetch()
        finally:
            self.seconds = time.monotonic() - since

    def _fetch(self) -> None:
        query = {"MyType": '"Query"', "TargetType": '"Job"', "Requirements": self.constraint}
        if self.projection:
            query["Projection"] = quoted(" ".join(self.projection))
        exchange = Exchange(DaemonKind.SCHEDD, self.schedd, self.address, DaemonCommand.QUERY_JOB_ADS)
        with self.client.open(exchange, Deadline(self.timeout)) as channel:
            channel.put_ad(query)
            channel.end_message()
            self.texts = [_of_schedd(text, self.schedd) for text in job_texts(channel)]

    def ads(self) -> Iterator[tuple[tuple[int, int], str]]:
        """Yield the cluster and process of each job, and its ad."""
        for text in self.texts:
            for ad in filter(None, text.split("\n\n")):
                cluster, proc = (int(found[1]) if (found := _NUMBER[name].search(ad)) else -1 for name in _ID)
                yield (cluster, proc), ad


def job_queries(
    schedds: Iterable[WireAd], client: SecureClient, timeout: float
) -> tuple[list[JobQuery], list[str]]:
    """Return a query for each schedd, each once, and why others are left out."""
    found: dict[str, JobQuery] = {}
    problems: list[str] = []
    for ad in schedds:
        name = ad.string("Name")
        try:
            address = DaemonAddress.parse(ad.string("MyAddress") or ad.string("ScheddIpAddr"))
        except AddressError as error:
            problems.append(f"schedd {name}: {error}")
            continue
        found[str(address)] = JobQuery(name, address, client, timeout)
    return list(found.values()), problems


def _of_schedd(text: str, schedd: str) -> str:
    """Return the ads of jobs as those of this schedd, whatever users wrote into ``MyType`` and ``GlobalJobId``."""
    return "".join(_identified(text.split("\n\n"), schedd))


def _identified(ads: Iterable[str], schedd: str) -> Iterator[str]:
    for ad in ads:
        if ad:
            cluster, proc, date = (
                found[1] if (found := each.search(ad)) else "0" for each in _NUMBER.values()
            )
            identity = f'MyType = "Job"\nGlobalJobId = {quoted(f"{schedd}#{cluster}.{proc}#{date}")}\n'
            yield f"{_REPLACED.sub('', ad + chr(10))}{identity}\n"
