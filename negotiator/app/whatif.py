"""Use case: what a cycle would decide if the pool, the priorities or the bundle were changed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from negotiator.app.ad_values import AdValue, ad_expression, ad_value
from negotiator.app.bundle_edits import NO_EDITS, BundleEdits
from negotiator.app.pool_changes import NO_CHANGES, PoolChanges, RowsAdded, RowsChanged, RowsEdit, RowsRemoved
from negotiator.app.yaml_files import read_record
from negotiator.errors import CommandError, SettingsError
from negotiator.files import open_regular
from negotiator.records import Problem, ScalarText, Severity, Source

#: The most slots or jobs that one change adds.
MOST_ADDED: Final = 1_000_000


@attrs.frozen
class Scenario:
    """What is changed: the pool and its priorities, and the bundle."""

    pool: PoolChanges = NO_CHANGES
    bundle: BundleEdits = NO_EDITS

    def __add__(self, other: Scenario) -> Scenario:
        """Both, the other one after this."""
        return Scenario(
            PoolChanges(
                slots=(*self.pool.slots, *other.pool.slots),
                jobs=(*self.pool.jobs, *other.pool.jobs),
                factors=(*self.pool.factors, *other.pool.factors),
            ),
            BundleEdits(
                files=(*self.bundle.files, *other.bundle.files),
                settings=(*self.bundle.settings, *other.bundle.settings),
            ),
        )

    @property
    def is_empty(self) -> bool:
        """True if nothing is changed."""
        return self == Scenario()


@attrs.frozen(kw_only=True)
class _RowsEntry:
    """One change of slots or jobs, as it is written."""

    add: int | None = None
    like: ScalarText | None = None
    remove: ScalarText | None = None
    where: ScalarText | None = None
    set: dict[str, ScalarText] = attrs.field(factory=dict)
    source: Source | None = None


@attrs.frozen(kw_only=True)
class ScenarioContents:
    """The keys of a file of changes."""

    slots: list[_RowsEntry] = attrs.field(factory=list)
    jobs: list[_RowsEntry] = attrs.field(factory=list)
    factors: dict[str, float] = attrs.field(factory=dict)
    files: dict[str, str] = attrs.field(factory=dict)
    settings: dict[str, ScalarText] = attrs.field(factory=dict)


def read_scenario(path: Path) -> Scenario:
    """Read a file of changes; files that it names are beside it.

    :raises SettingsError: it cannot be read, or has errors.
    :raises CommandError: a file that it names cannot be read.
    """
    found = read_record(path, ScenarioContents)
    problems = [each for entry in (*found.slots, *found.jobs) for each in _problems(entry, path)]
    if problems:
        raise SettingsError(problems, str(path))
    replaced = {name: path.parent / each for name, each in found.files.items()}
    return Scenario(
        PoolChanges(
            slots=tuple(map(_edit, found.slots)),
            jobs=tuple(map(_edit, found.jobs)),
            factors=tuple(found.factors.items()),
        ),
        BundleEdits(
            files=bundle_files(replaced),
            settings=tuple((key, text.text) for key, text in found.settings.items()),
        ),
    )


def bundle_files(paths: Mapping[str, Path]) -> tuple[tuple[str, bytes], ...]:
    """Return the contents of files that replace those of a bundle, by their names in it.

    :raises CommandError: one cannot be read.
    """
    return tuple((name, _content(path)) for name, path in paths.items())


def _content(path: Path) -> bytes:
    try:
        with os.fdopen(open_regular(path), "rb") as opened:
            return opened.read()
    except OSError as error:
        raise CommandError(f"{path}: the file cannot be read: {error.strerror or error}") from None


def _problems(entry: _RowsEntry, path: Path) -> Iterator[Problem]:
    """Yield what is wrong with an entry: it is exactly one of an addition, a removal and a change."""
    place = entry.source or Source(str(path))
    given = [each for each in ("add", "remove", "where") if getattr(entry, each) is not None]
    hint = "write add and like, remove, or where and set"
    if len(given) != 1:
        yield Problem(Severity.ERROR, place, "a change has one of the keys add, remove and where", hint)
        return
    if (entry.add is None) != (entry.like is None):
        yield Problem(Severity.ERROR, place, "add needs like: the slot or job that is copied", hint)
    if entry.add is not None and not 1 <= entry.add <= MOST_ADDED:
        yield Problem(Severity.ERROR, place, f"add: write a number from 1 to {MOST_ADDED}")
    if entry.where is not None and not entry.set:
        yield Problem(Severity.ERROR, place, "where needs set: the values that are changed", hint)
    if entry.remove is not None and entry.set:
        yield Problem(Severity.ERROR, place, "remove and set exclude each other", hint)


def _edit(entry: _RowsEntry) -> RowsEdit:
    values: Sequence[tuple[str, AdValue]] = [(name, ad_value(name, text)) for name, text in entry.set.items()]
    if entry.remove is not None:
        return RowsRemoved(ad_expression("remove", entry.remove))
    if entry.where is not None:
        return RowsChanged(ad_expression("where", entry.where), tuple(values))
    return RowsAdded(entry.add or 0, entry.like.text if entry.like else "", tuple(values))
