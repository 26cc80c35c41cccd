"""Finds names that mean nothing: attributes that no ad of the pool has, or only the other side has, and unknown functions.

Also invalid arguments: strings in another case than in the ads, invalid patterns, numbers that are too large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from negotiator.classad.context import COMPARE
from negotiator.classad.functions import FUNCTIONS, function_names, wrong_calls
from negotiator.classad.lint.attribute_names import intended
from negotiator.classad.lint.findings import Finding, LintCode, spelled
from negotiator.classad.lint.typed_expression import KnownAds, LintPool, TypedExpression, is_of_an_ad, parts
from negotiator.classad.lint.value_types import IDENTITY, is_bad_pattern, takes_pattern
from negotiator.classad.syntax import (
    LITERAL,
    Attr,
    Binary,
    Call,
    Elvis,
    Expr,
    Literal,
    Side,
    bare,
    children,
    fold,
    scope_side,
    tokenize,
)
from negotiator.records import Severity
from negotiator.records.text import printable, suggest

_OF_NAMES: Final = frozenset({LintCode.UNKNOWN_ATTRIBUTE, LintCode.MISSPELLED_ATTRIBUTE})
_TYPE_TESTS: Final = frozenset({"isundefined", "iserror", "isboolean", "isinteger", "isreal", "isstring"})
_MAX_SHOWN: Final = 60
_DIGITS: Final = re.compile(r"[0-9]+(?![.0-9eE])")


def attributes(typed: TypedExpression, pool: LintPool) -> Iterator[Finding]:
    """Find references to attributes that are missing in all ads in which they are looked up, or misspelled; each name once."""
    guarded = _guarded(typed)
    texts = {id(name): other for name, other in _compared(typed)}
    reported: set[tuple[Side | None, str]] = set()
    for node in references(typed, pool):
        key = _key(node)
        if key in reported:
            continue
        finding = _looked_up(node, pool, texts.get(id(node)), typed)
        if finding is not None:
            reported.add(key)
            if finding.code in _OF_NAMES and key in guarded:
                finding = attrs.evolve(finding, severity=Severity.NOTICE)
            yield finding


def references(typed: TypedExpression, pool: LintPool) -> Iterator[Attr]:
    """Yield the references to attributes of the two ads."""
    for node in typed.nodes:
        if isinstance(node, Attr) and is_of_an_ad(node) and id(node) not in typed.elsewhere:
            yield from [node] if pool.is_plain(node) else []


def no_other_ad(typed: TypedExpression) -> Iterator[Finding]:
    """Find references to the other ad in an expression that is evaluated without one."""
    reported = set()
    for node in typed.nodes:
        if isinstance(node, Attr) and scope_side(node.scope) is Side.TARGET and _key(node) not in reported:
            reported.add(_key(node))
            message = f"{typed.shown(node)} is undefined: the expression is evaluated without another ad"
            yield Finding(
                LintCode.NO_OTHER_AD,
                node,
                message,
                f"write MY.{node.name}, if the attribute of the ad itself is intended",
            )


def _key(node: Attr) -> tuple[Side | None, str]:
    return scope_side(node.scope), fold(node.name)


def _looked_up(node: Attr, pool: LintPool, compared: Expr | None, typed: TypedExpression) -> Finding | None:
    name = fold(node.name)
    places = pool.searched(node)
    has = [ads for ads in places if ads is not None and name in ads.names]
    if len(has) == 2:
        first, second = has
        message = f"{typed.shown(node)} is that of the {first.word}: a {second.word} has one too"
        return Finding(LintCode.BOTH_SIDES, node, message, f"write MY.{node.name} or TARGET.{node.name}")
    if has or not places:
        return None
    if None in places:
        return _misspelled(node, typed)
    known = [ads for ads in places if ads is not None]
    others = " and no ".join(ads.word for ads in known)
    message = f"no {others} of this pool has {node.name}: {typed.shown(node)} is undefined"
    if pool.alone or scope_side(node.scope) is None:
        return _unknown(node, known, message, compared, pool, typed)
    side = scope_side(node.scope)
    other = pool.target if side is Side.MY else pool.my
    if other is not None and name in other.names:
        hint = f"write {'TARGET' if side is Side.MY else 'MY'}.{node.name}"
        return Finding(LintCode.OTHER_SIDE, node, f"{message}; {other.word}s have it", hint)
    return _unknown(node, known, message, compared, pool, typed)


def _misspelled(node: Attr, typed: TypedExpression) -> Finding | None:
    """Find a name that is almost one of HTCondor's attributes, where the ads are not known."""
    if not (near := intended(node.name)):
        return None
    message = f"{typed.shown(node)} is not an attribute of HTCondor's ads"
    return Finding(LintCode.MISSPELLED_ATTRIBUTE, node, message, f"did you mean {near}?")


def _unknown(
    node: Attr,
    known: list[KnownAds],
    message: str,
    compared: Expr | None,
    pool: LintPool,
    typed: TypedExpression,
) -> Finding:
    if node.scope is None and isinstance(compared, Attr) and pool.is_plain(compared):
        found = _strings(compared, pool)
        texts = sorted(text for text in found if fold(text) == fold(node.name))
        if texts:
            message = f"{message}; {typed.shown(compared)} is the string {spelled(texts[0])} in some ads"
            return Finding(LintCode.UNQUOTED_STRING, node, message, f"write {spelled(texts[0])}")
    hint = suggest(node.name, {name for ads in known for name in ads.spelled}, listed=False)
    if not hint and node.scope is None and compared is not None:
        hint = f"if a string is intended, write {spelled(node.name)}"
    return Finding(LintCode.UNKNOWN_ATTRIBUTE, node, message, hint)


