"""Read ``queues.yaml``: the queues of the pool and its placement rules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import attrs

from negotiator.bundle.folder import QUEUES
from negotiator.bundle.model import PlacementSettings
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.paths import no_files
from negotiator.bundle.plugin_failures import failure_problems
from negotiator.bundle.text import SourceText
from negotiator.bundle.yaml_reader import YamlDialect, read_yaml
from negotiator.classad import Expr, bind, parse
from negotiator.hooks import specs
from negotiator.hooks.manager import HookManager
from negotiator.placement import Chain, make_chain
from negotiator.queues import PartitionConfig, QueueConfig
from negotiator.queues.checks import check_configuration
from negotiator.queues.config import ConfigurationEntry
from negotiator.records import Problem, Severity

#: HTCondor counts memory in MiB and cores; queues.yaml counts bytes and thousandths of a core.
_RESOURCES = {
    "memory": bind(parse("MY.RequestMemory * 1048576.0")),
    "vcore": bind(parse("MY.RequestCpus * 1000.0")),
}
#: The same of resources that count only where the queues name them. Source: "User and Group Quota Enforcement", the
#: example of a limit object: ``cpu`` is a number of processors.
_IF_NAMED = {"cpu": bind(parse("MY.RequestCpus"))}
#: The partition of a configuration that can't be read.
_NOTHING = PartitionConfig("default", QueueConfig("root", leaf=False))


@attrs.frozen
class QueueConfiguration:
    """The checked queues and placement rules of a bundle, and their problems."""

    partition: PartitionConfig
    chain: Chain | None
    problems: tuple[Problem, ...]


def read_queues(
    file: SourceText | None, settings: PlacementSettings, hooks: HookManager
) -> QueueConfiguration:
    """Read and check a queue configuration; a missing or empty one is replaced by the default configuration.

    The default configuration without a plugin for placement rules means no queues at all.
    """
    entry, problems = _structured(file) if file else (ConfigurationEntry(), ())
    empty = entry is not None and not entry.partitions and not any(map(_is_error, problems))
    if empty:
        entry, _ = _structured(_default())
    default = empty or (file is not None and file.text == _default().text)
    partition, found = (None, ()) if entry is None else check_configuration(entry, settings.partition.lower())
    if not default:
        problems += found
    answers = hooks.ask(specs.negotiator_placement_rules)
    problems += tuple(failure_problems(hooks, answers.failures))
    if partition is None or (default and not answers.records):
        return QueueConfiguration(partition or _NOTHING, None, problems)
    chain, wrong = make_chain(partition, answers.records, settings.fallback)
    return QueueConfiguration(partition, chain, (*problems, *wrong))


@cache
def _default() -> SourceText:
    text = (Path(__file__).parent / "default" / QUEUES).read_text("utf-8")
    return SourceText(f"default {QUEUES}", text)


def _structured(file: SourceText) -> tuple[ConfigurationEntry | None, tuple[Problem, ...]]:
    top, unread = read_yaml(file, YamlDialect.YUNIKORN)
    unread = tuple(
        attrs.evolve(each, code="yaml_syntax" if top is None else "yaml_schema") for each in unread
    )
    if top is None:
        return None, unread
    if not top.entries:
        message = "empty configuration: all jobs go to root.default"
        return ConfigurationEntry(), (*unread, file.problem(Severity.NOTICE, 0, message))
    builder = ObjectBuilder(no_files, tolerant=True, dialect=YamlDialect.YUNIKORN)
    entry = builder.value(top, ConfigurationEntry)
    problems = (*unread, *_coded(builder.problems, "yaml_schema"))
    return (None if entry is INVALID else entry), problems


def _coded(problems: Iterable[Problem], code: str) -> tuple[Problem, ...]:
    return tuple(attrs.evolve(problem, code=code) for problem in problems)


def resource_expressions(
    settings: PlacementSettings, partition: PartitionConfig
) -> tuple[dict[str, Expr], frozenset[str]]:
    """Return the expression that reads each resource of the queues from a job, and the resources a job must specify."""
    known = {**_RESOURCES, **{name: expression.tree for name, expression in settings.resources.items()}}
    named = {
        name
        for queue in partition.root.walk()
        for amounts in (queue.max, queue.guaranteed, *(limit.resources for limit in queue.limits))
        for name in amounts
    }
    known = {name: tree for name, tree in _IF_NAMED.items() if name in named} | known
    further = {name: _requested(name) for name in sorted(named - known.keys())}
    return known | further, frozenset(known)


def _requested(name: str) -> Expr:
    quoted = f"Request{name}".replace("\\", "\\\\").replace("'", "\\'")
    return bind(parse(f"MY.'{quoted}'"))


def _is_error(problem: Problem) -> bool:
    return problem.severity is Severity.ERROR
