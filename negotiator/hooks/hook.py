"""A hook as a value: its arguments, its record type, the check of an answer, and the effect of a failure.

``specs`` declares each hook once with ``hookspec``. The manager, the guard, the test kit, the vetting of plugins and the
test of the documentation all read that declaration.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, repeat
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

import attrs

from negotiator.hooks.fields import WrongAnswerError, kind_of

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

Arguments: TypeAlias = Mapping[str, Any]
#: Returns the record that the core may keep, given one record of the plugin and the arguments of the call.
RecordCheck: TypeAlias = Callable[[Any, Arguments], R]
#: Returns all records of an answer, given the answer and the arguments of the call.
AnswerCheck: TypeAlias = Callable[[Any, Arguments], tuple[R, ...]]

MAX_RECORDS = 10_000  # of one answer, unless its batch is larger: a generator may never end


class OnFailure(enum.StrEnum):
    """The effect of an implementation that raises or returns a wrong answer."""

    DENY = "deny"  # the subject of the call
    REFUSE_BUNDLE = "refuse the bundle"
    REPORT = "report"  # and go on


class AnswerShape(enum.Enum):
    """How many records an implementation returns."""

    NOTHING = "nothing"
    ONE = "one record"
    MANY = "any number of records"
    ONE_EACH = "one record for each item of the batch"


@attrs.frozen
class PerPlugin:
    """An argument whose value differs from plugin to plugin: ``value_of`` is called with the plugin's name."""

    value_of: Callable[[str], Any]


def per_plugin(value_of: Callable[[str], T]) -> T:
    """Pass each plugin its own value of one argument, typed as that value: see ``HookManager.ask``.

    :param value_of: called with the plugin's name.
    """
    return cast("T", PerPlugin(value_of))


@attrs.frozen(eq=False)
class Hook(Generic[P, R]):
    """One hook of the contract.

    ``batch`` names the argument that holds all that one call is about, empty if none does. ``own`` are the
    arguments of which each plugin is passed its own value. ``on_failure`` is the effect of a failure.
    ``may_be_unused``: a plugin may declare that it has nothing to do under a bundle.
    """

    name: str
    function: Callable[P, Any]
    arguments: tuple[str, ...]
    shape: AnswerShape
    on_failure: OnFailure
    batch: str
    own: tuple[str, ...]
    check_answer: AnswerCheck[R]
    may_be_unused: bool = False

    @property
    def enforces(self) -> bool:
        """True if a failure denies something; observers and reports only report it."""
        return self.on_failure is not OnFailure.REPORT


@attrs.frozen
class _Deferred(Generic[R]):
    """A check that is looked up when there is a record to check."""

    find: Callable[[], RecordCheck[R]]


def deferred(find: Callable[[], RecordCheck[R]]) -> RecordCheck[R]:
    """Return a check that is looked up, and with it imported, when there is a record to check."""
    return cast("RecordCheck[R]", _Deferred(find))


@overload
def hookspec(
    *, shape: AnswerShape, on_failure: OnFailure, batch: str = ""
) -> Callable[[Callable[P, Any]], Hook[P, Any]]: ...
@overload
def hookspec(
    noun: str,
    *,
    check: RecordCheck[R],
    shape: AnswerShape = AnswerShape.MANY,
    on_failure: OnFailure,
    batch: str = "",
    own: tuple[str, ...] = ("settings",),
    may_be_unused: bool = False,
) -> Callable[[Callable[P, Any]], Hook[P, R]]: ...
def hookspec(
    noun: str = "",
    *,
    check: RecordCheck[Any] | None = None,
    shape: AnswerShape = AnswerShape.MANY,
    on_failure: OnFailure,
    batch: str = "",
    own: tuple[str, ...] = ("settings",),
    may_be_unused: bool = False,
) -> Callable[[Callable[P, Any]], Hook[P, Any]]:
    """Declare a hook by its function, which has the arguments, their types and the documentation.

    :param noun: what messages call the records that an implementation returns; empty if it returns none.
    :param check: the check of one record.
    :param shape: how many records an answer has.
    :param on_failure: the effect of a failure.
    :param batch: the argument that holds all that one call is about.
    :param own: the arguments of which each plugin is passed its own value, where the hook has them.
    :param may_be_unused: a plugin may declare that it has nothing to do under a bundle.
    """

    def declare(function: Callable[P, Any]) -> Hook[P, Any]:
        arguments = tuple(inspect.signature(function).parameters)
        return Hook(
            name=function.__name__,
            function=function,
            arguments=arguments,
            shape=shape,
            on_failure=on_failure,
            batch=batch,
            own=tuple(name for name in own if name in arguments),
            check_answer=_answer_check(shape, check, noun, batch),
            may_be_unused=may_be_unused,
        )

    return declare


