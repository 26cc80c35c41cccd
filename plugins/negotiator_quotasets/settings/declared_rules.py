"""The rules of the sets that are enabled, for reports of what each rule does."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import DeclaredRule
from negotiator_quotasets import language
from negotiator_quotasets.settings.quota_settings import QuotaSettings


def declared_rules(settings: QuotaSettings) -> Iterator[DeclaredRule]:
    """Yield the rules that have limits; one without limits only ends the search in its set."""
    for each in settings.sets:
        if not each.enabled:
            continue
        for number, rule in enumerate(each.rules):
            if rule.limits:
                text, mode = language.format_rule(rule), settings.mode(each.name)
                yield DeclaredRule(rule=each.label(number), text=text, source=rule.source, mode=mode)
