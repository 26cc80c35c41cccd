"""The rules of a bundle that may deny or grant something: gates, match expressions, limits, quotas and access control lists, with their places."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property

import attrs

from negotiator.bundle.expressions import match_expressions
from negotiator.bundle.model import Bundle
from negotiator.classad import Expr, ParseError, parse_old, unparse, unparse_old
from negotiator.classad.syntax import Paren
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.answers import Attributed, HookFailure
from negotiator.hooks.checks.declarations import checked_declared_rule
from negotiator.hooks.declarations import DeclaredRule, Section
from negotiator.hooks.failures import describe_error, failed_line
from negotiator.hooks.interrupts import raise_if_interrupted
from negotiator.records import Mode, Source

_DIGITS = 16


@attrs.frozen(kw_only=True)
class BundleRule:
    """A rule: the plugin that it belongs to, its name, its text, its place in the bundle, and its mode."""

    plugin: str
    rule: str
    text: str
    source: Source
    mode: Mode

    @cached_property
    def digest(self) -> str:
        """The digest of all but the place: a rule that is moved to another line stays the same."""
        parts = [self.plugin, self.rule, self.text, str(self.mode)]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()[:_DIGITS]


@attrs.frozen(eq=False)
class BundleRules:
    """The rules of a bundle in the order of the plugins, match expressions first; and the plugins that failed to name theirs.

    ``granting`` are rules that permit something.
    """

    rules: tuple[BundleRule, ...]
    failures: tuple[HookFailure, ...] = ()
    granting: tuple[BundleRule, ...] = ()
    _by_place: dict[tuple[str, str], list[BundleRule]] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        for each in self.rules:
            self._by_place.setdefault((each.plugin, str(each.source)), []).append(each)

    @_by_place.default
    def _nothing(self) -> dict[tuple[str, str], list[BundleRule]]:
        return {}

    def find(self, plugin: str, rule: str, source: str) -> BundleRule | None:
        """Return the rule of a reason: the one at its place; of several there, the one with its name."""
        found = self._by_place.get((plugin, source), [])
        named = [each for each in found if each.rule == rule]
        return named[0] if named else found[0] if len(found) == 1 else None


def bundle_rules(bundle: Bundle) -> BundleRules:
    """Return the rules of a bundle; a rule whose place is unknown is left out."""
    failures: list[HookFailure] = []
    declared = [*_of_sections(bundle, failures)]
    found = [*_of_matches(bundle), *(rule for rule, grants in declared if not grants)]
    granting = tuple(rule for rule, grants in declared if grants)
    return BundleRules(tuple({each.digest: each for each in found}.values()), tuple(failures), granting)


def _of_matches(bundle: Bundle) -> Iterator[BundleRule]:
    for each in match_expressions(bundle):
        if each.source is not None:
            text = each.text or ""
            yield BundleRule(
                plugin=each.plugin, rule=each.rule, text=text, source=each.source, mode=each.mode
            )


def _of_sections(bundle: Bundle, failures: list[HookFailure]) -> Iterator[tuple[BundleRule, bool]]:
    """Yield the rules that plugins name, and whether they grant something."""
    for plugin, each in declared_rules(bundle, failures):
        if each.source is not None:
            rule = BundleRule(
                plugin=plugin, rule=each.rule, text=each.text, source=each.source, mode=each.mode
            )
            yield rule, each.grants


def declared_rules(bundle: Bundle, failures: list[HookFailure]) -> Iterator[tuple[str, DeclaredRule]]:
    """Yield the rules that plugins name, with the plugin's name; a plugin that fails is added to ``failures``."""
    for section in bundle.sections:
        for each in _declared(section, bundle, failures):
            yield section.plugin, each


def _declared(
    section: Attributed[Section], bundle: Bundle, failures: list[HookFailure]
) -> Iterator[DeclaredRule]:
    """Yield the rules that a plugin names, until it fails."""
    rules = section.record.rules
    if rules is None:
        return
    try:
        for each in rules(bundle.settings.get(section.plugin), bundle.partition.root):
            yield checked_declared_rule(each)
    except BaseException as error:  # noqa: BLE001 - the function of a plugin may raise anything
        raise_if_interrupted(error)
        failures.append(
            HookFailure(
                section.plugin,
                section.version,
                specs.negotiator_section.name,
                f"its rules: {describe_error(error)}",
                failed_line(error, rules),
            )
        )


def job_conditions(bundle: Bundle) -> tuple[str, ...]:
    """Return the conditions of gates that test jobs alone, true where they discard a job: MY is the job, in one line each."""
    gates = [each.gate for _, each in declared_rules(bundle, []) if each.gate is not None]
    found = [
        f"({text}) =!= true" if gate.keeps else f"({text})"
        for gate in gates
        if AdKind.JOB in gate.kinds and (text := text_for_daemons(gate.expression))
    ]
    return tuple(found)


def text_for_daemons(expression: Expr) -> str:
    """Return an expression in one line as HTCondor's daemons read it within another one; empty if they would read it otherwise.

    Their syntax cannot write a string with a backslash at its end, among others.
    """
    text = unparse_old(expression)
    try:
        is_same = "\n" not in text and unparse(parse_old(f"({text})")) == unparse(Paren(expression))
    except ParseError:
        is_same = False
    return text if is_same else ""
