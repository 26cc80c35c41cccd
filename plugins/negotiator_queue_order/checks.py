"""Check the values of the properties that decide the order: YuniKorn replaces invalid ones by the default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from negotiator.plugin import (
    QUEUE_SETTINGS,
    SORT_POLICY,
    PartitionConfig,
    Problem,
    Severity,
    Source,
    printable,
    read_queue_property,
)


def check_queues(partition: PartitionConfig) -> Iterator[Problem]:
    """Yield the problems of the properties of all queues and templates."""
    for queue in partition.root.walk():
        yield from _properties(queue.path, queue.properties, queue.property_sources)
        if queue.template is not None:
            template = queue.template
            yield from _properties(
                f"childtemplate of {queue.path}", template.properties, template.property_sources
            )


def _properties(where: str, texts: Mapping[str, str], sources: Mapping[str, Source]) -> Iterator[Problem]:
    for key, text in texts.items():
        if key not in QUEUE_SETTINGS or not text:
            continue
        source = sources.get(key, Source(""))
        if (key, text) == (SORT_POLICY, "stateaware"):
            message = f"{where}: {key} stateaware is the same as fifo"
            yield Problem(Severity.WARNING, source, message, "write fifo")
        try:
            read_queue_property(key, text)
        except ValueError as error:
            message = f"{where}: invalid {key} {printable(text[:80])}"
            yield Problem(Severity.ERROR, source, message, str(error))