def hooks_of(*contract: ModuleType) -> Mapping[str, Hook[..., Any]]:
    """Return all hooks that modules declare, by name, in their order."""
    return {
        name: value for module in contract for name, value in vars(module).items() if isinstance(value, Hook)
    }


def _answer_check(shape: AnswerShape, check: RecordCheck[R] | None, noun: str, batch: str) -> AnswerCheck[R]:
    if check is None:
        return _nothing
    find = _finder(check)
    match shape:
        case AnswerShape.ONE:
            return lambda answer, arguments: (find()(answer, arguments),)
        case AnswerShape.ONE_EACH:
            return lambda answer, arguments: _one_each(answer, find(), arguments, noun, len(arguments[batch]))
        case _:
            return lambda answer, arguments: _many(answer, find, arguments, noun, batch)


def _finder(check: Any) -> Callable[[], RecordCheck[Any]]:
    """Return what looks up a check: once an answer, however many records it has."""
    return check.find if isinstance(check, _Deferred) else lambda: check


def _nothing(answer: object, arguments: Arguments) -> tuple[()]:
    del arguments
    if answer is not None:
        raise WrongAnswerError(f"expected None, got {kind_of(answer)}")
    return ()


def _many(
    answer: Any, find: Callable[[], RecordCheck[R]], arguments: Arguments, noun: str, batch: str
) -> tuple[R, ...]:
    if type(answer) is tuple and not answer:
        return ()
    items = arguments[batch] if batch else ()
    limit = max(MAX_RECORDS, len(items)) if isinstance(items, tuple) else MAX_RECORDS
    records = _take(answer, find(), arguments, noun, limit)
    if len(records) > limit:
        raise WrongAnswerError(f"expected at most {limit} records, got more")
    return records


def _one_each(
    answer: Any, check: RecordCheck[R], arguments: Arguments, noun: str, count: int
) -> tuple[R, ...]:
    # A policy often gives one record many times: check it once. The record is stored too, so that its id stays unique.
    checked: dict[int, tuple[Any, R]] = {}

    def check_once(record: Any, arguments: Arguments) -> R:
        if id(record) not in checked:
            checked[id(record)] = (record, check(record, arguments))
        return checked[id(record)][1]

    records = _take(answer, check_once, arguments, noun, count)
    if len(records) != count:
        got = "more" if len(records) > count else len(records)
        raise WrongAnswerError(f"expected {count} records of {noun}, one a question, got {got}")
    return records


def _take(answer: Any, check: RecordCheck[R], arguments: Arguments, noun: str, limit: int) -> tuple[R, ...]:
    """Return the checked records, and one beyond the limit where there are more."""
    if isinstance(answer, str | bytes) or not isinstance(answer, Iterable):
        hint = "; return [] or yield nothing for an empty answer" if answer is None else ""
        raise WrongAnswerError(f"expected an iterable of {noun}, got {kind_of(answer)}{hint}")
    return tuple(map(check, islice(answer, limit + 1), repeat(arguments)))
