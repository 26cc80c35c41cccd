"""The records that plugins yield: what a policy says, without saying who said it.

The guard stamps every record with the plugin and its version, so no plugin can speak in another's name. Masks are
boolean NumPy arrays with one element a row of the table that the hook was given.
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

from negotiator.classad import ClassAd, Environment, Expr
from negotiator.queues.model import read_only_amounts
from negotiator.records import Mode, Problem, Reason, Source, Verdict

Mask: TypeAlias = NDArray[np.bool_]


_NO_AMOUNTS: Mapping[str, int] = MappingProxyType({})


def _fixed(names: Sequence[str]) -> Sequence[str]:
    """Return names as a sequence that can't be changed."""
    return tuple(names) if isinstance(names, list) else names


class AdKind(enum.StrEnum):
    """The kinds of ads that a gate may be asked about."""

    SCHEDD = "schedd"
    SUBMITTER = "submitter"
    STARTD = "startd"
    JOB = "job"


class ConstraintSide(enum.StrEnum):
    """Whose Requirements a constraint is ANDed to: the one whose ad is MY in it."""

    RESOURCE = "resource"  # MY is the slot, TARGET the job
    JOB = "job"  # MY is the job, TARGET the slot


@attrs.frozen
class Cycle:
    """What a policy may know of the cycle it is asked in.

    ``now`` is in seconds since the epoch: the only clock a policy should read, so that a cycle can be replayed.
    """

    number: int
    now: float
    digest: str  # of the policy bundle

    @property
    def environment(self) -> Environment:
        """What expressions are to be evaluated in: the cycle's clock, and its number as the seed of random()."""
        return Environment(now=self.now, seed=self.number)


@attrs.frozen(kw_only=True)
class Gate:
    """One gate over the ads of one kind: ``discard`` is true where the ad is kept out of the cycle."""

    rule: str
    discard: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen(kw_only=True)
class Constraint:
    """One expression that every match must make true; the core ANDs it to the Requirements of its side.

    The expression is the administrator's: ``MY`` and ``TARGET`` in it mean the two ads themselves, whatever
    attributes the ads define.
    """

    rule: str
    side: ConstraintSide
    expression: Expr
    text: str
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen
class Expression:
    """An expression as an administrator wrote it: its tree, its text, and the place of its first character."""

    tree: Expr
    text: str
    source: Source | None = None

    def find(self, name: str) -> tuple[str, Source]:
        """Give an attribute's name as it is spelled here, and its place (its line's, where the text takes several)."""
        source = self.source or Source("")
        hit = re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", self.text, re.IGNORECASE | re.ASCII)
        if hit is None:
            return name, source
        if "\n" in self.text or not source.column:
            return hit.group(), source
        return hit.group(), attrs.evolve(source, column=source.column + hit.start())


@attrs.frozen
class Request:
    """A resource request: jobs of one submitter that are alike in all that any policy reads.

    ``ad`` holds the significant attributes only (what the ads, the bundle and ``negotiator_job_attributes`` of the
    plugins refer to), so that nothing a policy reads can differ between the jobs of one request.
    """

    submitter: str
    schedd: str
    ad: ClassAd
    count: int
    first_job: str  # "cluster.proc" of the job that stands for the others
    queue: str = ""  # the path of the queue its applications were placed in
    user: str = ""  # whose applications they are, as queues.yaml knows users
    group: str = ""  # what they count for among the limits of groups, empty for none
    #: What one job requests, in the units of queues.yaml.
    resources: Mapping[str, int] = attrs.field(default=_NO_AMOUNTS, converter=read_only_amounts)
    unknown: frozenset[str] = (
        frozenset()
    )  # the resources of which the job does not tell how much: they count as 0
    applications: Sequence[str] = attrs.field(
        default=(), converter=_fixed
    )  # (M,) "schedd#cluster" of each job, in their order
    groups: tuple[str, ...] = ()  # of the user, the primary one first; empty where nobody knows


@attrs.frozen(kw_only=True)
class Filter:
    """What one policy says of a request over all slots: ``allow`` is true where they may be matched.

    ``verdict`` tells a slot that will never do (DENIED) from one that is only in use (WAITING).
    """

    rule: str
    allow: Mask
    code: str
    text: str
    verdict: Verdict = Verdict.DENIED
    source: Source | None = None
    mode: Mode = Mode.ENFORCE


@attrs.frozen
class Match:
    """One job and the slot it was given. The ads are whole; claim ids and capabilities are in neither."""

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


@attrs.frozen(kw_only=True)
class Section:
    """A part of ``pool.yaml`` that a plugin owns.

    ``schema`` is an attrs class; each of its fields is a top-level key of the file (its alias, where it has one), and a
    field's type says what may stand there: ``str``, ``int``, ``float``, ``bool``, an ``enum.Enum``, ``Expression`` (a
    ClassAd expression with its place), ``Path`` (a file of the bundle, relative to it), ``X | None``, ``list[X]``, ``tuple[X, ...]``,
    ``dict[str, X]``, or another attrs class. A field named ``source`` of type ``Source | None`` is filled in with
    the place the object was written at. Fields with a default may be left out.

    ``files`` are patterns of files at the top of the bundle that belong to the plugin (``*``, ``?`` and ``[...]`` as in
    ``fnmatch``, upper and lower case differ, no ``/``). The field ``files`` of the class, of type ``Mapping[str, str]``,
    is filled in with their texts by name, sorted: UTF-8 without its byte order mark, line ends as they are. They are
    what the bundle's digest covers, so a plugin must not read them again. A file that is no UTF-8 is an error of the
    bundle. No other plugin, nor the core, may read a file of that name::

        @attrs.frozen
        class Calendar:
            files: Mapping[str, str]

        Section(schema=Calendar, files=("*.ics",), check=parse_all)

    ``apart`` are keys of the class that may stand in a file of their own at the top of the bundle, ``KEY.yaml``, instead of
    ``pool.yaml``: all of the file is then the key's value.

    ``check`` is called with the finished object and returns what else is wrong with it. A problem whose place names a
    file of the bundle and a line is shown with that line.
    """

    schema: type
    check: Callable[[Any], Iterable[Problem]] | None = None
    files: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of all files that belong to the plugin."""
        return (*self.files, *map(self.file_of, self.apart))

    @staticmethod
    def file_of(key: str) -> str:
        """The name of the file in which a key may stand apart."""
        return f"{key}.yaml"
