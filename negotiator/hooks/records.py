"""The records that plugins receive and return.

The guard adds the plugin's name and version to each record that is returned, so that no plugin can use another's. Masks
are boolean NumPy arrays with one element for each row of the table that the hook was given.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import ClassAd, Environment, Expr, Payers
from negotiator.hooks.known_settings import KnownSetting
from negotiator.queues.model import read_only_amounts
from negotiator.records import Mode, Problem, Provenance, Reason, Source, Verdict

Mask: TypeAlias = NDArray[np.bool_]


_NO_AMOUNTS: Mapping[str, int] = MappingProxyType({})


def _fixed(names: Sequence[str]) -> Sequence[str]:
    """Return names as a sequence that can't be changed."""
    return tuple(names) if isinstance(names, list) else names


class AdKind(enum.StrEnum):
    """The kinds of ads that gates test."""

    SCHEDD = "schedd"
    SUBMITTER = "submitter"
    STARTD = "startd"
    JOB = "job"


class ConstraintSide(enum.StrEnum):
    """The side of a match to whose Requirements a constraint is ANDed; that side's ad is MY in it."""

    RESOURCE = "resource"  # MY is the slot, TARGET the job
    JOB = "job"  # MY is the job, TARGET the slot


@attrs.frozen
class Cycle:
    """The cycle in which a hook is called.

    ``now`` is in seconds since the epoch: the only clock that a policy should read, so that a cycle can be replayed.
    ``payers`` are the allowances of steps that expressions evaluated in ``environment`` are charged to, if there are any.
    """

    number: int
    now: float
    digest: str  # of the policy bundle
    payers: Payers | None = attrs.field(default=None, eq=False, repr=False)

    @property
    def environment(self) -> Environment:
        """The environment for evaluating expressions: the cycle's clock, and its number as the seed of random()."""
        return Environment(now=self.now, seed=self.number, payers=self.payers)


@attrs.frozen(kw_only=True)
class Gate:
    """One gate over the ads of one kind; ``discard`` is true for the ads to keep out of the cycle."""

    rule: str
    discard: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen(kw_only=True)
class Constraint:
    """One expression that must be true for every match; the core ANDs it to the Requirements of its side.

    The expression is the administrator's: ``MY`` and ``TARGET`` in it are the two ads themselves, whatever attributes the
    ads define.
    """

    rule: str
    side: ConstraintSide
    expression: Expr
    text: str
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen
class Expression:
    """An expression as an administrator wrote it: its tree, its text, and the position of its first character."""

    tree: Expr
    text: str
    source: Source | None = None

    def find(self, name: str) -> tuple[str, Source]:
        """Return an attribute's name as it is spelled here, and its position (of its line, if the text has several)."""
        source = self.source or Source("")
        hit = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", self.text, re.IGNORECASE | re.ASCII)
        if hit is None:
            return name, source
        if "\n" in self.text or not source.column:
            return hit.group(), source
        return hit.group(), attrs.evolve(source, column=source.column + hit.start())


@attrs.frozen
class RankExpression(Expression):
    """An expression that sorts. If it is not a number, all are equal: a call that only gives an error is a warning."""


@attrs.frozen
class Request:
    """A resource request: jobs of one submitter that are equal in everything that policies read (an autocluster).

    ``ad`` has the significant attributes only: those that the ads, the bundle and ``negotiator_job_attributes`` of the
    plugins refer to. So nothing that a policy reads differs between the jobs of one request.
    """

    submitter: str
    schedd: str
    ad: ClassAd
    count: int
    first_job: str  # "cluster.proc" of the first of the jobs
    queue: str = ""  # the path of the queue that its applications are placed in
    user: str = ""  # the owner of the applications, as queues.yaml names users
    group: str = ""  # the group whose limits they count for, empty for none
    #: The amounts that one job requests, in the units of queues.yaml.
    resources: Mapping[str, int] = attrs.field(default=_NO_AMOUNTS, converter=read_only_amounts)
    unknown: frozenset[str] = frozenset()  # resources whose amount the job does not specify; they count as 0
    applications: Sequence[str] = attrs.field(
        default=(), converter=_fixed
    )  # (M,) "schedd#cluster" of each job, in their order
    groups: tuple[str, ...] = ()  # of the user, the primary one first; empty if unknown
    #: The job runs, and no match of it is known: what its ad says is the job's own claim, except what its slot bounds.
    unverified: bool = False
    #: The attributes that the slot's ad has of the claim (ConcurrencyLimits, PreemptingConcurrencyLimits), if it is unverified.
    claim: ClassAd = attrs.field(factory=ClassAd)


