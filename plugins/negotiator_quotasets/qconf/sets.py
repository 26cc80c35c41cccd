"""The switches for whole sets: add, change, replace, show and delete them.

Source: qconf(1), ``-arqs``, ``-Arqs``, ``-mrqs``, ``-Mrqs``, ``-srqs``, ``-srqsl`` and ``-drqs``; "Resource Quota Sets",
transcripts. A list is done whole or not at all, where Grid Engine does a part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import click

from negotiator_quotasets.complexes import wildcard_matches
from negotiator_quotasets.language import QuotaRule, RuleLimit, RuleSet, format_sets, parse_sets
from negotiator_quotasets.qconf.arguments import QconfArguments, listed
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.editor import edit
from negotiator_quotasets.qconf.files import read_text, shown_name
from negotiator_quotasets.qconf.refusal import QconfRefusedError, faults
from negotiator_quotasets.qconf.storage import replaced, with_added, with_changed, without
from negotiator_quotasets.settings import QuotaSettings

LIST = "resource quota set list"
EDITED = "the edited text"
_NONE_FOUND = "No resource quota set found"
_TEMPLATE = "template"
_TEMPLATE_RULE = QuotaRule(limits=(RuleLimit("slots", "0"),))


def show(desk: QconfContext, words: QconfArguments) -> None:
    """``-srqs``: print sets in the order in which they were added; those whose names match, if some are named."""
    patterns = listed([words.value()])
    found = _matching(desk.settings().sets, patterns)
    if not found:
        raise QconfRefusedError(_NONE_FOUND)
    click.echo(format_sets(found), nl=False)


def _matching(sets: Iterable[RuleSet], patterns: Collection[str]) -> list[RuleSet]:
    """The sets whose names match one of the patterns; all, where there are none."""
    return [
        each for each in sets if not patterns or any(wildcard_matches(word, each.name) for word in patterns)
    ]


def show_names(desk: QconfContext, _words: QconfArguments) -> None:
    """``-srqsl``: print the names of all sets, sorted."""
    names = sorted(each.name for each in desk.settings().sets)
    if not names:
        raise QconfRefusedError(f"no {LIST} defined")
    for name in names:
        desk.say(name)


def add_from_file(desk: QconfContext, words: QconfArguments) -> None:
    """``-Arqs FILE``: add the sets of a file."""
    file = words.file()
    desk.require_manager()
    _add(desk, read_text(file), shown_name(file), f"-Arqs {file}")


def add(desk: QconfContext, words: QconfArguments) -> None:
    """``-arqs [NAME,..]``: edit sets that forbid everything and are not enabled, and add what is saved."""
    names = listed([words.value()])
    desk.require_manager()
    templates = (RuleSet(name, (_TEMPLATE_RULE,), enabled=False) for name in names or (_TEMPLATE,))
    _add(desk, edit(format_sets(templates)), EDITED, " ".join(("-arqs", *names)))


def _add(desk: QconfContext, text: str, file: str, note: str) -> None:
    with desk.changing() as settings:
        sets = read_sets(settings, text, file)
        there = {each.name for each in settings.sets}
        for each in sets:
            if each.name in there:
                raise QconfRefusedError(f'resource quota set "{each.name}" already exists')
        desk.change_sets(settings, with_added(settings, sets), f"{note}: added {quoted(_names(sets))}")
    # Grid Engine tells the first answer only, whatever is in the file.
    desk.say(f'{desk.who} added "{sets[0].name}" to {LIST}')


def change_from_file(desk: QconfContext, words: QconfArguments) -> None:
    """``-Mrqs FILE [NAME,..]``: change these sets to what a file says; without a name, it is the whole list."""
    desk.require_manager()  # that of -Arqs is looked for before
    file = words.file()
    names = listed([words.value()])
    text = read_text(file)
    with desk.changing() as settings:
        sets = read_sets(settings, text, shown_name(file), required=False)
        if names:
            found = {each.name: each for each in sets}
            missing = next((name for name in names if name not in found), None)
            if missing is not None:
                raise QconfRefusedError(f'resource quota set "{missing}" not found in file "{file}"')
            _change(desk, settings, [found[name] for name in names], f"-Mrqs {file}")
        elif settings.sets or sets:
            _replace(desk, settings, sets, f"-Mrqs {file}")
            desk.complain(f"{desk.who} modified {LIST}")


def change(desk: QconfContext, words: QconfArguments) -> None:
    """``-mrqs [NAME,..]``: edit the sets whose names match, or the whole list, and change them to what is saved."""
    names = listed([words.value()])
    desk.require_manager()
    shown = format_sets(_matching(desk.settings().sets, names))
    edited = edit(shown or "\n")
    with desk.changing() as settings:
        if format_sets(_matching(settings.sets, names)) != shown:
            raise QconfRefusedError("somebody else has changed these sets in the meantime: edit them again")
        sets = read_sets(settings, edited, EDITED)
        if names:
            _change(desk, settings, sets, " ".join(("-mrqs", *names)))
            return
        old = settings.sets
        _replace(desk, settings, sets, "-mrqs")
        for each in old:
            desk.complain(f'{desk.who} removed "{each.name}" from {LIST}')
        for each in sets:
            desk.complain(f'{desk.who} added "{each.name}" to {LIST}')


def _change(desk: QconfContext, settings: QuotaSettings, sets: Sequence[RuleSet], note: str) -> None:
    names = _names(sets)
    require_sets(settings, names)
    desk.change_sets(settings, with_changed(settings, sets), f"{note}: modified {quoted(names)}")
    for name in names:
        desk.complain(f'{desk.who} modified "{name}" in {LIST}')


def _replace(desk: QconfContext, settings: QuotaSettings, sets: Sequence[RuleSet], note: str) -> None:
    told = f"in place of {quoted(_names(settings.sets))}: {quoted(_names(sets))}"
    desk.change_sets(settings, replaced(settings, sets), f"{note}: {told}")


def delete(desk: QconfContext, words: QconfArguments) -> None:
    """``-drqs [NAME,..]``: delete these sets, or all."""
    given = words.value()
    # An empty list is one that somebody's script did not fill: it must not mean all.
    names = (given,) if given is not None and not listed([given]) else listed([given])
    desk.require_manager()
    with desk.changing() as settings:
        require_sets(settings, names)
        gone = names or _names(settings.sets)
        desk.change_sets(settings, without(settings, gone), f"-drqs: removed {quoted(gone)}")
    if not names:
        desk.complain(f"{desk.who} removed {LIST}")
    for name in names:
        desk.complain(f'{desk.who} removed "{name}" from {LIST}')


def read_sets(settings: QuotaSettings, text: str, file: str, *, required: bool = True) -> tuple[RuleSet, ...]:
    """Read the sets of a text; ``file`` is what faults call it.

    :raises RefusedError: it has faults, or no set where one is ``required``.
    """
    engine = settings.gridengine
    parsed = parse_sets(
        text, file, engine.all_complexes, numeric_formulas=engine.numeric_formulas, required=required
    )
    if parsed.problems:
        raise faults(parsed.problems)
    return parsed.sets


def require_sets(settings: QuotaSettings, names: Iterable[str]) -> None:
    """Go on only if all these sets are there.

    :raises RefusedError: they are not.
    """
    there = {each.name for each in settings.sets}
    missing = [f'denied: resource quota set "{name}" does not exist' for name in names if name not in there]
    if missing:
        raise QconfRefusedError(*missing)


def _names(sets: Iterable[RuleSet]) -> tuple[str, ...]:
    return tuple(each.name for each in sets)


def quoted(names: Iterable[str]) -> str:
    """Names as notes have them."""
    return ", ".join(f'"{name}"' for name in names) or "nothing"
