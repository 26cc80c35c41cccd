"""Jobs that the rules of an administrator's own quota sets apply to, for a first test of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from negotiator.plugin import SAMPLE_SLOT_CPUS, SampleJob
from negotiator_quotasets.starting_bundle.objects import GridEngineObjects
from negotiator_quotasets.starting_bundle.quota_names import QuotaRuleNames

_USER: Final = "alice"
_UNUSABLE: Final = re.compile(r"[^\w.-]", re.ASCII)  # a wildcard, an exclusion, a group of a group
#: Which attribute of a job a filter of a quota rule is about.
_OF_FILTERS: Final = (
    ("projects", "Project", "{}"),
    ("pes", "ParallelEnvironment", "{}"),
    ("queues", "Queue", "root.{}"),
)


def jobs_of_rules(rules: Iterable[QuotaRuleNames], objects: GridEngineObjects) -> Iterator[SampleJob]:
    """Yield a job for each rule, which requests more than its limit if that is a small number."""
    for rule in rules:
        user = _first(rule, "users", objects.usersets) or _USER
        attributes: dict[str, Any] = {"Owner": user}
        for kind, attribute, form in _OF_FILTERS:
            if name := _first(rule, kind, {}):
                attributes[attribute] = form.format(name)
        attributes |= _requests(rule, objects)
        yield SampleJob(attributes, machine=_first(rule, "hosts", objects.hostgroups))


def _requests(rule: QuotaRuleNames, objects: GridEngineObjects) -> Iterator[tuple[str, int]]:
    """Yield the attributes by which a job requests what a rule limits."""
    for complex_, limit in rule.limits.items():
        if complex_ == "slots" or objects.is_consumed_number(complex_):
            attribute = "RequestCpus" if complex_ == "slots" else f"Request{complex_.capitalize()}"
            exceeds = limit.isascii() and limit.isdigit() and int(limit) + 1 < SAMPLE_SLOT_CPUS
            yield attribute, int(limit) + 1 if exceeds else 1


def _first(rule: QuotaRuleNames, kind: str, groups: Mapping[str, list[str]]) -> str:
    """Return the first name of a filter that a job can have; empty if there is none."""
    for name in rule.filters.get(kind, ()):
        members = groups.get(name.removeprefix("@"), []) if name.startswith("@") else [name]
        found = next((each for each in members if not _UNUSABLE.search(each)), "")
        if found:
            return found
    return ""
