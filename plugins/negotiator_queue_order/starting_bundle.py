"""The bundle to start from with queues, for ``negotiator init --from yunikorn``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from negotiator.plugin import (
    SAMPLE_SLOT_CPUS,
    InvalidCallError,
    PartitionConfig,
    QueueConfig,
    SampleJob,
    ScalarText,
    StartingBundle,
    StartingFiles,
    StartingRequest,
    files_by_name,
    render_templates,
)

_USER: Final = "alice"
_QUEUES: Final = "queues.yaml"
_ATTRIBUTE: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def starting_bundle() -> StartingBundle:
    """Return the bundle."""
    return StartingBundle(
        name="yunikorn",
        description="YuniKorn's queues with access control, placement rules and limits",
        own_files="Your own queues.yaml",
        recognizes=_has_partitions,
        make=_make,
    )


def _has_partitions(text: str) -> bool:
    return "partitions:" in text


def _make(request: StartingRequest) -> StartingFiles:
    templates = files("negotiator_queue_order") / "templates"
    for file in request.files:
        if not _has_partitions(file.text):
            raise InvalidCallError(f"{file.path}: it has no partitions; name a queues.yaml of YuniKorn")
    own = files_by_name(request.files, lambda _file: _QUEUES)
    values = {"own": bool(own), "settings": _QUEUES, "folder": request.folder}
    made = render_templates(templates / "bundle", **values)
    if not own:
        return StartingFiles(made | render_templates(templates / "examples", **values))
    return StartingFiles(made | own, sample_jobs=_sample_jobs)


def _sample_jobs(partition: PartitionConfig) -> Iterator[SampleJob]:
    """Yield a job with all tags that placement rules read, and jobs for each leaf queue."""
    if tags := dict.fromkeys(_tags(partition), "development"):
        yield SampleJob({"Owner": _USER, **tags})
    yield from _jobs_of_queues(partition.root)


def _tags(partition: PartitionConfig) -> Iterator[str]:
    """Yield the names of the tags that placement rules and their parents read."""
    for rule in partition.rules:
        entry = rule
        while True:
            if entry.name.text.lower() == "tag" and entry.value and _ATTRIBUTE.fullmatch(entry.value.text):
                yield entry.value.text
            parent = entry.parent
            if parent is None or isinstance(parent, ScalarText):
                break
            entry = parent


def _jobs_of_queues(
    queue: QueueConfig, users: tuple[str, ...] = (), groups: tuple[str, ...] = ()
) -> Iterator[SampleJob]:
    """Yield a job for each leaf below, of the first user or group that its list or one above it has, and one above its maximum.

    :param users: those of the lists above.
    :param groups: those of the lists above.
    """
    users = tuple(sorted(queue.submit.users | queue.admin.users)) or users
    groups = tuple(sorted(queue.submit.groups | queue.admin.groups)) or groups
    if queue.leaf:
        member = f"{_USER}_{groups[0]}" if groups else _USER
        owner, own_groups = (users[0], ()) if users else (member, groups[:1])
        job = {"Owner": owner, "Queue": queue.path}
        yield SampleJob(job, own_groups)
        cores = queue.max.get("vcore", SAMPLE_SLOT_CPUS * 1000) // 1000
        if cores + 1 < SAMPLE_SLOT_CPUS:
            yield SampleJob({**job, "RequestCpus": cores + 1}, own_groups)
    for child in queue.children:
        yield from _jobs_of_queues(child, users, groups)
