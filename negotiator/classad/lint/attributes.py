"""Names that no ad of the pool has, that the other side has, and strings that no ad has in that spelling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs

from negotiator.classad.context import COMPARE
from negotiator.classad.lint.facts import KnownAds, LintPool
from negotiator.classad.lint.finding import Finding, LintCode
from negotiator.classad.lint.operands import IDENTITY
from negotiator.classad.lint.phrases import spelled
from negotiator.classad.lint.reading import TypedExpression, is_of_an_ad, parts
from negotiator.classad.lint.results import bare
from negotiator.classad.syntax import (
    Attr,
    Binary,
    Call,
    Elvis,
    Expr,
    Literal,
    Side,
    children,
    fold,
    scope_side,
)
from negotiator.records import Severity
from negotiator.records.text import suggest

_ASKS: Final = frozenset({"isundefined", "iserror", "isboolean", "isinteger", "isreal", "isstring"})


def attributes(reading: TypedExpression, pool: LintPool) -> Iterator[Finding]:
    """Find references to attributes that no ad has where they are looked up, each name once."""
    guarded = _guarded(reading)
    texts = {id(name): other for name, other in _compared(reading)}
    told: set[tuple[Side | None, str]] = set()
    for node in references(reading, pool):
        key = _key(node)
        if key in told:
            continue
        finding = _looked_up(node, pool, texts.get(id(node)), reading)
        if finding is not None:
            told.add(key)
            if finding.code is LintCode.UNKNOWN_ATTRIBUTE and key in guarded:
                finding = attrs.evolve(finding, severity=Severity.NOTICE)
            yield finding


def references(reading: TypedExpression, pool: LintPool) -> Iterator[Attr]:
    """Give the references to attributes of the two ads."""
    for node in reading.nodes:
        if isinstance(node, Attr) and is_of_an_ad(node) and id(node) not in reading.elsewhere:
            yield from [node] if pool.is_plain(node) else []


def no_other_ad(reading: TypedExpression) -> Iterator[Finding]:
    """Find references to the other ad where there is none."""
    told = set()
    for node in reading.nodes:
        if isinstance(node, Attr) and scope_side(node.scope) is Side.TARGET and _key(node) not in told:
            told.add(_key(node))
            message = f"{reading.shown(node)} is undefined: there is no other ad here"
            yield Finding(
                LintCode.NO_OTHER_AD,
                node,
                message,
                f"write MY.{node.name}, if that of the ad itself is meant",
            )


def _key(node: Attr) -> tuple[Side | None, str]:
    return scope_side(node.scope), fold(node.name)


def _looked_up(node: Attr, pool: LintPool, compared: Expr | None, reading: TypedExpression) -> Finding | None:
    name = fold(node.name)
    places = pool.searched(node)
    has = [ads for ads in places if ads is not None and name in ads.names]
    if len(has) == 2:
        first, second = has
        message = f"{reading.shown(node)} is that of the {first.word}: a {second.word} has one too"
        return Finding(LintCode.BOTH_SIDES, node, message, f"write MY.{node.name} or TARGET.{node.name}")
    if has or not places or None in places:
        return None
    known = [ads for ads in places if ads is not None]
    whose = " and no ".join(ads.word for ads in known)
    message = f"no {whose} of this pool has {node.name}: {reading.shown(node)} is undefined"
    if pool.alone or scope_side(node.scope) is None:
        return _unknown(node, known, message, compared, pool, reading)
    side = scope_side(node.scope)
    other = pool.target if side is Side.MY else pool.my
    if other is not None and name in other.names:
        hint = f"write {'TARGET' if side is Side.MY else 'MY'}.{node.name}"
        return Finding(LintCode.OTHER_SIDE, node, f"{message}; {other.word}s have it", hint)
    return _unknown(node, known, message, compared, pool, reading)


def _unknown(
    node: Attr,
    known: list[KnownAds],
    message: str,
    compared: Expr | None,
    pool: LintPool,
    reading: TypedExpression,
) -> Finding:
    if node.scope is None and isinstance(compared, Attr) and pool.is_plain(compared):
        found = _strings(compared, pool)
        texts = sorted(text for text in found if fold(text) == fold(node.name))
        if texts:
            message = f"{message}; {reading.shown(compared)} is the string {spelled(texts[0])} in some ads"
            return Finding(LintCode.UNQUOTED_STRING, node, message, f"write {spelled(texts[0])}")
    hint = suggest(node.name, {name for ads in known for name in ads.spelled}, listed=False)
    if not hint and node.scope is None and compared is not None:
        hint = f"if a text is meant, write {spelled(node.name)}"
    return Finding(LintCode.UNKNOWN_ATTRIBUTE, node, message, hint)


def _strings(node: Attr, pool: LintPool) -> frozenset[str]:
    return frozenset(
        text for ads in pool.searched(node) if ads is not None for text in ads.strings(fold(node.name))
    )


def _compared(reading: TypedExpression) -> Iterator[tuple[Expr, Expr]]:
    """Give the operands of comparisons, each with the other one."""
    for node in reading.nodes:
        if isinstance(node, Binary) and node.op in {*COMPARE, *IDENTITY}:
            left, right = bare(node.left), bare(node.right)
            yield left, right
            yield right, left


def _guarded(reading: TypedExpression) -> frozenset[tuple[Side | None, str]]:
    """Return the names of which the expression asks itself, somewhere, whether they are there."""
    asked: list[Expr] = []
    for node in reading.nodes:
        if isinstance(node, Elvis):
            asked.append(node.value)
        elif (isinstance(node, Binary) and node.op in IDENTITY) or (
            isinstance(node, Call) and fold(node.name) in _ASKS
        ):
            asked += children(node)
    return frozenset(_key(part) for root in asked for part in parts(root) if isinstance(part, Attr))


def case(reading: TypedExpression, pool: LintPool) -> Iterator[Finding]:
    """Find strings that ``=?=`` and ``=!=`` compare with an attribute that no ad has in these letters, but in others."""
    plain = {id(node) for node in references(reading, pool)}
    for node in reading.nodes:
        if isinstance(node, Binary) and node.op in IDENTITY:
            for one, other in ((node.left, node.right), (node.right, node.left)):
                attribute, constant = bare(one), bare(other)
                if isinstance(attribute, Attr) and id(attribute) in plain and isinstance(constant, Literal):
                    yield from _other_case(node, attribute, constant, pool, reading)


def _other_case(
    node: Binary, attribute: Attr, constant: Literal, pool: LintPool, reading: TypedExpression
) -> Iterator[Finding]:
    text = constant.value
    found = _strings(attribute, pool)
    if not isinstance(text, str) or text in found:
        return
    alike = sorted(each for each in found if fold(each) == fold(text))
    if alike:
        seen = spelled(alike[0])
        message = (
            f"{node.op} counts the case of letters: {reading.shown(attribute)} is {seen} in ads of this pool"
        )
        yield Finding(
            LintCode.CASE_DIFFERS,
            node,
            f"{message}, and {reading.shown(constant)} in none",
            f"write {seen}, or use ==",
        )
