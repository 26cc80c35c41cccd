"""The switches for single attributes of sets: ``-aattr`` to ``-rattr`` from the command line, ``-Aattr`` to ``-Rattr`` from files.

Source: qconf(1); "Resource Quota Sets", ``-aattr obj_nm attr_nm val obj_id_lst``. Either all objects are changed or none. The order of
changed limits and the messages are the qmaster's.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from negotiator_quotasets.language import (
    ATTRIBUTES,
    ParsedAttributes,
    RuleLimit,
    RuleSet,
    format_set,
    parse_attributes,
)
from negotiator_quotasets.qconf.arguments import USAGE, QconfArguments, QconfRefusedError, refusal_of
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.files import printable_name, read_text, with_changed
from negotiator_quotasets.qconf.sets import LIST, read_sets, require_sets
from negotiator_quotasets.settings import QuotaSettings

Limits = tuple[RuleLimit, ...]
_OF = 'in "resource_quota_rules" of "resource_quota"'
_OBJECT = "resource_quota"
_NOT_NONE = '"NONE" is not a valid list attribute value for -mattr.  Try using -rattr instead.'
_NO_RULE = "no resource quota rule specified for modification"
# Messages of Grid Engine's parser, which come before the qmaster checks whether the set and the rule exist.
_SYNTAX = re.compile(
    r'unknown attribute name|line \d+ should begin|" " is the only|unrecognized characters|each value in|values in the'
)
_NUMBER = re.compile(r"[ \t]*\+?[0-9]{1,9}(?![0-9])")
_PARSING = re.compile(rf"{_SYNTAX.pattern}|error parsing value|error reading file")


class ChangeWay(enum.StrEnum):
    """The way an attribute is changed: the first letter of its switches."""

    ADD = "a"
    DELETE = "d"
    MODIFY = "m"
    REPLACE = "r"


def changed_limits(way: ChangeWay, old: Limits, given: Limits) -> tuple[Limits, Sequence[str]]:
    """Return the new limits of a rule, and the messages about the change."""
    if way is ChangeWay.REPLACE:
        return given, ()
    old_resources = {each.resource for each in old}
    given_resources = {each.resource for each in given}
    existing = [each for each in given if each.resource in old_resources]
    new = tuple(each for each in given if each.resource not in old_resources)
    if way is ChangeWay.ADD:
        return old + new, [
            f'No modification because "{each.resource}" already exists {_OF}' for each in existing
        ]
    others = tuple(each for each in old if each.resource not in given_resources)
    if way is ChangeWay.DELETE:
        return others, [f'"{each.resource}" does not exist {_OF}' for each in new]
    # Modified limits move to the end, as in the qmaster's lists.
    return others + given, [f'Unable to find "{each.resource}" {_OF} - Adding new element.' for each in new]


@attrs.frozen
class AttributeSwitch:
    """One of the eight switches."""

    way: ChangeWay
    from_file: bool

    @property
    def switch(self) -> str:
        """The name: ``-aattr``, or ``-Aattr`` if a file is read."""
        letter = self.way.value
        return f"-{letter.upper() if self.from_file else letter}attr"

    def __call__(self, context: QconfContext, arguments: QconfArguments) -> None:
        """Change an attribute of sets, or the limits of their rules."""
        kind = arguments.required()
        if kind != _OBJECT:
            raise QconfRefusedError(f'Modification of object "{kind}" not supported')
        operands = [kind, *(arguments.required() for _ in range(1 if self.from_file else 2))]
        objects = arguments.words()
        if not objects:
            argument = "filename as option argument" if self.from_file else "object list"
            raise QconfRefusedError(f"qconf: missing {argument}")
        context.require_manager()
        with context.locked_settings() as settings:
            parse = self._parse_file if self.from_file else self._parse_value
            parsed = parse(settings, *operands[1:])
            if self.way is ChangeWay.MODIFY and parsed.limits == ():
                raise QconfRefusedError(_NOT_NONE)
            change = _AttributeChange(settings, self.way, parsed, context.caller)
            change.apply(objects)
            note = " ".join((self.switch, *operands, *objects))
            context.change_sets(settings, with_changed(settings, change.reparsed()), note)
        for line in change.messages:
            context.print_line(line)

    def _parse_value(self, settings: QuotaSettings, name: str, value: str) -> ParsedAttributes:
        """Parse one attribute of the command line."""
        invalid = f'The attribute name ("{name}") and/or value ("{value}") is invalid'
        if name not in ATTRIBUTES:
            raise QconfRefusedError(invalid)
        parsed = self._parse(settings, f"{name} {value}", "command line")
        if any(_SYNTAX.match(each.message) for each in parsed.problems):
            raise QconfRefusedError(invalid)
        _require_parsable(parsed)
        if not parsed.problems and any(
            getattr(parsed, _field(each)) is not None for each in ATTRIBUTES if each != name
        ):
            raise QconfRefusedError(invalid)  # the value goes on with another attribute
        return parsed

    def _parse_file(self, settings: QuotaSettings, file: str) -> ParsedAttributes:
        """Parse the attributes in a file."""
        parsed = self._parse(settings, _read_file(file), printable_name(file))
        try:
            _require_parsable(parsed)
        except QconfRefusedError as error:
            unreadable = f'error reading file: "{file}"'
            raise _invalid_file(file, dict.fromkeys((*error.lines, unreadable))) from None
        return parsed

    def _parse(self, settings: QuotaSettings, text: str, file: str) -> ParsedAttributes:
        engine = settings.gridengine
        return parse_attributes(
            text,
            file,
            engine.all_complexes,
            numeric_formulas=engine.numeric_formulas,
            bare=self.way is ChangeWay.DELETE,
        )


def _field(attribute: str) -> str:
    return "limits" if attribute == "limit" else attribute


def _require_parsable(parsed: ParsedAttributes) -> None:
    """Refuse problems that Grid Engine's parser reports; the qmaster reports all others, once the object was found."""
    if any(_PARSING.match(each.message) for each in parsed.problems):
        raise refusal_of(parsed.problems)


