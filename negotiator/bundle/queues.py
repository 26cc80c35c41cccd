"""Read ``queues.yaml``: the queues of the pool and its placement rules; also from a Kubernetes ConfigMap (``data: queues.yaml``).

The values of YuniKorn's Helm chart have the same data below ``yunikornDefaults:``, of which Helm makes a ConfigMap.

Source: YuniKorn, "Service configuration", ConfigMap yunikorn-configs; its Helm chart, ``values.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import attrs

from negotiator.bundle.folder import QUEUES, no_files
from negotiator.bundle.model import PlacementSettings
from negotiator.bundle.object_builder import INVALID, ObjectBuilder
from negotiator.bundle.plugin_failures import failure_problems
from negotiator.bundle.text import LocatedText, MapNode, ScalarNode, SourceText
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
_QUEUES_KEY = re.compile(rf"""(?:^[ \t]+|[{{,][ \t]*)["']?{re.escape(QUEUES)}["']?[ \t]*:""", re.MULTILINE)
#: The key with the data of a ConfigMap, and that of the values of the Helm chart.
_DATA, _HELM = "data", "yunikornDefaults"
_KIND = re.compile(rf"""^(?:kind:[ \t]*["']?ConfigMap\b|{_HELM}:)""", re.MULTILINE)


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


@attrs.frozen
class ConfigMapQueues:
    """The queue configuration of a ConfigMap; ``text`` is None if it has none. Places are those of the manifest."""

    text: SourceText | None
    problems: tuple[Problem, ...] = ()


def is_config_map(file: SourceText) -> bool:
    """True if a file is the manifest of a ConfigMap, or has the values that Helm makes one of."""
    return _KIND.search(file.text) is not None


def has_queues(file: SourceText) -> bool:
    """True if a file is the manifest of a ConfigMap with a queue configuration."""
    return is_config_map(file) and _QUEUES_KEY.search(file.text) is not None


def queues_of(file: SourceText) -> ConfigMapQueues:
    """Return the queue configuration of a manifest, and its problems; other keys of its data are named in a notice."""
    top, problems = read_yaml(file, YamlDialect.YUNIKORN)
    if top is None:
        return ConfigMapQueues(None, problems)
    data = next((top.entries[key].value for key in (_DATA, _HELM) if key in top.entries), None)
    found = data.entries.get(QUEUES) if isinstance(data, MapNode) else None
    if found is None or not isinstance(data, MapNode):
        hint = f"write the queues as a text below {_DATA}: {QUEUES}"
        return ConfigMapQueues(None, (*problems, file.error(top.at, f"this ConfigMap has no {QUEUES}", hint)))
    if not isinstance(found.value, ScalarNode):
        hint = f"write {QUEUES}: | and the configuration below it"
        return ConfigMapQueues(None, (*problems, file.error(found.at, f"{QUEUES}: expected a text", hint)))
    return ConfigMapQueues(_text_of(found.value.value), (*problems, *_unread(file, data)))


def _unread(file: SourceText, data: MapNode) -> Iterable[Problem]:
    others = sorted(data.entries.keys() - {QUEUES})
    if others:
        message = f"only {QUEUES} of this ConfigMap is read, not {', '.join(others)}"
        yield file.problem(Severity.NOTICE, data.at, message)


def _text_of(value: LocatedText) -> SourceText:
    """Return a value as a file of its own, with the places of the manifest.

    A block is left where it is, indented, and all around it is blanked. A value whose lines are not those of the manifest, such
    as a quoted one with ``\\n``, has its own lines.
    """
    file = value.file
    if value.offsets:
        start = file.text.rfind("\n", 0, value.offsets[0]) + 1
        end = value.offsets[-1] + 1
        block = file.text[start:end]
        lines = zip(block.splitlines(), value.text.splitlines(), strict=False)
        if block.count("\n") == value.text.count("\n") and all(
            raw.strip() == own.strip() for raw, own in lines
        ):
            return SourceText(file.name, "\n" * file.text.count("\n", 0, start) + block)
    return SourceText(f"{QUEUES} in {file.name}", value.text)
