"""The claims of a pool: the slots of the jobs that run, and the matches of the journal that they were made by.

A job without an ad is counted by the attributes that its slot's ad has of it.

Source: HTCondor manual, Machine ClassAd Attributes (State, RemoteOwner, RemoteUser, JobId, GlobalJobId). Amounts that
the slot does not show are counted at their highest: all that the slot has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import AttributeValues, IntegerValues, Kind, LiteralValue, Table
from negotiator.classad.syntax import fold
from negotiator.cycle import jobs as job_columns
from negotiator.cycle.jobs import Strings, names
from negotiator.cycle.journal import JournalEntry
from negotiator.cycle.numbering import Numbers, first_rows, numbered
from negotiator.ledger import Rows

#: States of a slot that has a job (HTCondor manual, Machine ClassAd Attributes, State).
CLAIMED = frozenset({"claimed", "preempting"})
#: A dynamic slot is named after the slot that it was taken from: slot1_2@host from slot1@host.
_DYNAMIC = re.compile(r"(.*\d)_\d+(@.*)?", re.DOTALL)
#: Attributes that the job's ad and the slot's ad share.
_COPIED = ("AccountingGroup", "GlobalJobId", "Queue", "Project")
#: Resources that a slot's ad names otherwise than a job's RequestName.
_NAMED_OTHERWISE = frozenset({"cpu", "cpus", "memory", "vcore"})
#: As slots name their jobs; a number of more digits may not fit 64 bits.
_JOB_ID = re.compile(r"([0-9]{1,18})\.([0-9]{1,18})")


def slots_of(jobs: Table, slots: Table) -> Rows:
    """Return the row of each running job's slot, (N,): -1 if it is not in the pool.

    A claimed slot names its job, which counts more than the slot that the job names: users write the ads of jobs. A slot
    that is claimed by another job of another user is not believed to be the job's.
    """
    if not len(jobs):
        return np.zeros(0, np.intp)
    by_name = {name: row for row, name in enumerate(names(slots, "Name").tolist()) if name}
    found = np.array([by_name.get(name, -1) for name in names(jobs, "RemoteHost").tolist()], np.intp)
    claimed = {row: claim for row, claim in slot_claims(slots).items() if claim.job}
    if not claimed:
        return found
    claims = {(claim.schedd, claim.job): (row, claim) for row, claim in claimed.items()}
    keys = zip(job_columns.schedds(jobs), job_columns.job_ids(jobs), strict=True)
    for place, (key, owner) in enumerate(zip(keys, owners(jobs), strict=True)):
        row, claim = claims.get(key, (-1, None))
        if claim is not None and claim.is_of(owner):
            found[place] = row
            continue
        named = claimed.get(int(found[place]))
        if named is not None and (named.schedd, named.job) != key and not named.is_of(owner):
            found[place] = -1
    return found


class SlotClaim(NamedTuple):
    """The job that a claimed slot names, empty if it names none, and its user."""

    schedd: str
    job: str
    user: str

    def is_of(self, owner: str) -> bool:
        """True if the claim may be of a job's owner; an accounting group may stand before the name."""
        return not self.user or self.user == owner or self.user.endswith(f".{owner}")


def slot_claims(slots: Table) -> dict[int, SlotClaim]:
    """Return the claims of the claimed slots, by row."""
    rows = np.flatnonzero(np.isin(names(slots, "State").astype(str), [*CLAIMED]))
    if not len(rows):
        return {}
    claimed = slots.take(rows)
    of_user = [job_columns.texts(claimed, name) for name in ("RemoteUser", "RemoteOwner")]
    users = job_columns.made_of(of_user, lambda user, owner: fold(user or owner).partition("@")[0])
    schedds, jobs = job_columns.schedds(claimed), names(claimed, "JobId")
    of_slots = zip(rows.tolist(), schedds.tolist(), jobs.tolist(), users.tolist(), strict=True)
    return {row: SlotClaim(schedd, job if schedd else "", user) for row, schedd, job, user in of_slots}


def owners(jobs: Table) -> Iterator[str]:
    """Yield the owner of each job in lower case, as slots name users."""
    own, users = names(jobs, "Owner"), names(jobs, "User")
    for owner, user in zip(own.tolist(), users.tolist(), strict=True):
        yield owner or user.partition("@")[0]


@attrs.frozen
class JobsInUse:
    """Jobs that have a slot, their users as queues name them, and the rows of their slots, -1 for one that is not in the pool; (N,)."""

    jobs: Table
    users: Strings
    rows: Rows


@attrs.frozen(eq=False)
class MatchedClaims:
    """The match that each job in use was made by: its index in the journal, (N,) for each table, -1 for none.

    ``unseen`` has the indexes of the matches that the pool does not show.
    """

    of_jobs: tuple[Numbers, ...]
    unseen: tuple[int, ...]


