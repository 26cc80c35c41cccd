"""The expressions of a bundle, each with the ads that it is evaluated for; for tools such as lint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import attrs

from negotiator.bundle.model import Bundle
from negotiator.bundle.schema import keys_of
from negotiator.classad import Expr, Table
from negotiator.classad.syntax import fold
from negotiator.hooks import specs
from negotiator.hooks.ad_kinds import AdKind
from negotiator.hooks.declarations import ConstraintSide, Expression
from negotiator.hooks.manager import HookFailure
from negotiator.hooks.records import Cycle
from negotiator.records import Mode, Source

_Known: TypeAlias = Mapping[Source | None, tuple[str, Expression]]
"""Expressions by their place, each with the plugin that owns it."""


@attrs.frozen(eq=False)
class BundleExpression:
    """An expression of the bundle, and the kinds of ads that are MY and TARGET in it.

    ``rule`` names it in messages; ``plugin`` and ``mode`` are those of a match expression. ``alone`` is true if it is evaluated without TARGET, as for a gate. ``my`` is empty if only the
    plugin knows its ads. ``forbids`` is true if a match needs it to be true. ``text`` is None for an expression that a
    plugin built without text. ``discarded`` counts, for a gate, the ads that it would discard. ``is_constraint`` is true for a
    match expression, in any mode. ``my_computed`` and ``target_computed`` are attributes, in lower case, that its ads have in
    a cycle only; ``is_condition`` is False for a rank or a weight.
    """

    rule: str
    tree: Expr
    source: Source | None
    text: str | None
    my: tuple[AdKind, ...] = ()
    target: tuple[AdKind, ...] = ()
    alone: bool = False
    forbids: bool = False
    discarded: Mapping[AdKind, int] = attrs.field(factory=dict)
    is_constraint: bool = False
    plugin: str = ""
    mode: Mode = Mode.ENFORCE
    my_computed: frozenset[str] = frozenset()
    target_computed: frozenset[str] = frozenset()
    is_condition: bool = True


def bundle_expressions(
    bundle: Bundle, ads: Mapping[AdKind, Table], now: float
) -> tuple[tuple[BundleExpression, ...], tuple[HookFailure, ...]]:
    """Return all expressions of a bundle, each once, gates first; and the plugins that failed.

    :param ads: the ads to evaluate the gates for, by kind; may be empty.
    :param now: the time in expressions, seconds since the epoch.
    """
    known = _known(bundle)
    gates, failures = _gates(bundle, ads, now, known)
    found = [*gates, *_constraints(bundle, known), *_of_settings(bundle), *_audit(bundle)]
    listed = {each.source for each in found}
    found += (
        BundleExpression(plugin, expression.tree, expression.source, expression.text)
        for source, (plugin, expression) in known.items()
        if source not in listed
    )
    return tuple(found), failures


def match_expressions(bundle: Bundle) -> tuple[BundleExpression, ...]:
    """Return the match expressions of a bundle, in the order of the plugins; no plugin is called."""
    return tuple(_constraints(bundle, _known(bundle)))


def _known(bundle: Bundle) -> _Known:
    return {found.source: (plugin, found) for plugin, found in _written(bundle) if found.source}


def _gates(
    bundle: Bundle, ads: Mapping[AdKind, Table], now: float, known: _Known
) -> tuple[tuple[BundleExpression, ...], tuple[HookFailure, ...]]:
    """Evaluate the gates of each kind; even for no ads their records name their place."""
    cycle = Cycle(number=0, now=now, digest=bundle.digest)
    found: dict[tuple[str, Source | None], BundleExpression] = {}
    failures: list[HookFailure] = []
    for kind in AdKind:
        answers = bundle.hooks.ask(
            specs.negotiator_gate_ads,
            kind=kind,
            ads=ads.get(kind, Table.from_ads(())),
            cycle=cycle,
            settings=bundle.settings,
        )
        failures += answers.failures
        for gate in (answer.record for answer in answers.records):
            key = (gate.rule, gate.source)
            if gate.source not in known:
                continue
            _, expression = known[gate.source]
            before = found.get(key)
            found[key] = BundleExpression(
                gate.rule,
                expression.tree,
                gate.source,
                expression.text,
                my=(*(before.my if before else ()), kind),
                alone=True,
                discarded={**(before.discarded if before else {}), kind: int(gate.discard.sum())},
            )
    return tuple(found.values()), tuple(failures)


def _constraints(bundle: Bundle, known: _Known) -> Iterator[BundleExpression]:
    for bound in bundle.constraints:
        constraint = bound.record
        written = known.get(constraint.source)
        my, target = AdKind.STARTD, AdKind.JOB
        if constraint.side is ConstraintSide.JOB:
            my, target = target, my
        text = written[1].text if written and written[1].tree is constraint.expression else None
        yield BundleExpression(
            constraint.rule,
            constraint.expression,
            constraint.source,
            text,
            my=(my,),
            target=(target,),
            forbids=constraint.mode is Mode.ENFORCE,
            is_constraint=True,
            plugin=bound.conjuncts[0].reason.provenance.plugin,
            mode=constraint.mode,
        )


def _of_settings(bundle: Bundle) -> Iterator[BundleExpression]:
    """Yield the expressions of which a plugin declares the ads."""
    for section in bundle.sections:
        settings, uses = bundle.settings.get(section.plugin), section.record.evaluated
        for key in keys_of(section.record.schema) if uses else ():
            found = getattr(settings, key.field.name, None)
            if key.name not in uses or not isinstance(found, Expression) or found.source is None:
                continue
            use = uses[key.name]
            yield BundleExpression(
                key.name,
                found.tree,
                found.source,
                found.text,
                my=(use.my,),
                target=() if use.target is None else (use.target,),
                alone=use.target is None,
                plugin=section.plugin,
                my_computed=frozenset(map(fold, use.my_computed)),
                target_computed=frozenset(map(fold, use.target_computed)),
                is_condition=use.is_condition,
            )


def _audit(bundle: Bundle) -> Iterator[BundleExpression]:
    job, slot = (AdKind.JOB,), (AdKind.STARTD,)
    matches, denials = bundle.audit.matches, bundle.audit.denials
    if isinstance(matches, Expression):
        yield BundleExpression(
            "audit.matches", matches.tree, matches.source, matches.text, my=job, target=slot
        )
    if isinstance(denials, Expression):
        yield BundleExpression(
            "audit.denials", denials.tree, denials.source, denials.text, my=job, alone=True
        )


def _written(bundle: Bundle) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions in the settings of all plugins, each with the plugin's name."""
    for plugin, settings in bundle.settings.items():
        waiting: list[Any] = [settings]
        seen: set[int] = set()
        while waiting:
            value = waiting.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Expression):
                yield plugin, value
            elif isinstance(value, Mapping):
                waiting += value.values()
            elif isinstance(value, list | tuple):
                waiting += value
            elif attrs.has(type(value)):
                waiting += (getattr(value, field.name) for field in attrs.fields(type(value)))
