"""The switches for one attribute of sets: ``-aattr`` to ``-Rattr``, of the command line and of files.

Source: qconf(1); "Resource Quota Sets", ``-aattr obj_nm attr_nm val obj_id_lst``. Either all of the objects are changed,
or none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import attrs

from negotiator_quotasets.language import ATTRIBUTES, Attributes, RuleSet, format_set, parse_attributes
from negotiator_quotasets.qconf.arguments import QconfArguments
from negotiator_quotasets.qconf.context import QconfContext
from negotiator_quotasets.qconf.files import read_text, shown_name
from negotiator_quotasets.qconf.limits import Way, changed
from negotiator_quotasets.qconf.refusal import USAGE, QconfRefusedError, faults
from negotiator_quotasets.qconf.sets import LIST, read_sets, require_sets
from negotiator_quotasets.qconf.storage import with_changed
from negotiator_quotasets.settings import QuotaSettings

_OBJECT = "resource_quota"
_NOT_NONE = '"NONE" is not a valid list attribute value for -mattr.  Try using -rattr instead.'
_NO_RULE = "no resource quota rule specified for modification"
# What Grid Engine's reader says, before it asks the qmaster whether the set and the rule are there.
_OF_SYNTAX = re.compile(
    r'unknown attribute name|line \d+ should begin|" " is the only|unrecognized characters|each value in'
)
_OF_READER = re.compile(rf"{_OF_SYNTAX.pattern}|error parsing value|error reading file")


@attrs.frozen
class Attribute:
    """One of the eight switches."""

    way: Way
    from_file: bool

    @property
    def switch(self) -> str:
        """Its name: ``-aattr``, or ``-Aattr`` where a file is read."""
        letter = self.way.value
        return f"-{letter.upper() if self.from_file else letter}attr"

    def __call__(self, desk: QconfContext, words: QconfArguments) -> None:
        """Change an attribute of sets, or the limits of rules of them."""
        kind = words.required()
        if kind != _OBJECT:
            raise QconfRefusedError(f'Modification of object "{kind}" not supported')
        given = [kind, *(words.required() for _ in range(1 if self.from_file else 2))]
        objects = words.values()
        if not objects:
            what = "filename as option argument" if self.from_file else "object list"
            raise QconfRefusedError(f"qconf: missing {what}")
        desk.require_manager()
        with desk.changing() as settings:
            read = (
                self._read_file(settings, *given[1:]) if self.from_file else self._read(settings, *given[1:])
            )
            if self.way is Way.MODIFY and read.limits == ():
                raise QconfRefusedError(_NOT_NONE)
            change = _AttributeChange(settings, self.way, read, desk.who)
            change.apply(objects)
            note = " ".join((self.switch, *given, *objects))
            desk.change_sets(settings, with_changed(settings, change.checked()), note)
        for line in change.told:
            desk.say(line)

    def _read(self, settings: QuotaSettings, name: str, value: str) -> Attributes:
        """What the command line says of one attribute."""
        invalid = f'The attribute name ("{name}") and/or value ("{value}") is invalid'
        if name not in ATTRIBUTES:
            raise QconfRefusedError(invalid)
        found = self._parsed(settings, f"{name} {value}", "command line")
        if any(_OF_SYNTAX.match(each.message) for each in found.problems):
            raise QconfRefusedError(invalid)
        _require_reading(found)
        if not found.problems and any(
            getattr(found, _field(each)) is not None for each in ATTRIBUTES if each != name
        ):
            raise QconfRefusedError(invalid)
        return found

    def _read_file(self, settings: QuotaSettings, file: str) -> Attributes:
        """What a file says of some of them."""
        found = self._parsed(settings, read_argument(file), shown_name(file))
        try:
            _require_reading(found)
        except QconfRefusedError as error:
            unread = f'error reading file: "{file}"'
            raise _bad_argument(file, dict.fromkeys((*error.lines, unread))) from None
        return found

    def _parsed(self, settings: QuotaSettings, text: str, file: str) -> Attributes:
        engine = settings.gridengine
        return parse_attributes(
            text,
            file,
            engine.all_complexes,
            numeric_formulas=engine.numeric_formulas,
            bare=self.way is Way.DELETE,
        )


def _field(attribute: str) -> str:
    return "limits" if attribute == "limit" else attribute


def _require_reading(found: Attributes) -> None:
    if any(_OF_READER.match(each.message) for each in found.problems):
        raise faults(found.problems)


def read_argument(file: str) -> str:
    """The text of a file that is an argument.

    :raises RefusedError: it can't be read.
    """
    try:
        return read_text(file)
    except QconfRefusedError as error:
        raise _bad_argument(file, error.lines) from None


def _bad_argument(file: str, lines: Iterable[str]) -> QconfRefusedError:
    return QconfRefusedError(
        *(f"error: {line}" for line in lines), f'error: invalid option argument "{file}"', USAGE
    )


@attrs.define(eq=False)
class _AttributeChange:
    """Goes through the objects, one after the other: each sees what became of those before it."""

    settings: QuotaSettings
    way: Way
    read: Attributes
    who: str
    sets: dict[str, RuleSet] = attrs.field(factory=dict)
    told: list[str] = attrs.field(factory=list)

    def apply(self, objects: Iterable[str]) -> None:
        """Change each of them: a set, or ``SET/RULE``.

        :raises RefusedError: one of them is not there, or can't be changed so.
        """
        if self.read.name is not None:  # even where it is the name that the set has
            raise QconfRefusedError("qconf: cannot change name")
        split = [each.partition("/") for each in objects]
        require_sets(self.settings, dict.fromkeys(name for name, _, _ in split))
        named = {each.name: each for each in self.settings.sets}
        for name, _, rule in split:
            self._one(self.sets.get(name, named[name]), rule)
        if self.read.problems:
            raise faults(self.read.problems)

    def _one(self, set_: RuleSet, rule: str) -> None:
        rules = list(set_.rules)
        # Whatever else may be wrong than what the reader tells is wrong with limits.
        if self.read.limits is not None or self.read.problems:
            place = _place(set_, rule)
            limits, told = changed(self.way, rules[place].limits, self.read.limits or ())
            rules[place] = attrs.evolve(rules[place], limits=limits)
            self.told += told
        description, enabled = self.read.description, self.read.enabled
        self.sets[set_.name] = attrs.evolve(
            set_,
            rules=tuple(rules),
            description=set_.description if description is None else description,
            enabled=set_.enabled if enabled is None else enabled,
        )
        self.told.append(f'{self.who} modified "{set_.name}" in {LIST}')

    def checked(self) -> Iterator[RuleSet]:
        """The sets as they are to be, read again as they are going to be.

        :raises RefusedError: one of them is no set any more.
        """
        for each in self.sets.values():
            yield from read_sets(self.settings, format_set(each), each.name)


def _place(set_: RuleSet, rule: str) -> int:
    """Where a rule stands in its set: it is told by its name, in which case does not count, or by its number from 1."""
    for place, each in enumerate(set_.rules):
        if each.name and each.name.lower() == rule.lower():
            return place
    number = int(rule) if rule.isascii() and rule.isdecimal() and len(rule) < 10 else 0
    if not 1 <= number <= len(set_.rules):
        raise QconfRefusedError(_NO_RULE)
    return number - 1
