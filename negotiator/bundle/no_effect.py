"""Report the settings of HTCondor-style files that have no effect: each that a plugin knows by name, all others in one line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase

import attrs

from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.text import LocatedText
from negotiator.hooks.settings import KnownSetting, real_setting
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

_FEWER, _MORE = 4, 5  # how much shorter and longer a misspelled part is tried
_LONG = 12  # letters of the common part of a family, from which on less likeness is enough
_ALMOST_LONG = 0.85
_ALMOST = 0.9  # the similarity of a misspelled name; HTCondor's own names are less alike
_PREFIX = "negotiator_pe_"  # only the specification defines knobs of this name: an unknown one is a typo
_LISTED = 3


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


@attrs.frozen
class UnusedKnobs:
    """The problems of settings without effect: those to report, and a notice for each of the others."""

    problems: tuple[Problem, ...]
    others: tuple[Problem, ...]


@attrs.frozen(eq=False)
class _SettingOwners:
    """The keys of plugins by name in lower case, and the settings that plugins know: by these a setting is reported.

    ``refusal``: why a plugin was refused, which may own some of the names; empty if none was.
    """

    knobs: Knobs
    keys: Mapping[str, str]
    known: KnownSettings
    refusal: str

    def nearest(self, name: str) -> str:
        """Return the setting that a misspelled name was intended for; empty if there is none."""
        return self.known.nearest(name, filter(str.isupper, self.keys.values()))


def unused_knobs(
    knobs: Knobs, names: Iterable[str], owned: Mapping[str, str], known: KnownSettings, refusal: str = ""
) -> UnusedKnobs:
    """Report the settings that no plugin owns and no used value refers to.

    :param names: all names without an owner, in lower case.
    :param owned: the keys of plugins by their name in lower case.
    :param known: the settings that plugins know; one with its default is not reported.
    :param refusal: why a plugin was refused, which may own some of the names; empty if none was.
    """
    owners = _SettingOwners(knobs, owned, known, refusal)
    unused = [name for name in names if not knobs.was_used(name)]
    problems: list[Problem] = []
    others: list[Problem] = []
    defaults = 0
    for name in unused:
        definition = knobs.definitions(name)[-1]
        found = next(_intended(name, definition, owners), None)
        if found is not None:
            problems.append(found)
            continue
        setting = known.find(name.removeprefix(SUBSYSTEM))
        defaults += setting is not None
        others.append(_notice(definition, setting))
    return UnusedKnobs((*problems, *_summary(others, defaults)), tuple(others))


def _notice(definition: Definition, setting: KnownSetting | None) -> Problem:
    message = f"{definition.name} has no effect here"
    if setting is not None and setting.reason:
        message = f"{message}: {setting.reason} (its value is the default)"
    return definition.file.problem(Severity.NOTICE, definition.at, message)


def _intended(name: str, definition: Definition, owners: _SettingOwners) -> Iterator[Problem]:
    """Yield a problem for a setting that was intended for this program, or for HTCondor's negotiator."""
    prefix, _, last = definition.name.rpartition(".")
    message = f"{definition.name} has no effect here"

    def report(severity: Severity, text: str, hint: str) -> Problem:
        return definition.file.problem(severity, definition.at, text, hint)

    plain = name.removeprefix(SUBSYSTEM)
    if prefix and last.lower() in owners.keys:
        yield report(Severity.WARNING, f"{message}: it is set for {prefix}", f"write {last} = ...")
    if plain.startswith(_PREFIX) and owners.refusal:
        yield report(Severity.WARNING, *not_checked(definition.name, owners.refusal))
    elif plain.startswith(_PREFIX):
        hint = suggest(definition.name, owners.keys.values()) if owners.keys else "is its plugin disabled?"
        yield report(Severity.ERROR, f"unknown knob {definition.name}", hint)
    setting = owners.known.find(plain)
    unknown = setting is None or (setting.is_pattern and setting.decides)
    if unknown and (near := owners.nearest(definition.name[-len(plain) :])):
        yield report(Severity.WARNING, message, f"did you mean {near}?")
    if setting is not None and not _has_default(owners.knobs, name, definition, setting):
        yield report(*_explained(message, setting))


def _explained(message: str, setting: KnownSetting) -> tuple[Severity, str, str]:
    """Return how a known setting is reported: severity, message and hint."""
    severity = Severity.WARNING if setting.decides else Severity.NOTICE
    if setting.reason:
        return severity, f"{message}: {setting.reason}", setting.hint
    reason = f"plugin {setting.plugin}, which reads it, is not loaded"
    return severity, f"{message}: {reason}", "is it disabled, or does it have an error?"


def _has_default(knobs: Knobs, name: str, definition: Definition, setting: KnownSetting) -> bool:
    """True if a setting has its default, as written or with macros replaced."""
    if is_default(setting, definition.value.text):
        return True
    value = knobs.expand(name)
    default = knobs.expand_text(LocatedText(setting.default, definition.file, (), definition.at))
    if isinstance(value, Problem) or isinstance(default, Problem):
        return False
    return is_default(attrs.evolve(setting, default=default.text), value.text)


def not_checked(name: str, refusal: str) -> tuple[str, str]:
    """Return message and hint for a setting that may belong to a plugin that was refused."""
    return (
        f"{name} is not checked: it may belong to a plugin that was refused ({refusal})",
        "mend the plugin first",
    )


def _summary(others: list[Problem], defaults: int) -> Iterator[Problem]:
    """Yield one notice for all settings that are not reported by themselves.

    :param defaults: how many of them are known, and have their default.
    """
    if len(others) <= 1:
        yield from others
        return
    names = [problem.message.partition(" ")[0] for problem in others]
    listed = ", ".join(names[:_LISTED])
    more = f" and {len(names) - _LISTED} others" if len(names) > _LISTED else ""
    files = list(dict.fromkeys(problem.source.file for problem in others))
    message = f"{len(names)} settings of HTCondor have no effect here: {listed}{more}"
    if defaults:
        message += f" ({defaults} of its negotiator, with their defaults)"
    yield Problem(Severity.NOTICE, Source(files[0]), message, "negotiator check --ignored lists them")
