"""The settings of another program, such as HTCondor, that plugins know by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from fnmatch import fnmatchcase

from negotiator.hooks.known_settings import KnownSetting

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

        The first letter must agree. Settings of the daemon are left out: those of other daemons are like them.
        """
        key = name.lower()
        choices = {known: setting.name for known, setting in self._named.items() if setting.decides}
        choices |= {other.lower(): other for other in others}
        alike = [choice for choice in choices if choice[:1] == key[:1]]
        near = difflib.get_close_matches(key, alike, n=1, cutoff=_ALMOST)
        return choices[near[0]] if near and near[0] != key else ""


def is_default(setting: KnownSetting, value: str) -> bool:
    """True if a value is empty or the setting's default; blanks and case do not matter, and numbers may be written in any way."""
    mine, theirs = _plain(value), _plain(setting.default)
    if not mine or mine == theirs:
        return True
    try:
        return float(mine) == float(theirs)
    except ValueError:
        return False


def _plain(value: str) -> str:
    return "".join(value.split()).lower()
