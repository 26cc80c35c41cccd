"""The records that plugins declare when a bundle is loaded: sections of ``pool.yaml``, expressions, and constraints."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from negotiator.classad import Expr
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.overruns import OverrunAction, Reuse
from negotiator.hooks.settings import KnownSetting
from negotiator.records import Mode, Problem, Source

if TYPE_CHECKING:
    from negotiator.queues import PartitionConfig, QueueConfig


class ConstraintSide(enum.StrEnum):
    """The side of a match to whose Requirements a constraint is ANDed; that side's ad is MY in it."""

    RESOURCE = "resource"  # MY is the slot, TARGET the job
    JOB = "job"  # MY is the job, TARGET the slot


@attrs.frozen(kw_only=True)
class Constraint:
    """One expression that must be true for every match; the core ANDs it to the Requirements of its side.

    The expression is the administrator's: ``MY`` and ``TARGET`` in it are the two ads themselves, whatever attributes the
    ads define. ``overruns`` and ``overrun_grace`` are what becomes of running jobs that it would deny, and after how many
    seconds, and ``reuse`` is for which further jobs a schedd may use a claim without this rule being asked; None for what
    the bundle says.
    """

    rule: str
    side: ConstraintSide
    expression: Expr
    text: str
    source: Source | None = None
    mode: Mode = Mode.ENFORCE
    overruns: OverrunAction | None = None
    overrun_grace: float | None = None
    reuse: Reuse | None = None


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


@attrs.frozen(kw_only=True)
class GateTest:
    """The expression of a gate: an ad of one of these kinds is discarded where it is true; if ``keeps``, where it is not.

    ``reason`` is the text that users read of a job that is discarded.
    """

    kinds: tuple[AdKind, ...]
    expression: Expr
    keeps: bool = False
    reason: str = ""


@attrs.frozen(kw_only=True)
class DeclaredRule:
    """A rule of a plugin that may deny something, as the bundle configures it.

    ``rule``, ``source`` and ``mode`` are those of its reasons. ``text`` is its whole content, such as its limits: a rule with another
    text is another rule. ``grants`` is true for a rule that permits something instead, such as an access control list; its name and place are those of
    its answers. ``gate`` is the expression of a gate: with it a match can carry the rule to the schedd that reuses its claim, and
    ``negotiator export`` can write it. ``reuse`` is as in a ``Constraint``. ``kept_by_schedds``: further jobs on a claim cannot break the
    rule, since a schedd keeps it when it uses a claim, as it does for concurrency limits.
    """

    rule: str
    text: str
    source: Source | None = None
    mode: Mode = Mode.ENFORCE
    grants: bool = False
    gate: GateTest | None = None
    reuse: Reuse | None = None
    kept_by_schedds: bool = False


@attrs.frozen(kw_only=True)
class EvaluatedWith:
    """The ads that an expression of a plugin's settings is evaluated with, for ``negotiator check --pool``.

    ``my`` and ``target`` are the kinds of ads that are MY and TARGET; without a kind for TARGET there is no other ad.
    ``my_computed`` and ``target_computed`` are attributes that they have in a cycle only: ``RemoteUserPrio`` of a slot.
    ``is_condition`` is False for
    an expression that is used for its value, as a rank is.
    """

    my: AdKind
    target: AdKind | None = None
    my_computed: frozenset[str] = frozenset()
    target_computed: frozenset[str] = frozenset()
    is_condition: bool = True


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

    ``pool_knobs`` are names and patterns of settings that count only in the pool's own configuration
    (``PoolSource.configuration``): the field ``knobs`` has them too, by name in upper case.

    ``known`` are settings of another program that ``negotiator check`` is to explain where a bundle has them
    (``KnownSetting``), whichever plugin reads them.

    ``check`` is called with the finished object and returns further problems. A problem whose source names a file of the
    bundle and a line is shown with that line. ``check_queues`` is the same for what depends on the queues too: it is called with
    the object and the queues of the bundle, if there are no errors in either.

    ``rules`` is called with the finished object and the configuration of the root queue, and returns the rules that may deny
    or grant something, for reports of the rules that do nothing. Constraints are known without it.

    ``evaluated`` has the ads of expressions by key: ``negotiator check --pool`` then looks for attributes that none of them
    has, and the like. Those of gates and constraints are known without it.
    """

    schema: type
    check: Callable[[Any], Iterable[Problem]] | None = None
    files: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    knobs: tuple[str, ...] = ()
    pool_knobs: tuple[str, ...] = ()
    known: tuple[KnownSetting, ...] = ()
    rules: Callable[[Any, QueueConfig], Iterable[DeclaredRule]] | None = None
    evaluated: Mapping[str, EvaluatedWith] = attrs.field(factory=dict)
    check_queues: Callable[[Any, PartitionConfig], Iterable[Problem]] | None = None

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of all files that belong to the plugin."""
        return (*self.files, *map(self.file_of, self.apart))

    @staticmethod
    def file_of(key: str) -> str:
        """Return the name of the separate file of a key."""
        return f"{key}.yaml"
