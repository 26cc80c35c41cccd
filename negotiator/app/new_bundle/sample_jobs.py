"""Jobs that touch the rules of somebody's own policies, for a first test of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from negotiator.app.new_bundle.gridengine_objects import GridEngineObjects
from negotiator.app.new_bundle.own_files import OwnFiles
from negotiator.app.new_bundle.quota_names import QuotaRuleNames
from negotiator.app.new_bundle.system import PoolSystem
from negotiator.bundle import Bundle
from negotiator.queues import PartitionConfig, QueueConfig
from negotiator.queues.config import RuleEntry
from negotiator.records import ScalarText

_USER: Final = "alice"
_MOST: Final = 12  # jobs; the test is to be read
_MOST_CORES: Final = 63  # a slot of the test has 64
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_UNUSABLE: Final = re.compile(r"[^\w.-]", re.ASCII)  # a wildcard, an exclusion, a group of a group
#: Which attribute of a job a filter of a quota rule is about.
_OF_FILTERS: Final = (
    ("projects", "Project", "{}"),
    ("pes", "ParallelEnvironment", "{}"),
    ("queues", "Queue", "root.{}"),
    ("hosts", "Requirements", 'TARGET.Machine == "{}"'),
)
_GROUP_NAMES: Final = re.compile(r"^\s*GROUP_NAMES\s*=\s*(.*)$", re.MULTILINE | re.IGNORECASE)


@attrs.frozen
class SampleJob:
    """The attributes of one idle job, in a cluster of its own, and the groups of its owner."""

    attributes: dict[str, Any]
    groups: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """The user."""
        return str(self.attributes["Owner"])


def sample_jobs(system: PoolSystem, own: OwnFiles, bundle: Bundle) -> tuple[SampleJob, ...]:
    """Return at most 12 jobs: for groups, queues or rules of quota sets, and one of a user whom no rule names."""
    jobs: Iterable[SampleJob]
    match system:
        case PoolSystem.HTCONDOR:
            jobs = _of_groups(own.text)
        case PoolSystem.YUNIKORN:
            jobs = (*_of_tags(bundle.partition), *_of_queues(bundle.partition.root))
        case PoolSystem.GRIDENGINE:
            jobs = (_of_rule(each, own.objects) for each in own.quota_names.rules)
    return tuple(_numbered([SampleJob({"Owner": _USER}), *jobs]))


def _numbered(jobs: Iterable[SampleJob]) -> Iterator[SampleJob]:
    for cluster, job in zip(range(1, _MOST + 1), jobs, strict=False):
        yield attrs.evolve(job, attributes={**job.attributes, "ClusterId": cluster})


def _of_groups(text: str) -> Iterator[SampleJob]:
    found = _GROUP_NAMES.search(text.replace("\\\n", " "))
    for name in re.split(r"[\s,]+", found[1].strip()) if found else ():
        if re.fullmatch(r"[\w.]+", name, re.ASCII):
            yield SampleJob({"Owner": _USER, "AccountingGroup": f"{name}.{_USER}"})


def _of_tags(partition: PartitionConfig) -> Iterator[SampleJob]:
    """Yield a job with all tags that placement rules read."""

    def tags(rule: RuleEntry | ScalarText | None) -> Iterator[str]:
        if isinstance(rule, RuleEntry):
            if rule.name.text.lower() == "tag" and rule.value and _ATTRIBUTE.fullmatch(rule.value.text):
                yield rule.value.text
            yield from tags(rule.parent)

    found = {name: "development" for rule in partition.rules for name in tags(rule)}
    if found:
        yield SampleJob({"Owner": _USER, **found})


def _of_queues(root: QueueConfig) -> Iterator[SampleJob]:
    """Yield a job for each leaf queue, of the first user or group that its list or one above it has."""

    def walk(queue: QueueConfig, users: tuple[str, ...], groups: tuple[str, ...]) -> Iterator[SampleJob]:
        users = tuple(sorted(queue.submit.users | queue.admin.users)) or users
        groups = tuple(sorted(queue.submit.groups | queue.admin.groups)) or groups
        if queue.leaf:
            member = f"{_USER}_{groups[0]}" if groups else _USER
            owner, own_groups = (users[0], ()) if users else (member, groups[:1])
            job = {"Owner": owner, "Queue": queue.path}
            yield SampleJob(job, own_groups)
            cores = queue.max.get("vcore", _MOST_CORES * 1000) // 1000
            if cores < _MOST_CORES:
                yield SampleJob({**job, "RequestCpus": cores + 1}, own_groups)
        for child in queue.children:
            yield from walk(child, users, groups)

    yield from walk(root, (), ())


def _of_rule(rule: QuotaRuleNames, objects: GridEngineObjects) -> SampleJob:
    """Return a job that a rule of a quota set applies to, and that requests more than its limit if that is a small number."""

    def first(kind: str, groups: Mapping[str, list[str]]) -> str | None:
        for name in rule.filters.get(kind, ()):
            members = groups.get(name.removeprefix("@"), []) if name.startswith("@") else [name]
            found = next((each for each in members if not _UNUSABLE.search(each)), None)
            if found:
                return found
        return None

    attributes: dict[str, Any] = {"Owner": first("users", objects.usersets) or _USER}
    for kind, attribute, form in _OF_FILTERS:
        if name := first(kind, objects.hostgroups if kind == "hosts" else {}):
            attributes[attribute] = form.format(name)
    for complex_, limit in rule.limits.items():
        if complex_ == "slots" or objects.is_consumed_number(complex_):
            attribute = "RequestCpus" if complex_ == "slots" else f"Request{complex_.capitalize()}"
            attributes[attribute] = int(limit) + 1 if re.fullmatch("[0-9]|[1-5][0-9]|6[0-2]", limit) else 1
    return SampleJob(attributes)