def _read_file(file: str) -> str:
    try:
        return read_text(file)
    except QconfRefusedError as error:
        raise _invalid_file(file, error.lines) from None


def _invalid_file(file: str, lines: Iterable[str]) -> QconfRefusedError:
    return QconfRefusedError(
        *(f"error: {line}" for line in lines), f'error: invalid option argument "{file}"', USAGE
    )


@attrs.define(eq=False)
class _AttributeChange:
    """The change of several objects: each sees the changes of those before it."""

    settings: QuotaSettings
    way: ChangeWay
    parsed: ParsedAttributes
    caller: str
    sets: dict[str, RuleSet] = attrs.field(factory=dict)
    messages: list[str] = attrs.field(factory=list)

    def apply(self, objects: Iterable[str]) -> None:
        """Change each object: a set, or ``SET/RULE``.

        :raises QconfRefusedError: unknown object, or invalid change.
        """
        if self.parsed.name is not None:  # even if it is the current name
            raise QconfRefusedError("qconf: cannot change name")
        refusals: list[str] = []
        for each in objects:
            try:
                self._apply_to(*_set_and_rule(each))
            except QconfRefusedError as error:
                refusals += error.lines
        if refusals:
            raise QconfRefusedError(*refusals)

    def _apply_to(self, name: str, rule: str) -> None:
        if name not in self.sets:
            require_sets(self.settings, (name,))
        set_ = self.sets.get(name) or next(each for each in self.settings.sets if each.name == name)
        rules = list(set_.rules)
        # The problems left after parsing are about limits: an unknown rule is reported before them.
        if self.parsed.limits is not None or self.parsed.problems:
            number = _rule_number(set_, rule)
            if self.parsed.problems:
                raise refusal_of(self.parsed.problems)
            limits, messages = changed_limits(self.way, rules[number].limits, self.parsed.limits or ())
            rules[number] = attrs.evolve(rules[number], limits=limits)
            self.messages += messages
        description, enabled = self.parsed.description, self.parsed.enabled
        self.sets[set_.name] = attrs.evolve(
            set_,
            rules=tuple(rules),
            description=set_.description if description is None else description,
            enabled=set_.enabled if enabled is None else enabled,
        )
        self.messages.append(f'{self.caller} modified "{set_.name}" in {LIST}')

    def reparsed(self) -> Iterator[RuleSet]:
        """Yield the changed sets, parsed from the text that will be written.

        :raises QconfRefusedError: a changed set is invalid.
        """
        for each in self.sets.values():
            yield from read_sets(self.settings, format_set(each), each.name)


def _set_and_rule(name: str) -> tuple[str, str]:
    """Split ``SET/RULE``; the rule is empty if the name does not have exactly two parts."""
    parts = [part for part in name.split("/") if part]
    return (parts[0], parts[1]) if len(parts) == 2 else (name, "")


def _rule_number(set_: RuleSet, rule: str) -> int:
    """Return the index of a rule, which is given by its name, ignoring case, or by its number from 1.

    As in Grid Engine, the number ends at the first character that is not a digit: ``1,2`` is rule 1 alone.
    """
    digits = _NUMBER.match(rule)
    number = int(digits[0]) if digits else 0
    for index, each in enumerate(set_.rules):
        if index + 1 == number or (each.name and each.name.lower() == rule.lower()):
            return index
    raise QconfRefusedError(_NO_RULE)