_Place = tuple[int, int]  # the number of a table, and a row


@attrs.define(eq=False)
class ClaimIndex:
    """Jobs in use by what matches have of them; several journals are compared with one index, and each part is made when it is first used.

    ``slots`` are all slots of the pool.
    """

    tables: Sequence[JobsInUse]
    slots: Table

    @cached_property
    def by_claim(self) -> Mapping[tuple[str, str], list[_Place]]:
        """The jobs by the claim of their slot, and its name; a dynamic slot also has the name of the slot that it was taken from.

        A slot that shows the claim of another one is not believed.
        """
        found: dict[tuple[str, str], list[_Place]] = {}
        names = self.slots.strings("Name")
        for number, (table, claims) in enumerate(zip(self.tables, self.claims, strict=True)):
            for row in np.flatnonzero(claims != "").tolist():
                slot = names[table.rows[row]] or ""
                for name in filter(None, (slot, undivided(slot))):
                    found.setdefault((claims[row], name), []).append((number, row))
        return found

    @cached_property
    def by_job(self) -> Mapping[tuple[str, str, str], _Place]:
        """The first job by schedd, user and id."""
        found: dict[tuple[str, str, str], _Place] = {}
        for number, table in enumerate(self.tables):
            ids = job_columns.job_ids(table.jobs)
            keys = zip(self._schedds[number], table.users.tolist(), ids, strict=True)
            for row, key in enumerate(keys):
                found.setdefault(key, (number, row))
        return found

    @cached_property
    def by_slot(self) -> Mapping[tuple[str, str, str], list[_Place]]:
        """The jobs by schedd, user and slot; a job on a dynamic slot is also on the slot that this one was taken from."""
        found: dict[tuple[str, str, str], list[_Place]] = {}
        for number, table in enumerate(self.tables):
            hosts: NDArray[np.object_] = table.jobs.strings("RemoteHost")
            rows = zip(self._schedds[number], table.users.tolist(), hosts.tolist(), strict=True)
            for row, (schedd, user, host) in enumerate(rows):
                for name in filter(None, (host, undivided(host or ""))):
                    found.setdefault((schedd, user, name), []).append((number, row))
        return found

    @cached_property
    def claims(self) -> list[Strings]:
        """What the slot of each job shows of its claim (``PublicClaimId``), (N,) for each table; empty if it shows none."""
        shown = np.array([*(claim or "" for claim in self.slots.strings("PublicClaimId")), ""], np.object_)
        return [shown[table.rows] for table in self.tables]

    @cached_property
    def _schedds(self) -> list[list[str]]:
        return [job_columns.schedds(table.jobs).tolist() for table in self.tables]


def match_claims(journal: Sequence[JournalEntry], in_use: ClaimIndex) -> MatchedClaims:
    """Find the match of each job in use.

    A match is shown by its claim, whatever job the schedd runs there. Where the claim id of either is not known, or several matches
    share it, it is shown by its job, else by another job of its user on its slot: the claim outlasts the job, and the ad of a
    request for several jobs does not name the one that runs. If a job was matched twice, the earlier match has ended.
    """
    found = tuple(np.full(len(table.jobs), -1, np.int64) for table in in_use.tables)
    if not journal:
        return MatchedClaims(found, ())
    matches = _MatchesByClaim(journal, in_use, found)
    left = matches.by_job(matches.by_claim())
    return MatchedClaims(found, tuple(sorted(matches.by_slot(left))))


