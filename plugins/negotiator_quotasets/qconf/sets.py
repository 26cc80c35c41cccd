"""The switches for whole sets: add, change, replace, show and delete them.

Source: qconf(1), ``-arqs``, ``-Arqs``, ``-mrqs``, ``-Mrqs``, ``-srqs``, ``-srqsl`` and ``-drqs``; "Resource Quota Sets",
transcripts. A change of several sets is made whole or not at all, whereas Grid Engine may make a part of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import click

from negotiator_quotasets.complexes import wildcard_matches
from negotiator_quotasets.language import (
    ParsedSets,
    QuotaRule,
    RuleLimit,
    RuleSet,
    format_sets,
)
from negotiator_quotasets.qconf.arguments import QconfArguments, QconfRefusedError, refusal_of, split_lists
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.files import (
    edit,
    printable_name,
    read_text,
    replaced,
    with_added,
    with_changed,
    without,
)
from negotiator_quotasets.settings import QuotaSettings

LIST = "resource quota set list"
EDITED = "the edited text"
_NONE_FOUND = "No resource quota set found"
_TEMPLATE = "template"
_TEMPLATE_RULE = QuotaRule(limits=(RuleLimit("slots", "0"),))


def show(context: QconfContext, arguments: QconfArguments) -> None:
    """``-srqs [NAME,..]``: print all sets, or those with matching names, in the order in which they were added."""
    patterns = split_lists([arguments.value()])
    sets = _matching(context.settings().sets, patterns)
    if not sets:
        raise QconfRefusedError(_NONE_FOUND)
    click.echo(format_sets(sets), nl=False)


def _matching(sets: Iterable[RuleSet], patterns: Collection[str]) -> list[RuleSet]:
    """Return the sets whose names match one of the patterns; all sets if there are no patterns."""
    return [
        each
        for each in sets
        if not patterns or any(wildcard_matches(pattern, each.name) for pattern in patterns)
    ]


def show_names(context: QconfContext, _arguments: QconfArguments) -> None:
    """``-srqsl``: print the names of all sets, sorted."""
    names = sorted(each.name for each in context.settings().sets)
    if not names:
        raise QconfRefusedError(f"no {LIST} defined")
    for name in names:
        context.print_line(name)


def add_from_file(context: QconfContext, arguments: QconfArguments) -> None:
    """``-Arqs FILE``: add the sets of a file."""
    file = arguments.file()
    context.require_manager()
    _add(context, read_text(file), printable_name(file), f"-Arqs {file}")


def add(context: QconfContext, arguments: QconfArguments) -> None:
    """``-arqs [NAME,..]``: edit disabled templates that allow nothing, and add the saved sets."""
    names = split_lists([arguments.value()])
    context.require_manager()
    templates = (RuleSet(name, (_TEMPLATE_RULE,), enabled=False) for name in names or (_TEMPLATE,))
    _add(context, edit(format_sets(templates)), EDITED, " ".join(("-arqs", *names)))


def _add(context: QconfContext, text: str, file: str, note: str) -> None:
    with context.locked_settings() as settings:
        parsed = _parsed(settings, text, file)
        _require_complete(parsed, *parsed.names)
        existing = {each.name for each in settings.sets}
        for name in parsed.names:
            if name in existing:
                raise QconfRefusedError(f'resource quota set "{name}" already exists')
            if parsed.of_content[name]:
                break
        _require_valid(parsed, *parsed.names)
        sets = parsed.sets
        context.change_sets(settings, with_added(settings, sets), f"{note}: added {quoted(_names(sets))}")
    # Grid Engine prints the first answer only, however many sets the file has.
    context.print_line(f'{context.caller} added "{sets[0].name}" to {LIST}')


def change_from_file(context: QconfContext, arguments: QconfArguments) -> None:
    """``-Mrqs FILE [NAME,..]``: change these sets to those of a file; without names, replace all sets."""
    context.require_manager()  # before a missing file is reported, unlike -Arqs
    file = arguments.file()
    names = split_lists([arguments.value()])
    text = read_text(file)
    with context.locked_settings() as settings:
        parsed = _parsed(settings, text, printable_name(file), required=False)
        if names:
            missing = next((name for name in names if name not in parsed.names), None)
            if missing is not None:
                raise QconfRefusedError(f'resource quota set "{missing}" not found in file "{file}"')
            _change(context, settings, parsed, names, f"-Mrqs {file}")
            return
        _require_valid(parsed, *parsed.names)
        if settings.sets or parsed.sets:
            _replace(context, settings, parsed.sets, f"-Mrqs {file}")
            context.print_error(f"{context.caller} modified {LIST}")


def change(context: QconfContext, arguments: QconfArguments) -> None:
    """``-mrqs [NAME,..]``: edit the sets with matching names, or all sets, and change them to the saved text."""
    names = split_lists([arguments.value()])
    context.require_manager()
    shown = format_sets(_matching(context.settings().sets, names))
    edited = edit(shown or "\n")
    with context.locked_settings() as settings:
        if format_sets(_matching(settings.sets, names)) != shown:
            raise QconfRefusedError("somebody else has changed these sets in the meantime: edit them again")
        parsed = _parsed(settings, edited, EDITED)
        if names:
            _change(context, settings, parsed, parsed.names, " ".join(("-mrqs", *names)))
            return
        _require_valid(parsed, *parsed.names)
        sets, old = parsed.sets, settings.sets
        _replace(context, settings, sets, "-mrqs")
        for each in old:
            context.print_error(f'{context.caller} removed "{each.name}" from {LIST}')
        for each in sets:
            context.print_error(f'{context.caller} added "{each.name}" to {LIST}')


def _change(
    context: QconfContext, settings: QuotaSettings, parsed: ParsedSets, names: Sequence[str], note: str
) -> None:
    """Change the named sets of a text; problems of its other sets do not matter."""
    _require_complete(parsed, *names)
    require_sets(settings, names)
    _require_valid(parsed, *names)
    by_name = {each.name: each for each in parsed.sets}
    sets = [by_name[name] for name in names]
    context.change_sets(settings, with_changed(settings, sets), f"{note}: modified {quoted(names)}")
    for name in names:
        context.print_error(f'{context.caller} modified "{name}" in {LIST}')


def _replace(context: QconfContext, settings: QuotaSettings, sets: Sequence[RuleSet], note: str) -> None:
    change = f"in place of {quoted(_names(settings.sets))}: {quoted(_names(sets))}"
    context.change_sets(settings, replaced(settings, sets), f"{note}: {change}")


def delete(context: QconfContext, arguments: QconfArguments) -> None:
    """``-drqs [NAME,..]``: delete these sets, or all."""
    value = arguments.value()
    # A list without entries comes from an empty variable of a script: it must not delete all sets.
    names = (value,) if value is not None and not split_lists([value]) else split_lists([value])
    context.require_manager()
    with context.locked_settings() as settings:
        require_sets(settings, names)
        removed = names or _names(settings.sets)
        context.change_sets(settings, without(settings, removed), f"-drqs: removed {quoted(removed)}")
    if not names:
        context.print_error(f"{context.caller} removed {LIST}")
    for name in names:
        context.print_error(f'{context.caller} removed "{name}" from {LIST}')


def read_sets(settings: QuotaSettings, text: str, file: str, *, required: bool = True) -> tuple[RuleSet, ...]:
    """Parse the sets of a text; ``file`` is its name in messages.

    :raises QconfRefusedError: the text has problems, or no set although one is ``required``.
    """
    parsed = _parsed(settings, text, file, required=required)
    _require_valid(parsed, *parsed.names)
    return parsed.sets


def _parsed(settings: QuotaSettings, text: str, file: str, *, required: bool = True) -> ParsedSets:
    """Parse a text, of which the contents of sets may be invalid.

    :raises QconfRefusedError: invalid syntax, or no set although one is ``required``.
    """
    parsed = settings.gridengine.parse_sets(text, file, required=required)
    if parsed.of_syntax:
        others = [each for each in parsed.problems if each not in parsed.of_syntax]
        raise refusal_of((*parsed.of_syntax, *others))
    return parsed


def _require_complete(parsed: ParsedSets, *names: str) -> None:
    """Check that sets have what each set needs: this comes before the question whether they exist.

    :raises QconfRefusedError: an incomplete set.
    """
    if any(parsed.incomplete.get(name) for name in names):
        _require_valid(parsed, *names)


def _require_valid(parsed: ParsedSets, *names: str) -> None:
    """Check sets, and their contents.

    :raises QconfRefusedError: an invalid set.
    """
    kinds = (parsed.incomplete, parsed.of_content)
    problems = [each for kind in kinds for name in names for each in kind.get(name, ())]
    if problems:
        raise refusal_of(problems)


def require_sets(settings: QuotaSettings, names: Iterable[str]) -> None:
    """Check that sets exist.

    :raises QconfRefusedError: unknown sets.
    """
    existing = {each.name for each in settings.sets}
    missing = [
        f'denied: resource quota set "{name}" does not exist' for name in names if name not in existing
    ]
    if missing:
        raise QconfRefusedError(*missing)


def _names(sets: Iterable[RuleSet]) -> tuple[str, ...]:
    return tuple(each.name for each in sets)


def quoted(names: Iterable[str]) -> str:
    """Return names as notes in the audit log have them."""
    return ", ".join(f'"{name}"' for name in names) or "nothing"
