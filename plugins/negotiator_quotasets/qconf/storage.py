"""Which files of the bundle a change of the sets writes: always one, so that one rename makes the change.

A crash before it leaves the old sets, one after it the new ones: the new file says of which others it is in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from negotiator_quotasets.language import RuleSet, format_sets
from negotiator_quotasets.qconf.refusal import QconfRefusedError
from negotiator_quotasets.settings import QuotaSettings, superseding_line

NEW_FILE = "quotasets.rqs"
_IN_PLACE = superseding_line(["FILES"]).partition("FILES")[0]
#: The sets of each file that is read, in their order.
Files = Mapping[str, Sequence[RuleSet]]


@attrs.frozen
class Write:
    """A file that is to be written, and those that go then."""

    name: str
    content: bytes
    superseded: tuple[str, ...] = ()


def home(settings: QuotaSettings) -> str:
    """The file of new sets: the only one, if there is only one, else ``quotasets.rqs``."""
    read = list(settings.parsed_files)
    # Another file may stand for quotasets.rqs, which nobody reads then.
    return read[0] if len(read) == 1 or (read and NEW_FILE in settings.superseded) else NEW_FILE


def by_file(settings: QuotaSettings) -> dict[str, list[RuleSet]]:
    """The sets of each file."""
    return {name: list(parsed.sets) for name, parsed in settings.parsed_files.items()}


def with_added(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """All sets, and more after them."""
    files = by_file(settings)
    files.setdefault(home(settings), []).extend(sets)
    return files


def with_changed(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """All sets with some as they are to be; those move to the end of their file, as Grid Engine moves them in its list."""
    files = by_file(settings)
    place = {each.name: name for name, found in files.items() for each in found}
    new = {each.name: each for each in sets}
    kept = {name: [each for each in found if each.name not in new] for name, found in files.items()}
    for each in new.values():
        kept[place[each.name]].append(each)
    return kept


def without(settings: QuotaSettings, names: Iterable[str]) -> Files:
    """All sets but some."""
    gone = set(names)
    return {
        name: [each for each in found if each.name not in gone] for name, found in by_file(settings).items()
    }


def replaced(settings: QuotaSettings, sets: Iterable[RuleSet]) -> Files:
    """Other sets in place of all that there are."""
    return {**dict.fromkeys(settings.parsed_files, ()), home(settings): tuple(sets)}


def planned(settings: QuotaSettings, wanted: Files) -> Write | None:
    """What is to be written so that the files have these sets; None where they have them.

    :raises RefusedError: a file has to go whose name can't be told.
    """
    old = by_file(settings)
    changed = [name for name, sets in wanted.items() if list(sets) != old.get(name, [])]
    if not changed:
        return None
    if len(changed) == 1:
        return _one(settings, changed[0], wanted[changed[0]])
    name = home(settings)
    taken = dict.fromkeys((*changed, *([name] if name in old else [])))
    sets = [each for file in wanted if file in taken for each in wanted[file]]
    return _write(name, sets, [*(each for each in taken if each != name), *_left_over(settings)])


def _one(settings: QuotaSettings, name: str, sets: Sequence[RuleSet]) -> Write:
    stands_for_others = settings.files.get(name, "").startswith(_IN_PLACE)
    return _write(name, sets, _left_over(settings) if stands_for_others else ())


def _left_over(settings: QuotaSettings) -> list[str]:
    """Files that others stand for, and that are there all the same: a change was cut short before they were removed."""
    return [name for name in settings.files if name in settings.superseded]


def _write(name: str, sets: Iterable[RuleSet], superseded: Iterable[str]) -> Write:
    gone = tuple(dict.fromkeys(superseded))
    for each in gone:
        if len(each.split()) != 1:
            raise QconfRefusedError(f"{each!r} would have to go: give the file a name without blanks first")
    return Write(name, (superseding_line(gone) + format_sets(sets)).encode(), gone)