@attrs.define(eq=False)
class _MatchesByClaim:
    """Finds the jobs of matches; each step returns the indexes of the matches that are left."""

    journal: Sequence[JournalEntry]
    in_use: ClaimIndex
    found: tuple[Numbers, ...]
    _uses: Counter[str] = attrs.field(init=False)  # how many matches have a claim
    _taken: set[_Place] = attrs.field(factory=set, init=False)

    @_uses.default
    def _count(self) -> Counter[str]:
        return Counter(entry.claim for entry in self.journal if entry.claim)

    def by_claim(self) -> list[int]:
        """Find the jobs of claims; of matches that share one, first that whose own job it is."""
        left = list(range(len(self.journal)))
        if not self._uses:
            return left
        for is_own in (True, False):
            left = [number for number in left if not self._take_claim(number, is_own=is_own)]
        return left

    def _take_claim(self, number: int, *, is_own: bool) -> bool:
        entry = self.journal[number]
        places = self.in_use.by_claim.get((entry.claim, entry.slot), ()) if entry.claim else ()
        own = self.in_use.by_job.get(entry.job_key) if is_own and places else None
        for place in places:
            if place not in self._taken and (place == own or not is_own):
                self._take(place, number)
                return True
        return False

    def by_job(self, numbers: Sequence[int]) -> list[int]:
        """Find the jobs that were matched, the latest matches first."""
        left = []
        for number in reversed(numbers):
            entry = self.journal[number]
            place = None if entry.is_copy else self.in_use.by_job.get(entry.job_key)
            if place is None or not self._may_show(place, entry):
                left.append(number)
            elif place not in self._taken:
                self._take(place, number)
        return left

    def by_slot(self, numbers: Sequence[int]) -> list[int]:
        """Find other jobs on the slots of matches.

        The claims that the pool showed before are those of the matches that it showed before: a new match must not count as shown
        by one of them, or its charge would be lost until its own claim appears.
        """
        left = []
        for number in sorted(numbers, key=lambda number: (not self.journal[number].shown, number)):
            entry = self.journal[number]
            places = (
                place
                for schedd in (entry.schedd, "")
                for place in self.in_use.by_slot.get((schedd, entry.user, entry.slot), ())
                if place not in self._taken and self._may_show(place, entry)
            )
            place = next(places, None)
            if place is None:
                left.append(number)
            else:
                self._take(place, number)
        return left

    def _may_show(self, place: _Place, entry: JournalEntry) -> bool:
        """Return whether the claim of a job, which is not that of the match, may be hers all the same."""
        claim = self.in_use.claims[place[0]][place[1]]
        return not claim or (claim not in self._uses and (not entry.claim or self._uses[entry.claim] > 1))

    def _take(self, place: _Place, number: int) -> None:
        self._taken.add(place)
        self.found[place[0]][place[1]] = number


def undivided(slot: str) -> str:
    """Return the name of the slot that a dynamic one was taken from; empty if it is no dynamic slot's name."""
    found = _DYNAMIC.fullmatch(slot) if "_" in slot else None
    return found[1] + (found[2] or "") if found else ""


def claimed_jobs(
    slots: Table, running: Table, rows_of_running: Rows, resources: Collection[str]
) -> tuple[Table, Rows]:
    """Return a job ad for each claimed slot that is not the slot of a running job, and the rows of these slots, (N,).

    The ads have what the slots have of their jobs.

    :param rows_of_running: what ``slots_of`` returns of the running jobs.
    :param resources: the names of all resources that queues limit; the job requests the slot's amount of each.
    """
    taken = frozenset(rows_of_running.tolist())
    ids = job_columns.job_ids(running)
    known = dict(zip(zip(job_columns.schedds(running), ids, strict=True), owners(running), strict=True))
    rows = []
    for row, claim in slot_claims(slots).items():
        owner = known.get((claim.schedd, claim.job))  # a job on several slots is counted on one of them
        if row not in taken and (owner is None or not claim.is_of(owner)):
            rows.append(row)
    found = np.array(rows, np.intp)
    return slots.derived(found, _attributes(slots.take(found), resources)), found


def _attributes(slots: Table, resources: Collection[str]) -> dict[str, AttributeValues]:
    """Return the attributes that slots have of their jobs, as those of a job's ad."""
    every, same = np.arange(len(slots)), np.zeros(len(slots), np.intp)
    users = [job_columns.texts(slots, name) for name in ("RemoteUser", "RemoteOwner")]
    user = job_columns.made_of(users, lambda user, owner: user or owner)
    owner = job_columns.made_of(users, lambda user, owner: (user or owner).partition("@")[0])
    found = [_JOB_ID.fullmatch(text) for text in job_columns.texts(slots, "JobId").texts(every)]
    numbers = np.array([(int(each[1]), int(each[2])) if each else (0, 0) for each in found], np.int64)
    clusters, procs = numbers.reshape(-1, 2).T
    has_id = np.array([each is not None for each in found], np.bool_)
    return {
        "JobStatus": (same, [2]),
        "Owner": _distinct(owner),
        "User": _distinct(user),
        "RemoteHost": (every, job_columns.texts(slots, "Name").texts(every)),
        "ClusterId": IntegerValues(clusters, has_id),
        "ProcId": IntegerValues(procs, has_id),
        **{name: name for name in _COPIED},
        "RequestCpus": _or_else(slots, "Cpus", 1),
        "RequestMemory": _or_else(slots, "Memory", 0),
        **{f"Request{name}": name for name in sorted(resources) if name.lower() not in _NAMED_OTHERWISE},
    }


def _distinct(texts: Strings) -> tuple[Numbers, list[LiteralValue]]:
    """Return the place of each text, (N,), and each text once."""
    numbers, count = numbered(texts)
    return numbers, texts[first_rows(numbers, count)].tolist()


def _or_else(slots: Table, name: str, default: int) -> AttributeValues:
    """Return an attribute of slots as it is written; the default where a slot does not have it."""
    absent = np.broadcast_to(slots.column(name).kinds == Kind.ABSENT, len(slots))
    if not absent.any():
        return name
    own = slots.expressions(name)
    return np.arange(len(slots)), [default if each is None else each for each in own]
