"""Report the settings of HTCondor-style files that have no effect: in one line, but loudly those that would decide."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping

import attrs

from negotiator.bundle import negotiator_knobs
from negotiator.bundle.condor_lines import Definition
from negotiator.bundle.condor_macros import SUBSYSTEM, Knobs
from negotiator.records import Problem, Severity, Source
from negotiator.records.text import suggest

_PREFIX = "negotiator_pe_"  # only the specification defines knobs of this name: an unknown one is a typo
_LISTED = 3
_ALMOST = 0.9  # the similarity of a misspelled name; HTCondor's own names are less alike


@attrs.frozen
class UnusedKnobs:
    """The problems of settings without effect: those to report, and a notice for each of the others."""

    problems: tuple[Problem, ...]
    others: tuple[Problem, ...]


def unused_knobs(
    knobs: Knobs, names: Iterable[str], owned: Mapping[str, str], refusal: str = ""
) -> UnusedKnobs:
    """Report the settings that no plugin owns and no used value refers to.

    :param names: all names without an owner, in lower case.
    :param owned: the keys of plugins by their name in lower case.
    :param refusal: why a plugin was refused, which may own some of the names; empty if none was.
    """
    unused = [name for name in names if not knobs.was_used(name)]
    problems: list[Problem] = []
    others: list[Problem] = []
    for name in unused:
        definition = knobs.definitions(name)[-1]
        found = next(_intended(name, definition, owned, refusal), None)
        if found is not None:
            problems.append(found)
        else:
            message = f"{definition.name} has no effect here"
            others.append(definition.file.problem(Severity.NOTICE, definition.at, message))
    return UnusedKnobs((*problems, *_summary(others)), tuple(others))


def _intended(name: str, definition: Definition, owned: Mapping[str, str], refusal: str) -> Iterator[Problem]:
    """Yield a problem for a setting that was intended for this program, or for HTCondor's negotiator."""
    prefix, _, last = definition.name.rpartition(".")
    message = f"{definition.name} has no effect here"

    def report(severity: Severity, text: str, hint: str) -> Problem:
        return definition.file.problem(severity, definition.at, text, hint)

    plain = name.removeprefix(SUBSYSTEM)
    if prefix and last.lower() in owned:
        yield report(Severity.WARNING, f"{message}: it is set for {prefix}", f"write {last} = ...")
    if plain.startswith(_PREFIX) and refusal:
        yield definition.file.problem(Severity.WARNING, definition.at, *not_checked(definition.name, refusal))
    elif plain.startswith(_PREFIX):
        hint = suggest(definition.name, owned.values()) if owned else "is its plugin disabled?"
        yield report(Severity.ERROR, f"unknown knob {definition.name}", hint)
    if negotiator_knobs.is_decisive(plain) and not negotiator_knobs.is_default(plain, definition.value.text):
        text = f"{message}: it is a setting of HTCondor's negotiator"
        yield report(Severity.WARNING, text, negotiator_knobs.remedy(plain) or _similar(plain, owned))
    if not negotiator_knobs.is_decisive(plain) and (similar := _similar(plain, owned)):
        yield report(Severity.WARNING, message, similar)


def not_checked(name: str, refusal: str) -> tuple[str, str]:
    """Return message and hint for a setting that may belong to a plugin that was refused."""
    return (
        f"{name} is not checked: it may belong to a plugin that was refused ({refusal})",
        "mend the plugin first",
    )


def _similar(name: str, owned: Mapping[str, str]) -> str:
    near = difflib.get_close_matches(name, owned, n=1, cutoff=_ALMOST)
    return f"did you mean {owned[near[0]]}?" if near else ""


def _summary(others: list[Problem]) -> Iterator[Problem]:
    if len(others) <= 1:
        yield from others
        return
    names = [problem.message.partition(" ")[0] for problem in others]
    listed = ", ".join(names[:_LISTED])
    more = f" and {len(names) - _LISTED} others" if len(names) > _LISTED else ""
    files = list(dict.fromkeys(problem.source.file for problem in others))
    message = f"{len(names)} settings of HTCondor have no effect here: {listed}{more}"
    yield Problem(Severity.NOTICE, Source(files[0]), message, "negotiator check --ignored lists them")