def _strings(node: Attr, pool: LintPool) -> frozenset[str]:
    return frozenset(
        text for ads in pool.searched(node) if ads is not None for text in ads.strings(fold(node.name))
    )


def _compared(typed: TypedExpression) -> Iterator[tuple[Expr, Expr]]:
    """Yield the operands of comparisons, each with the other one."""
    for node in typed.nodes:
        if isinstance(node, Binary) and node.op in {*COMPARE, *IDENTITY}:
            left, right = bare(node.left), bare(node.right)
            yield left, right
            yield right, left


def _guarded(typed: TypedExpression) -> frozenset[tuple[Side | None, str]]:
    """Return the names that the expression tests somewhere for being undefined."""
    tested: list[Expr] = []
    for node in typed.nodes:
        if isinstance(node, Elvis):
            tested.append(node.value)
        elif (isinstance(node, Binary) and node.op in IDENTITY) or (
            isinstance(node, Call) and fold(node.name) in _TYPE_TESTS
        ):
            tested += children(node)
    return frozenset(_key(part) for root in tested for part in parts(root) if isinstance(part, Attr))


def case(typed: TypedExpression, pool: LintPool) -> Iterator[Finding]:
    """Find strings that ``=?=`` or ``=!=`` compare with an attribute that ads have in another case only."""
    plain = {id(node) for node in references(typed, pool)}
    for node in typed.nodes:
        if isinstance(node, Binary) and node.op in IDENTITY:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                attribute, constant = bare(one), bare(other)
                if isinstance(attribute, Attr) and id(attribute) in plain and isinstance(constant, Literal):
                    yield from _other_case(node, attribute, constant, pool, typed)


def _other_case(
    node: Binary, attribute: Attr, constant: Literal, pool: LintPool, typed: TypedExpression
) -> Iterator[Finding]:
    text = constant.value
    found = _strings(attribute, pool)
    if not isinstance(text, str) or text in found:
        return
    alike = sorted(each for each in found if fold(each) == fold(text))
    if alike:
        seen = spelled(alike[0])
        message = f"{node.op} is case-sensitive: {typed.shown(attribute)} is {seen} in ads of this pool"
        yield Finding(
            LintCode.CASE_DIFFERS,
            node,
            f"{message}, and {typed.shown(constant)} in none",
            f"write {seen}, or use ==",
        )


def calls(typed: TypedExpression) -> Iterator[Finding]:
    """Find calls that are always an error, and patterns that are invalid or come from an ad."""
    for node in typed.nodes:
        if not isinstance(node, Call):
            continue
        function = FUNCTIONS.get(fold(node.name))
        if function is None or not function.accepts(len(node.args)):
            yield _wrong(node)
        elif takes_pattern(fold(node.name)):
            yield from _pattern(node, typed)


def _wrong(node: Call) -> Finding:
    name, message = next(wrong_calls(node))
    if fold(name) in FUNCTIONS:
        return Finding(LintCode.WRONG_ARGUMENTS, node, f"{message}: the call is always an error")
    hint = suggest(name, function_names(), listed=False)
    return Finding(
        LintCode.UNKNOWN_FUNCTION, node, f"{printable(message)}: the call is always an error", hint
    )


def _pattern(node: Call, typed: TypedExpression) -> Iterator[Finding]:
    pattern = node.args[0]
    if is_bad_pattern(fold(node.name), [typed.value_of(arg) for arg in node.args]):
        message = f"{typed.shown(pattern)} is not a valid regular expression: {node.name} never matches"
        yield Finding(LintCode.BAD_PATTERN, node, message, _escaping(typed.value_of(pattern).value))
    elif typed.value_of(pattern).value is None and any(isinstance(part, Attr) for part in parts(pattern)):
        message = f"the pattern {typed.shown(pattern)} comes from an ad: the author of the ad decides which texts match"
        yield Finding(LintCode.PATTERN_FROM_AD, node, message, _swapped(node, typed))


def _escaping(pattern: object) -> str:
    if isinstance(pattern, str) and pattern[:1] in {"*", "+", "?"}:
        return f"a regular expression is not a file wildcard: write .{pattern[0]} for any characters"
    return ""


def _swapped(node: Call, typed: TypedExpression) -> str:
    second = bare(node.args[1])
    if isinstance(second, Literal) and isinstance(second.value, str):
        return f"the pattern comes first: {node.name}({typed.shown(second)}, {typed.shown(node.args[0])})"
    return ""


def numbers(text: str) -> Iterator[Finding]:
    """Find integers in a text with more than 64 bits, which are read as 0."""
    for kind, value, start in tokenize(text, old=False):
        if kind != LITERAL or value != Literal(0):
            continue
        digits = _DIGITS.match(text, start + (text[start] == "-"))
        if digits is not None and digits[0].strip("0"):
            message = f"{digits[0][:_MAX_SHOWN]} is read as 0: an integer has 64 bits"
            hint = "write it as a real: with .0 at its end"
            yield Finding(LintCode.NUMBER_TOO_LARGE, value, message, hint, span=(start, digits.end()))