@attrs.frozen(kw_only=True)
class Filter:
    """The decision of one policy about a request over all slots; ``allow`` is true for slots that may be matched.

    ``verdict`` distinguishes slots that never match (DENIED) from those that are only in use (WAITING).
    """

    rule: str
    allow: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen
class PreemptedJob:
    """The job that a match ends: its user, and why.

    ``by`` is ``rank`` (the slot prefers the new job), ``priority``, or ``guarantee`` (its queue is above its guaranteed resources).
    For a guarantee ``queue`` is the job's queue, and ``provenance`` the rule that the text and the numbers explain.
    """

    user: str
    by: str
    queue: str = ""
    text: str = ""
    numbers: Mapping[str, int | float | str] = attrs.field(factory=dict)
    provenance: Provenance | None = None


@attrs.frozen
class Match:
    """One job and its slot. The ads are complete, without claim ids and capabilities."""

    id: str  # unique in the audit log: "<cycle>.<ordinal>"
    submitter: str
    schedd: str
    job: str  # "cluster.proc"
    slot: str  # the slot's Name
    job_ad: ClassAd
    slot_ad: ClassAd
    rank: float
    queue: str = ""  # the path of the queue of its application
    warnings: tuple[Reason, ...] = ()  # of rules in mode warn or dryrun that would have forbidden it
    preempts: PreemptedJob | None = None  # None: the slot was free


@attrs.frozen(kw_only=True)
class Section:
    """A part of ``pool.yaml`` that a plugin owns.

    ``schema`` is an attrs class; each of its fields is a top-level key of the file (its alias, where it has one), and a
    field's type determines the valid values: ``str``, ``int``, ``float``, ``bool``, an ``enum.Enum``, ``Expression`` (a
    ClassAd expression with its place), ``Path`` (a file of the bundle, relative to it), ``X | None``, ``list[X]``, ``tuple[X, ...]``,
    ``dict[str, X]``, or another attrs class. A field named ``source`` of type ``Source | None`` is filled in with
    the position of the object in the file. Fields with a default are optional.

    ``files`` are patterns of files at the top level of the bundle that belong to the plugin (``*``, ``?`` and ``[...]`` as in
    ``fnmatch``, upper and lower case differ, no ``/``). The field ``files`` of the class, of type ``Mapping[str, str]``,
    is filled in with their texts by name, sorted: UTF-8 without its byte order mark, line ends unchanged. The bundle's digest
    covers these texts, so a plugin must not read the files again. A file that is not UTF-8 is an error of the
    bundle. No other plugin, nor the core, may own a file that matches::

        @attrs.frozen
        class Calendar:
            files: Mapping[str, str]

        Section(schema=Calendar, files=("*.ics",), check=parse_all)

    ``apart`` are keys of the class that may be in a separate file at the top level of the bundle, ``KEY.yaml``, instead of
    ``pool.yaml``: the whole file is then the key's value.

    ``knobs`` are patterns of settings whose names are not known beforehand (``GROUP_QUOTA_*``; ``*`` and ``?`` as in
    ``fnmatch``, upper and lower case are equal). The field ``knobs`` of the class, of type ``Mapping[str, ScalarText]``, is
    filled in with the matching settings of ``pool.yaml`` and of HTCondor-style files, by name as written, each with its place.
    A field of a plugin's class takes precedence over patterns; if several patterns match a name, the longest one decides.

    ``known`` are settings of another program that ``negotiator check`` is to explain where a bundle has them
    (``KnownSetting``), whichever plugin reads them.

    ``check`` is called with the finished object and returns further problems. A problem whose source names a file of the
    bundle and a line is shown with that line.
    """

    schema: type
    check: Callable[[Any], Iterable[Problem]] | None = None
    files: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    known: tuple[KnownSetting, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of all files that belong to the plugin."""
        return (*self.files, *map(self.file_of, self.apart))

    @staticmethod
    def file_of(key: str) -> str:
        """Return the name of the separate file of a key."""
        return f"{key}.yaml"
