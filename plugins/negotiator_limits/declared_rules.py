"""The limits of users and groups as rules, for reports of what each rule does."""

from __future__ import annotations

from collections.abc import Iterator

from negotiator.plugin import DeclaredRule, QueueConfig, format_amounts
from negotiator_limits.limit_index import LimitIndex


def declared_rules(root: QueueConfig) -> Iterator[DeclaredRule]:
    """Yield a rule for each name of each limit."""
    for limit in LimitIndex(root).all():
        amounts = [format_amounts(limit.resources)] if limit.resources else []
        applications = [f"applications {limit.applications}"] if limit.applications else []
        text = ", ".join([*amounts, *applications])
        yield DeclaredRule(rule=str(limit), text=text, source=limit.source, mode=limit.mode)
