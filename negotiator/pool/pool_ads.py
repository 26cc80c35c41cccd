"""Collects the ads that a live pool sends."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Self

import attrs

from negotiator.classad import unparse_value
from negotiator.pool.ad_kind import SUBMITTER, PoolAdKind, kind_of_type
from negotiator.pool.alike_ads import AlikeReader
from negotiator.pool.longform import larger_blocks, read_long_blocks, whole_lines
from negotiator.pool.private_ads import (
    PresentSlot,
    SlotKey,
    ad_texts,
    last_heard_from,
    present_slot,
    slot_claims,
    update_number,
)
from negotiator.pool.snapshot_builder import SnapshotBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from negotiator.classad import Table
    from negotiator.pool.snapshot import Snapshot
    from negotiator.pool.vault import ClaimVault
    from negotiator.records import Problem

_CLAIMED: Final = frozenset({"Claimed", "Preempting"})
#: What the schedd of a running job is asked for in any case.
_IDENTITY: Final = frozenset(
    {
        "clusterid",
        "procid",
        "owner",
        "user",
        "jobuniverse",
        "qdate",
        "requestcpus",
        "requestdisk",
        "requestmemory",
    }
)
_OWN_IDENTITY: Final = re.compile(
    r"^(?:MyType|GlobalJobId|RemoteHost|AccountingGroup|JobStatus) = .*\n", re.MULTILINE | re.IGNORECASE
)
#: A schedd's name may itself contain "#".
_GLOBAL_JOB_ID: Final = re.compile(r"(.+)#([0-9]{1,18}\.[0-9]{1,18})#[^#]*", re.DOTALL)
_JOB_ID: Final = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")

MAX_UPDATES: Final = 10
"""Cycles that read changes of slots; then all are read anew, and old values take no more room."""


#: The kinds whose ads are all in one text, which is compared with that of the last cycle.
_TAKEN_OVER: Final = (PoolAdKind.SCHEDD, PoolAdKind.SUBMITTER)


@attrs.frozen(eq=False)
class _SentAds:
    """The digest of a text, and the table of the ads that it has; no ad of it was set aside."""

    digest: bytes
    table: Table


@attrs.frozen
class SlotChanges:
    """The slots whose ads must be fetched for an update; none at all unless there ``are_any``.

    Those with a ``LastHeardFrom`` of ``since`` or later, and those with these ``names``. Of private ads, with the claim ids: those of
    ``claims_since`` or later, and of ``claim_names``: these slots, and those without a claim id.
    """

    since: int
    names: tuple[str, ...]
    claims_since: int
    claim_names: tuple[str, ...]
    are_any: bool = True


@attrs.frozen
class ClaimedJob:
    """A job that a claimed slot names: its id and schedd, the slot, and what the startd says of its accounting group.

    ``schedd`` is spelled as its own ad's name. ``is_known``: its ad was read in an earlier cycle.
    """

    global_id: str
    schedd: str
    cluster: int
    proc: int
    slot: str
    group: str
    is_known: bool = False

    @classmethod
    def of(
        cls, slot: str, group: str | None, global_id: str, job: str | None, schedd: str | None
    ) -> Self | None:
        """Return the job of a claimed slot; None if the slot does not name one.

        :param global_id: the GlobalJobId, which is part of the job's ad: users can write another one.
        :param job: JobId, made of what users cannot change; None if the slot does not show it, as ``schedd``.
        :param schedd: RemoteScheddName, the schedd that has the claim.
        """
        found = _GLOBAL_JOB_ID.fullmatch(global_id)
        own = _JOB_ID.fullmatch(job or (found[2] if found else ""))
        name = schedd or (found[1] if found else "")
        if own is None or not name:
            return None
        if found is None or (found[1].lower(), found[2]) != (name.lower(), own[0]):
            global_id = f"{name}#{own[0]}#0"
        return cls(global_id, name, int(own[1]), int(own[2]), slot, group or "")

    def identity(self) -> str:
        """Return the attributes that its ad has whatever its user or schedd wrote, in long form."""
        given = {"MyType": "Job", "GlobalJobId": self.global_id, "RemoteHost": self.slot}
        if self.group:
            given["AccountingGroup"] = self.group.rpartition("@")[0] or self.group  # as jobs name it
        return (
            "".join(f"{name} = {unparse_value(text)}\n" for name, text in given.items()) + "JobStatus = 2\n"
        )


@attrs.define(eq=False)
class PoolReading:
    """The ads of a cycle as they were read, for the next cycle.

    ``updates`` counts the cycles that read changes since all slots were read, ``claims_since`` is the last ``LastHeardFrom`` of a
    private ad. ``running`` are the running jobs whose ads were asked for, with their slots, and ``projection`` the attributes that
    they have. ``free`` has what was known of each unclaimed slot before its ad was read. ``sent`` are the ads of the kinds that one text
    has, ``snapshot`` is that of the reading.
    """

    builder: SnapshotBuilder
    alike: AlikeReader
    updates: int = 0
    claims_since: int = 0
    running: dict[str, str] = attrs.field(factory=dict)
    projection: frozenset[str] = frozenset()
    free: Mapping[SlotKey, int] = attrs.field(factory=dict)
    sent: dict[PoolAdKind, _SentAds] = attrs.field(factory=dict)
    snapshot: Snapshot | None = None

    @classmethod
    def begin(cls) -> PoolReading:
        """Return a reading without ads."""
        builder = SnapshotBuilder()
        return cls(builder, AlikeReader(builder.dictionary, builder.budget))

    @property
    def can_continue(self) -> bool:
        """True unless too much is stored that no ad has any more."""
        return self.updates < MAX_UPDATES and not self.builder.budget.is_half_used

    def continued(
        self, present: Mapping[SlotKey, PresentSlot], *, decides: bool
    ) -> tuple[PoolReading, SlotChanges]:
        """Return a reading that begins with the slots that did not change, and the others.

        :param present: all slots that the pool has.
        :param decides: False if free slots may stay as they are.
        """
        times = self.slots.numbers("LastHeardFrom", default=-1.0).tolist()
        numbers = self.slots.numbers("UpdateSequenceNumber", default=-1.0).tolist()
        known = dict(zip(self.builder.slot_keys(), zip(times, numbers, strict=True), strict=True))
        free = {key: each.free for key, each in present.items() if each.free is not None}
        unchanged, changed = set[SlotKey](), set[SlotKey]()
        for key, each in present.items():
            heard, number = known.get(key, (-1, -1))
            is_same = heard == each.heard and each.number in {number, -1}
            may_stay = not decides and key in known and each.free is not None
            is_as_free = may_stay and self.free.get(key) == each.free
            (unchanged if is_same or is_as_free else changed).add(key)
        since, count = int(max(times, default=0.0)), self.builder.vault.count
        if all(each.number >= 0 for each in present.values()):
            # Nothing else has changed, also not within the last second.
            are_any, earlier = bool(changed), list[str]()
            since = min((present[key].heard for key in changed), default=since + 1)
        else:
            are_any = True
            # With an earlier time than the last one: the collector's clock was set back.
            earlier = [key.name for key in changed if present[key].heard < since]
        unclaimable = [name for name, address in present if not count(name, address)]
        changes = SlotChanges(
            since,
            tuple(earlier),
            self.claims_since,
            tuple(dict.fromkeys((*earlier, *unclaimable))),
            are_any=are_any or (decides and bool(unclaimable)),
        )
        builder = self.builder.continued(unchanged, present.keys())
        alike = self.alike.continued(builder.budget)
        updates = self.updates + changes.are_any
        return PoolReading(builder, alike, updates, self.claims_since, free=free), changes

    @property
    def slots(self) -> Table:
        """The slots that were read so far."""
        return self.builder.ads[PoolAdKind.SLOT].table()

    def running_jobs(self) -> list[ClaimedJob]:
        """Return the jobs that the slots run, those of one slot: of a job on several none is its slot."""
        columns = map(
            self.slots.strings,
            ("Name", "AccountingGroup", "GlobalJobId", "JobId", "RemoteScheddName", "State"),
        )
        found = [
            job
            for name, group, global_id, own, schedd, state in zip(*columns, strict=True)
            if global_id and name and state in _CLAIMED
            if (job := ClaimedJob.of(name, group, global_id, own, schedd)) is not None
        ]
        counts = Counter((each.schedd.lower(), each.cluster, each.proc) for each in found)
        return [each for each in found if counts[each.schedd.lower(), each.cluster, each.proc] == 1]

    def take_over(self, kind: PoolAdKind, digest: bytes, before: PoolReading | None) -> bool:
        """Take over the ads of a kind from the reading before if a daemon has sent the same text; return whether they are."""
        sent = None if before is None else before.sent.get(kind)
        if before is None or sent is None or sent.digest != digest or len(self.builder.ads[kind].keys):
            return False
        ads = before.builder.ads[kind]
        if before.builder.dictionary is not self.builder.dictionary or ads.table() is not sent.table:
            return False
        self.builder.ads[kind], self.sent[kind] = ads.taken_over(), sent
        return True

    def carry_running(self, before: PoolReading, unchanged: Mapping[str, str]) -> None:
        """Take over the ads of running jobs, by their ids with their slots."""
        jobs = before.builder.ads[PoolAdKind.JOB]
        keys = [key for key in jobs.keys if len(key) > 1 and key[1] in unchanged]
        self.builder.ads[PoolAdKind.JOB] = jobs.continued(self.builder.dictionary, frozenset(keys))
        self.running = {str(key[1]): unchanged[str(key[1])] for key in keys}


class PoolAds:
    """The ads of a pool at one moment: fetched from its daemons, read as those of files are.

    Ads that cannot be used are set aside, and are among the problems of the snapshot. Claim ids go to ``claims``, and are in
    no ad.

    An ad without JobStatus is a request of a schedd, and may be added several times; its attribute ``SUBMITTER`` is then the name of its
    submitter, which is otherwise the ad's AccountingGroup or user, at the domain of its User.

    :param significant: returns the job attributes, in lower case, that decisions with these slots read of any job; for a pool
        that is observed only, none.
    :param before: that of the last cycle; None if there is none.
    :param judged: returns, of the significant attributes, those that policies over running jobs need; empty: there are none.
    :param conditions: of rules over jobs alone, true where they deny a job.
    :param awaits_claims: matches are pending: what slots show of their claims ends them.
    """

    SUBMITTER: Final = SUBMITTER

    def __init__(
        self,
        significant: Callable[[Table], frozenset[str]] = lambda _: frozenset(),
        before: PoolReading | None = None,
        judged: Callable[[frozenset[str]], frozenset[str]] = lambda _: frozenset(),
        conditions: tuple[str, ...] = (),
        *,
        awaits_claims: bool = False,
    ) -> None:
        self.awaits_claims = awaits_claims
        self._significant, self._judged, self._conditions = significant, judged, conditions
        self.unanswered: list[Problem] = []
        self._before = self._carried = before if before is not None and before.can_continue else None
        self.reading = PoolReading.begin()

    def add(self, daemon: str, texts: Iterable[str], *, kind: str = "") -> None:
        """Add ads in the long form: a line for each attribute, and a blank line after each ad.

        Ads of all kinds may be mixed. Larger texts are read faster.

        :param daemon: the daemon that sent them, for messages.
        :param texts: may end anywhere, even within a line.
        :param kind: the MyType of the ads that were queried, such as ``Machine``: schedds, submitters, slots and jobs among them that are
            of another kind are set aside. Who may advertise a slot might not be allowed to advertise a submitter.
        """
        only = kind_of_type(kind) if kind else None
        if only not in _TAKEN_OVER:
            self._add(daemon, texts, only)
            return
        # The one text that the collector has of all daemons of a kind: that of the last cycle means the same.
        text = "".join(texts)
        digest = blake2b(f"{daemon}\n{text}".encode("utf-8", "surrogatepass")).digest()
        if self.reading.take_over(only, digest, self._carried):
            return
        builder = self.reading.builder
        before = len(builder.ads[only].keys), len(builder.problems), dict(builder.counts)
        self._add(daemon, (text,), only)
        if before == (0, len(builder.problems), builder.counts):
            self.reading.sent[only] = _SentAds(digest, builder.ads[only].table())

    def _add(self, daemon: str, texts: Iterable[str], only: PoolAdKind | None) -> None:
        blocks = larger_blocks(whole_lines(texts))
        found = read_long_blocks(blocks, daemon, self.reading.alike, keep_claims=True)
        self.reading.builder.add_results(daemon, found, only)

    def add_claims(self, daemon: str, texts: Iterable[str]) -> None:
        """Add the claim ids of slots: their private ads, as ``add`` reads them. A slot without one has no claim id then."""
        others = []
        self.reading.builder.has_all_claims = True
        for ad in ad_texts(texts):
            self.reading.claims_since = max(self.reading.claims_since, last_heard_from(ad))
            found = slot_claims(ad)
            if found is None:
                others.append(f"{ad}\n\n")
            else:
                self.reading.builder.put_private_claims(*found, update_number(ad))
        if others:
            self.add(daemon, others)

    @property
    def can_update(self) -> bool:
        """True if ``update`` can be called."""
        return self._before is not None

    def update(self, present: Iterable[str], *, decides: bool = True) -> SlotChanges:
        """Begin with the slots of the last cycle that did not change, and their claim ids; return which others must be added.

        Call this before any ad is added.

        :param present: in long form, the attributes Name, MyAddress, LastHeardFrom and, if the slots have it, UpdateSequenceNumber of all
            slots that the pool has; with State, also those attributes whose change makes the ad of an unclaimed slot worth reading.
        :param decides: False if no job is idle: an unclaimed slot of which only other attributes changed then stays as it was.
        """
        if self._before is None:
            raise ValueError("there is no last cycle to update")
        slots = dict(filter(None, map(present_slot, ad_texts(present))))
        (self.reading, changes), self._before = self._before.continued(slots, decides=decides), None
        return changes

    def significant_attributes(self) -> frozenset[str]:
        """Return the attributes, in lower case, in which jobs of one request must be equal, for the slots that were added.

        A schedd adds what its jobs' own expressions read.
        """
        return self._significant(self.reading.slots)

    def running_attributes(self) -> frozenset[str]:
        """Return the attributes that the ads of running jobs must have, in lower case; empty if no policy reads them.

        Call this after the slots were added.
        """
        found = self._judged(self.significant_attributes())
        self.reading.projection = found | _IDENTITY if found else found
        return self.reading.projection

    @property
    def running_conditions(self) -> tuple[str, ...]:
        """The conditions, over the ad of a job alone, that are true where a rule denies it whatever its slot is."""
        return self._conditions

    def running_jobs(self) -> tuple[ClaimedJob, ...]:
        """Return the jobs that the slots run. Call this after ``running_attributes``.

        A job on several slots is left out: it is judged by what its slots tell of it.
        """
        before = self._carried
        known: Mapping[str, str] = {}
        if before is not None and before.projection == self.reading.projection:
            known = before.running
        running = self.reading.running_jobs()
        return tuple(attrs.evolve(each, is_known=known.get(each.global_id) == each.slot) for each in running)

    def put_running(
        self, running: Iterable[ClaimedJob], answers: Iterable[tuple[str, ClaimedJob, str]]
    ) -> None:
        """Add the ads of running jobs, before any other job: those that schedds sent, and the known ones of the last cycle.

        :param running: what ``running_jobs`` returned.
        :param answers: the daemon that sent it, for messages, the job, and its attributes in long form. What identifies the job is
            the slot's.
        """
        sent = {job.global_id: (daemon, job, text) for daemon, job, text in answers}
        if self._carried is not None:
            unchanged = {
                each.global_id: each.slot for each in running if each.is_known and each.global_id not in sent
            }
            self.reading.carry_running(self._carried, unchanged)
        texts: dict[str, list[str]] = defaultdict(list)
        for daemon, job, text in sent.values():
            own = _OWN_IDENTITY.sub("", text.rstrip("\n") + "\n")
            texts[daemon].append(f"{own}{job.identity()}\n")
            self.reading.running[job.global_id] = job.slot
        for daemon, ads in texts.items():
            self.add(daemon, ads, kind="Job")

    def add_problem(self, problem: Problem) -> None:
        """Report what could not be fetched."""
        self.unanswered.append(problem)
        self.reading.builder.problems.append(problem)

    @property
    def claims(self) -> ClaimVault:
        """The claim ids of the slots."""
        return self.reading.builder.vault

    def snapshot(self) -> Snapshot:
        """Return the ads as tables: the snapshot of the last cycle itself if nothing has changed since."""
        before = None if self._carried is None else self._carried.snapshot
        self.reading.snapshot = self.reading.builder.snapshot(before)
        return self.reading.snapshot
