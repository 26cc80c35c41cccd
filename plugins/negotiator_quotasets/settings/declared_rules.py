"""The rules of a bundle: those that limit something, and the names in them that no object has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import attrs

from negotiator.plugin import DeclaredRule, PartitionConfig, Problem, Severity, Source, suggest
from negotiator_quotasets import language
from negotiator_quotasets.complexes import matcher, queue_matches
from negotiator_quotasets.settings.quota_settings import GridEngine, QuotaSettings


def declared_rules(settings: QuotaSettings) -> Iterator[DeclaredRule]:
    """Yield the rules that have limits; one without limits only ends the search in its set."""
    for each in settings.sets:
        if not each.enabled:
            continue
        for number, rule in enumerate(each.rules):
            if rule.limits:
                text, mode = language.format_rule(rule), settings.mode(each.name)
                yield DeclaredRule(rule=each.label(number), text=text, source=rule.source, mode=mode)


@attrs.frozen
class _Kind:
    """The objects of a kind that a filter may name, declared ``where``; of the filter's names those with the ``prefix``."""

    what: str
    names: Collection[str]
    where: str
    prefix: str = ""
    matches: Callable[[str, str], object] = lambda pattern, name: matcher(pattern)(name)

    def has(self, name: str) -> bool:
        """True if a name or a wildcard of a filter matches an object."""
        return name in self.names or any(self.matches(name, each) for each in self.names)


def unknown_names(settings: QuotaSettings, partition: PartitionConfig) -> Iterator[Problem]:
    """Yield a warning for each name in a rule that no object has: it matches nothing, so that the rule may never apply.

    Names of users and of single hosts come from the pool; so do queues that a placement rule creates, and projects and
    parallel environments where ``gridengine.yaml`` declares no objects at all.
    """
    kinds = _kinds(settings.gridengine, partition)
    known: dict[tuple[str, str], bool] = {(scope, "*"): True for scope in kinds}
    for set_, number, scope, name in _names(settings):
        kind = kinds.get(scope)
        if kind is None or not name.startswith(kind.prefix):
            continue
        if (scope, name) not in known:
            known[scope, name] = kind.has(name)
        if not known[scope, name]:
            yield _unknown(set_.label(number), set_.rules[number].source or Source(""), kind, name)


def _names(settings: QuotaSettings) -> Iterator[tuple[language.RuleSet, int, str, str]]:
    """Yield each name of each filter, with its set and the number of its rule."""
    for set_ in settings.sets:
        for number, rule in enumerate(set_.rules):
            for scope, wanted in rule.filters():
                for name in dict.fromkeys((*wanted.names, *wanted.excluded)):
                    yield set_, number, scope, name


def _kinds(engine: GridEngine, partition: PartitionConfig) -> dict[str, _Kind]:
    """Return the kind of each filter whose names can be looked up."""
    in_file = "under {} in gridengine.yaml"
    usersets = [f"{language.GROUP}{name}" for name in engine.usersets]
    kinds = {
        "users": _Kind("user set", usersets, in_file.format("usersets"), language.GROUP),
        "hosts": _Kind(
            "host group",
            list(engine.hostgroups),
            in_file.format("hostgroups"),
            language.GROUP,
            lambda pattern, name: matcher(pattern.lower())(name.lower()),
        ),
    }
    if engine.declares_objects:
        kinds["projects"] = _Kind("project", engine.projects, in_file.format("projects"))
        kinds["pes"] = _Kind("parallel environment", list(engine.pes), in_file.format("pes"))
    if not partition.creates_queues:
        paths = [each.path for each in partition.root.walk()]
        kinds["queues"] = _Kind("queue", [*paths, *engine.queues], "in queues.yaml", matches=queue_matches)
    return kinds


def _unknown(label: str, source: Source, kind: _Kind, name: str) -> Problem:
    message = f'resource quota rule "{label}": there is no {kind.what} "{language.quotable(name)}"'
    similar = suggest(name[:100], kind.names, listed=False)
    hint = f"{similar} it matches nothing: correct it, or declare it {kind.where}".lstrip()
    return Problem(Severity.WARNING, source, message, hint)
