"""The settings of another program, such as HTCondor, that plugins know by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from negotiator.hooks.settings import KnownSetting, real_setting

_FEWER, _MORE = 4, 5  # how much shorter and longer a misspelled part is tried
_LONG = 12  # letters of the common part of a family, from which on less likeness is enough
_ALMOST_LONG = 0.85
_ALMOST = 0.9  # the similarity of a misspelled name; HTCondor's own names are less alike


class KnownSettings:
    """Settings by name, upper and lower case being equal; of several with one name the first counts."""

    def __init__(self, settings: Iterable[KnownSetting] = ()) -> None:
        self._named: dict[str, KnownSetting] = {}
        self._patterns: dict[str, KnownSetting] = {}
        for setting in settings:
            (self._patterns if setting.is_pattern else self._named).setdefault(setting.name.lower(), setting)

    def defaults(self) -> dict[str, str]:
        """Return the default of each setting with a name of its own."""
        return {setting.name: setting.default for setting in self._named.values()}

    def find(self, name: str) -> KnownSetting | None:
        """Return the setting of a name, that of the longest pattern that matches it, or None."""
        key = name.lower()
        if key in self._named:
            return self._named[key]
        matching = (pattern for pattern in self._patterns if fnmatchcase(key, pattern))
        longest = max(matching, key=lambda pattern: (len(pattern), pattern), default="")
        return self._patterns.get(longest)

    def nearest(self, name: str, others: Iterable[str] = ()) -> str:
        """Return the setting that a misspelled name was intended for, a known one or one of the others; empty if there is none.

        The first letter must agree, unless the parts of a family's name are exchanged. Settings of the daemon are left out:
        those of other daemons are like them. So are names in mixed case, as macros with the name of an attribute are
        (``SlotWeight = Cpus``); in a family, the part that names a group or a limit may have any case.
        """
        choices = {known: setting.name for known, setting in self._named.items() if setting.decides}
        choices |= {other.lower(): other for other in others}
        families = [setting.name for setting in self._patterns.values() if setting.plugin]
        key = name.lower()
        if key in choices:
            return ""
        likeness, found = _near(key, choices) if _is_setting(name) else (0.0, "")
        of_family = _of_families(name, families, likeness)
        if of_family or found:
            return of_family or choices[found]
        return choices.get(_without_a_word(key, choices), "") if _is_setting(name) else ""


def _is_setting(name: str) -> bool:
    return name.isupper() or name.islower()


def _near(key: str, choices: Iterable[str]) -> tuple[float, str]:
    """Return the choice that a name in lower case is like, with the likeness; the empty string if there is none."""
    alike = [choice for choice in choices if choice[:1] == key[:1]]
    near = difflib.get_close_matches(key, alike, n=1, cutoff=_ALMOST)
    return (_likeness(key, near[0]), near[0]) if near else (0.0, "")


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def _without_a_word(key: str, choices: Iterable[str]) -> str:
    """Return the choice of which a name lacks one word between the first and the last: ``group_surplus``."""
    words = key.split("_")
    for choice in choices:
        parts = choice.split("_")
        shorter = (parts[:at] + parts[at + 1 :] for at in range(1, len(parts) - 1))
        if len(parts) == len(words) + 1 and words in shorter:
            return choice
    return ""


def _of_families(name: str, families: Iterable[str], least: float) -> str:
    """Return the name of a family, such as ``GROUP_QUOTA_*``, that a name was intended for; empty if there is none.

    The part that all names of the family have may be misspelled, lack a word or its last underscore, or be at the other end.

    :param least: the likeness of another setting, which must be exceeded.
    """
    best, found = least, ""
    for family in families:
        common = family.strip("*")
        if name.lower() == common.strip("_").lower():
            return family
        almost = _ALMOST if len(common) < _LONG else _ALMOST_LONG
        for own, rest in _parts(name, common, at_end=family.startswith("*")):
            if rest.strip("_") and _is_setting(own):
                likeness = _likeness(own.lower(), common.lower())
                if likeness >= almost and likeness > best:
                    best, found = likeness, family.replace("*", rest)
    return found or ("" if least else next(_rearranged(name, families), ""))


def _parts(name: str, common: str, *, at_end: bool) -> Iterator[tuple[str, str]]:
    """Yield the beginnings of a name, or its ends, of about the length of the common part, each with the rest."""
    for size in range(len(common) - _FEWER, len(common) + _MORE):
        if 0 < size < len(name):
            yield (name[-size:], name[:-size]) if at_end else (name[:size], name[size:])


def _rearranged(name: str, families: Iterable[str]) -> Iterator[str]:
    """Yield the names of families whose common part is at the other end, or lacks a word of three or more."""
    for family in families:
        words = family.strip("*_").split("_")
        at_end = family.startswith("*")
        common = "_".join(words)
        start, end = (f"{common}_", "") if at_end else ("", f"_{common}")
        lower = name.lower()
        if lower.startswith(start.lower()) and lower.endswith(end.lower()):
            own = name[: len(start)] + name[len(name) - len(end) :]
            rest = name[len(start) : len(name) - len(end)]
            if rest and _is_setting(own):
                yield family.replace("*", rest)
        for at in range(len(words)) if len(words) > 2 and not at_end else ():
            shorter = "_".join((*words[:at], *words[at + 1 :], ""))
            if lower.startswith(shorter.lower()) and _is_setting(name[: len(shorter)]):
                yield family.replace("*", name[len(shorter) :])


def is_default(setting: KnownSetting, value: str) -> bool:
    """True if a value is empty or the setting's default.

    Blanks and case do not matter; numbers and booleans may be written in any way, as expressions too.
    """
    return not _plain(value) or is_same_value(value, setting.default)


def is_same_value(one: str, other: str) -> bool:
    """True if two values mean the same: blanks and case do not matter, nor how numbers and booleans are written."""
    if _plain(one) == _plain(other):
        return True
    try:
        return real_setting(one) == real_setting(other)
    except ValueError:
        return False


def _plain(value: str) -> str:
    return "".join(value.split()).lower()
