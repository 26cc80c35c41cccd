"""Use case: what the rules in mode warn or dryrun would have denied since they were added, from the audit log."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs

from negotiator.app.audit import searching
from negotiator.app.recordings import load_files
from negotiator.audit.bundles import NoBundleError, bundle_file, read_bundle
from negotiator.audit.errors import naming
from negotiator.audit.rollout import DeniedMatches, RuleRollout, read_rollout
from negotiator.bundle.rules import BundleRule, BundleRules, bundle_rules
from negotiator.errors import BundleError, NotFoundError
from negotiator.files import check_trusted
from negotiator.hooks.command_targets import CommandTargets
from negotiator.records.text import suggest

_PLUGINS: Final = ".py"


class RolloutBy(enum.StrEnum):
    """What the matches of a rule are added up by."""

    USER = "user"
    DAY = "day"


@attrs.frozen(kw_only=True)
class RolloutPart:
    """Matches of one user or one day (UTC), or all: those that a rule would have denied, ``of_all`` so many.

    ``alone`` of them no other rule in mode warn or dryrun would have denied. ``jobs`` and ``users`` count those that had one; the times
    are those of the first and the last one (RFC 3339, empty if there is none).
    """

    name: str
    matches: int
    alone: int
    of_all: int
    jobs: int
    users: int
    first: str
    last: str


@attrs.frozen(kw_only=True)
class RolloutRule:
    """A rule that does not enforce, and what it would have done since it has its present text and mode.

    ``since`` is the first cycle that had it, of the bundle with the digest ``bundle``; with ``is_older`` the rule may be older: no earlier record was
    read. ``ads`` are those that it would have discarded in the cycle with most of them, ``denied`` the jobs that other rules denied all slots, by
    that rule, in the cycle with most of them.
    """

    plugin: str
    rule: str
    text: str
    source: str
    mode: str
    since: str
    bundle: str
    is_older: bool
    total: RolloutPart
    parts: tuple[RolloutPart, ...]
    ads: int
    denied: Mapping[str, int]


@attrs.frozen(kw_only=True)
class RolloutReport:
    """The rules, those first that would have denied most matches; ``searched`` is False if the log was too long to find each beginning."""

    rules: tuple[RolloutRule, ...]
    searched: bool


def rollout_report(
    targets: CommandTargets, name: str = "", by: RolloutBy | None = None, since: float | None = None
) -> RolloutReport:
    """Return what the rules in mode warn or dryrun would have denied, by the text of the bundles in the audit log.

    :param name: the name of a rule, in any case, with or without its plugin; empty for all.
    :param by: what to add up the matches by; None for the total only.
    :param since: records of this time (seconds since the epoch) and later.
    :raises AuditError: the log is missing or cannot be read.
    :raises NotFoundError: no such rule is in mode warn or dryrun.
    :raises UntrustedError: another user could have written a bundle with plugins.
    """

    @lru_cache
    def rules_of(digest: str) -> BundleRules | None:
        return _rules_of(targets, digest)

    with searching(targets.audit_log):
        found = read_rollout(targets.audit_log, rules_of, since)
    chosen = [each for each in found.rules if not name or name.lower() in _names(each.rule)]
    if name and not chosen:
        known = [each.rule.rule for each in found.rules]
        hint = suggest(name, known) or "no rule is"
        raise NotFoundError(f"no rule {name!r} is in mode warn or dryrun in {targets.audit_log}: {hint}")
    rules = sorted((_rule(each, by) for each in chosen), key=lambda each: -each.total.matches)
    return RolloutReport(rules=tuple(rules), searched=found.searched or since is not None)


def _names(rule: BundleRule) -> tuple[str, str]:
    return rule.rule.lower(), f"{rule.plugin}: {rule.rule}".lower()


def _rules_of(targets: CommandTargets, digest: str) -> BundleRules | None:
    """Return the rules of a stored bundle; None if there is no copy, or the program cannot load it any more."""
    log = targets.audit_log
    try:
        files = read_bundle(log, digest)
        if any(name.endswith(_PLUGINS) for name in files):  # its plugins are run
            _check_trusted(bundle_file(log, digest))
        return bundle_rules(load_files(files, targets))
    except (NoBundleError, BundleError):
        return None


def _check_trusted(file: Path) -> None:
    with naming(file, "read the policy bundle"):
        for path in (file, file.parent):
            check_trusted(path, path.stat())


def _rule(found: RuleRollout, by: RolloutBy | None) -> RolloutRule:
    rule = found.rule
    return RolloutRule(
        plugin=rule.plugin,
        rule=rule.rule,
        text=rule.text,
        source=str(rule.source),
        mode=str(rule.mode),
        since=found.since,
        bundle=found.bundle,
        is_older=found.is_older,
        total=_total(found),
        parts=() if by is None else _parts(found, by),
        ads=found.ads,
        denied=dict(found.denied.most_common()),
    )


def _total(found: RuleRollout) -> RolloutPart:
    return _part("", found.matches.items(), found.all_matches.total())


def _parts(found: RuleRollout, by: RolloutBy) -> tuple[RolloutPart, ...]:
    """Return the days in their order, or the users, those with most matches first."""
    place = 0 if by is RolloutBy.USER else 1
    all_matches: Counter[str] = Counter()
    for key, count in found.all_matches.items():
        all_matches[key[place]] += count
    own: dict[str, list[tuple[tuple[str, str], DeniedMatches]]] = {}
    for key, denied in found.matches.items():
        own.setdefault(key[place], []).append((key, denied))
    parts = [_part(name, items, all_matches[name]) for name, items in own.items()]
    parts.sort(key=lambda each: each.name if by is RolloutBy.DAY else (-each.matches, each.name))
    return tuple(parts)


def _part(name: str, items: Iterable[tuple[tuple[str, str], DeniedMatches]], of_all: int) -> RolloutPart:
    found = list(items)
    jobs: set[tuple[str, str]] = set().union(*(each.jobs for _, each in found))
    return RolloutPart(
        name=name,
        matches=sum(each.matches for _, each in found),
        alone=sum(each.alone for _, each in found),
        of_all=of_all,
        jobs=len(jobs),
        users=len({user for (user, _), _ in found}),
        first=min((each.first for _, each in found), default=""),
        last=max((each.last for _, each in found), default=""),
    )


def rollout_values(report: RolloutReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    return attrs.asdict(report)
