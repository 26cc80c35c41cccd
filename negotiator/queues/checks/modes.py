"""Check the properties of this program: the modes of maxima and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from negotiator.queues.checks.findings import Findings
from negotiator.queues.model import QueueConfig
from negotiator.queues.modes import PREFIX, PROPERTIES
from negotiator.records import Mode, Source
from negotiator.records.text import suggest


def check_modes(root: QueueConfig, findings: Findings) -> None:
    """Refuse unknown modes, and unknown properties with the prefix of this program."""
    for where, key, text, source in _properties(root):
        if not key.startswith(PREFIX):
            continue
        if key not in PROPERTIES:
            message = f"{where}: unknown property {key[:80]}"
            findings.error("property_unknown", source, message, suggest(key, PROPERTIES))
        elif text not in set(Mode):
            message = f"{where}: {key} must be {', '.join(Mode)}, not {text[:80]!r}"
            findings.error("mode_unknown", source, message, suggest(text, Mode, listed=False))


def _properties(root: QueueConfig) -> Iterator[tuple[str, str, str, Source]]:
    """Yield the place, the name, the value and the source of each property of a queue or a template."""
    for queue in root.walk():
        yield from _sourced(queue.path, queue.properties, queue.property_sources, queue.source)
        if (template := queue.template) is not None:
            where = f"childtemplate of {queue.path}"
            yield from _sourced(where, template.properties, template.property_sources, queue.source)


def _sourced(
    where: str, texts: Mapping[str, str], sources: Mapping[str, Source], otherwise: Source
) -> Iterator[tuple[str, str, str, Source]]:
    for key, text in texts.items():
        yield where, key, text, sources.get(key, otherwise)
