"""Queue configurations in a Kubernetes ConfigMap, as YuniKorn reads them: ``data: queues.yaml``.

The values of YuniKorn's Helm chart have the same data below ``yunikornDefaults:``, of which Helm makes a ConfigMap.

Source: YuniKorn, "Service configuration", ConfigMap yunikorn-configs; its Helm chart, ``values.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs

from negotiator.bundle.folder import QUEUES
from negotiator.bundle.nodes import MapNode, ScalarNode
from negotiator.bundle.text import LocatedText, SourceText
from negotiator.bundle.yaml_reader import YamlDialect, read_yaml
from negotiator.records import Problem, Severity

_QUEUES_KEY = re.compile(rf"""(?:^[ \t]+|[{{,][ \t]*)["']?{re.escape(QUEUES)}["']?[ \t]*:""", re.MULTILINE)
#: The key with the data of a ConfigMap, and that of the values of the Helm chart.
_DATA, _HELM = "data", "yunikornDefaults"
_KIND = re.compile(rf"""^(?:kind:[ \t]*["']?ConfigMap\b|{_HELM}:)""", re.MULTILINE)


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
