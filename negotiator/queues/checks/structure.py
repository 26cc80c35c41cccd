"""Check the queue tree: names, duplicates, the root, access control lists, and the amounts of each queue."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from negotiator.queues.acl import HINT, NOBODY, Acl, AclError
from negotiator.queues.checks.findings import Findings
from negotiator.queues.checks.limits import check_limits
from negotiator.queues.config import ChildTemplateEntry, QueueEntry
from negotiator.queues.model import ChildTemplate, QueueConfig
from negotiator.queues.names import LONGEST_PATH, QUEUE_NAME, RECOVERY, ROOT, below, is_queue_name
from negotiator.queues.quantities import is_zero
from negotiator.records import ScalarText, Source


def build_tree(entries: Sequence[QueueEntry], source: Source, findings: Findings) -> QueueConfig:
    """Return the queue tree of a partition; a missing root queue is added.

    :param source: the place of the partition.
    """
    if len(entries) == 1 and entries[0].name.text.lower() == ROOT:
        top = entries[0]
        resources = top.resources
        if resources is not None and (resources.guaranteed is not None or resources.max is not None):
            message = "resources of the root queue can't be set: it has those of the pool"
            findings.error(
                "root_resources_set", resources.source or top.source, message, "set them on the queues below"
            )
        return _queue(top, ROOT, findings)
    children = _children(ROOT, entries, findings)
    for entry in entries:
        if entry.name.text.lower() == ROOT:
            message = "root beside other queues is the queue root.root, as in YuniKorn: its lists do not open the others"
            findings.warning(entry.name.source, message, "put the other queues below root: queues:")
    source = (entries[0].source if entries else None) or source
    return QueueConfig(path=ROOT, leaf=False, children=children, source=source)


def in_effect(queue: QueueConfig) -> QueueConfig:
    """Return the queue and all queues below it without maxima of only zeros.

    YuniKorn's checks compare such a maximum with others, but its queues ignore it.
    """
    children = tuple(in_effect(child) for child in queue.children)
    return attrs.evolve(queue, children=children, max={} if is_zero(queue.max) else queue.max)


def _queue(entry: QueueEntry, path: str, findings: Findings) -> QueueConfig:
    guaranteed = maximum = None
    if entry.resources is not None:
        guaranteed = findings.resources(entry.resources.guaranteed, entry.resources.source)
        maximum = findings.resources(entry.resources.max, entry.resources.source)
        if maximum is None and entry.limits:
            message = f"the limits of {path} can't be compared with its maximum, which is invalid"
            findings.error("limit_queue_max_unparsable", entry.limits[0].source, message)
        if maximum and not any(maximum.values()):
            findings.warning(
                entry.resources.source,
                f"{path}: a maximum of zero has no effect",
                "close a queue by its ACLs",
            )
    children = _children(path, entry.queues or (), findings)
    leaf = not (children or entry.parent or path == ROOT)
    if entry.parent is False and not leaf:
        findings.warning(
            entry.source, f"{path} has children, so it is a parent queue", "remove parent: false"
        )
    if entry.childtemplate is not None and leaf:
        findings.warning(entry.childtemplate.source, f"{path} is a leaf: its childtemplate has no effect")
    return QueueConfig(
        path=path,
        leaf=leaf,
        submit=_acl("submitacl", entry.submitacl, findings),
        admin=_acl("adminacl", entry.adminacl, findings),
        guaranteed=guaranteed or {},
        max=maximum or {},
        applications=findings.count("maxapplications", entry.maxapplications),
        properties=_texts(entry.properties),
        property_sources=_sources(entry.properties),
        template=_template(entry.childtemplate, findings),
        limits=check_limits(entry.limits or (), findings),
        children=children,
        source=entry.source or Source(""),
    )


def _children(path: str, entries: Sequence[QueueEntry], findings: Findings) -> tuple[QueueConfig, ...]:
    seen: dict[str, Source] = {}
    children = []
    for entry in entries:
        name, source = entry.name.text, entry.name.source
        if not is_queue_name(name):
            hint = "dots separate levels: nest the queues" if "." in name else QUEUE_NAME
            findings.error("invalid_queue_name", source, f"invalid queue name {name[:80]!r}", hint)
        elif len(below(path, name)) > LONGEST_PATH >= len(path):  # reported once, not for each queue below
            message = f"the path of {name} has more than {LONGEST_PATH} characters"
            findings.error("invalid_queue_name", source, message, "use shorter names or fewer levels")
        folded = name.lower()
        if folded in seen:
            message = f"duplicate queue {name!r} below {path}; the first is in {seen[folded]}"
            findings.error("duplicate_queue", source, message, "names ignore case")
        seen.setdefault(folded, source)
        if below(path, folded) == RECOVERY:
            findings.warning(
                source, f"{RECOVERY} is reserved for forced applications that no rule places", "rename it"
            )
        children.append(_queue(entry, below(path, folded), findings))
    return tuple(children)


def _template(entry: ChildTemplateEntry | None, findings: Findings) -> ChildTemplate | None:
    if entry is None:
        return None
    guaranteed = maximum = None
    if entry.resources is not None:
        guaranteed = findings.resources(entry.resources.guaranteed, entry.resources.source)
        maximum = findings.resources(entry.resources.max, entry.resources.source)
    applications = findings.count("maxapplications", entry.maxapplications)
    maximum = {} if maximum is None or is_zero(maximum) else maximum
    texts, sources = _texts(entry.properties), _sources(entry.properties)
    return ChildTemplate(guaranteed or {}, maximum, applications, texts, sources)


def _acl(key: str, written: ScalarText | None, findings: Findings) -> Acl:
    if written is None:
        return NOBODY
    try:
        acl = Acl.parse(written.text)
    except AclError as error:
        findings.error("acl_syntax", written.source, f"{key}: {error}", HINT)
        return NOBODY
    if acl.ignored:
        names = ", ".join(repr(name[:40]) for name in acl.ignored[:5])
        findings.warning(
            written.source, f"{key}: invalid names of users or groups, which never match: {names}", HINT
        )
    return acl


def _texts(written: dict[str, ScalarText | None] | None) -> dict[str, str]:
    return {key: value.text if value else "" for key, value in (written or {}).items()}


def _sources(written: dict[str, ScalarText | None] | None) -> dict[str, Source]:
    return {key: value.source for key, value in (written or {}).items() if value}
