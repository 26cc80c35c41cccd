"""Report the settings of HTCondor-style files that have no effect: each that a plugin knows, all others in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.bundle.known_settings import KnownSettings, is_default
from negotiator.bundle.text import LocatedText
from negotiator.hooks.settings import KnownSetting
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

_PREFIX = "negotiator_pe_"  # only the specification defines knobs of this name: an unknown one is a typo
_LISTED = 3


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
