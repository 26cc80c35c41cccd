"""The files that a change of the sets writes: always a single one, so that one rename makes the change atomic.

A crash before the rename leaves the old sets, one after it the new ones: the first line of the new file names the files that
it supersedes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from negotiator_quotasets.language import RuleSet, format_sets
from negotiator_quotasets.qconf.errors import QconfRefusedError
from negotiator_quotasets.settings import QuotaSettings, superseding_line

NEW_FILE = "quotasets.rqs"
_SUPERSEDING = superseding_line(["FILES"]).partition("FILES")[0]
#: The sets of each file, in their order.
Files = Mapping[str, Sequence[RuleSet]]


@attrs.frozen
class FileWrite:
    """A file to write, and the superseded files to remove with it."""

    name: str
    content: bytes
    superseded: tuple[str, ...] = ()


def file_of_new_sets(settings: QuotaSettings) -> str:
    """Return the file for new sets: the only file if there is one, else ``quotasets.rqs``."""
    names = list(settings.parsed_files)
    # A superseded quotasets.rqs would not be read.
    return names[0] if len(names) == 1 or (names and NEW_FILE in settings.superseded) else NEW_FILE


def sets_by_file(settings: QuotaSettings) -> dict[str, list[RuleSet]]:
    """Return the current sets of each file."""
    return {name: list(parsed.sets) for name, parsed in settings.parsed_files.items()}


def with_added(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return all sets with more at the end."""
    files = sets_by_file(settings)
    files.setdefault(file_of_new_sets(settings), []).extend(sets)
    return files


def with_changed(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return all sets, some of them changed; these move to the end of their file, as in Grid Engine's list."""
    files = sets_by_file(settings)
    file_of = {each.name: name for name, old in files.items() for each in old}
    changed = {each.name: each for each in sets}
    result = {name: [each for each in old if each.name not in changed] for name, old in files.items()}
    for each in changed.values():
        result[file_of[each.name]].append(each)
    return result


def without(settings: QuotaSettings, names: Iterable[str]) -> Files:
    """Return all sets but the named ones."""
    removed = set(names)
    return {
        name: [each for each in old if each.name not in removed]
        for name, old in sets_by_file(settings).items()
    }


def replaced(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Return these sets in place of all others."""
    return {**dict.fromkeys(settings.parsed_files, ()), file_of_new_sets(settings): tuple(sets)}


def planned_write(settings: QuotaSettings, wanted: Files) -> FileWrite | None:
    """Return the write that stores these sets in the files; None if they already have them.

    :raises QconfRefusedError: a file to supersede has a blank in its name.
    """
    old = sets_by_file(settings)
    changed = [name for name, sets in wanted.items() if list(sets) != old.get(name, [])]
    if not changed:
        return None
    if len(changed) == 1:
        return _single_write(settings, changed[0], wanted[changed[0]])
    name = file_of_new_sets(settings)
    merged = dict.fromkeys((*changed, *([name] if name in old else [])))
    sets = [each for file in wanted if file in merged for each in wanted[file]]
    return _write(name, sets, [*(each for each in merged if each != name), *_left_over(settings)])


def _single_write(settings: QuotaSettings, name: str, sets: Sequence[RuleSet]) -> FileWrite:
    supersedes = settings.files.get(name, "").startswith(_SUPERSEDING)
    return _write(name, sets, _left_over(settings) if supersedes else ())


def _left_over(settings: QuotaSettings) -> list[str]:
    """Return superseded files that still exist: an earlier change was interrupted before they were removed."""
    return [name for name in settings.files if name in settings.superseded]


def _write(name: str, sets: Iterable[RuleSet], superseded: Iterable[str]) -> FileWrite:
    removed = tuple(dict.fromkeys(superseded))
    for each in removed:
        if len(each.split()) != 1:
            raise QconfRefusedError(f"{each!r} must be removed: give the file a name without blanks first")
    return FileWrite(name, (superseding_line(removed) + format_sets(sets)).encode(), removed)
