"""The parts of a cycle state as plain JSON values, and back.

Mappings whose order may affect a decision are lists of pairs; sets are sorted lists. The readers raise KeyError,
TypeError or ValueError for values of another form; other faults are found by comparing with the re-encoded state.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeAlias

import attrs

from negotiator.cycle.journal import JournalEntry, PlainValue, checked_value
from negotiator.hooks.overruns import Overrun, OverrunAction
from negotiator.queues import Acl, Queue, QueueConfig, QueueLimit, QueueState, QueueTree
from negotiator.queues.applications import (
    ApplicationHold,
    ApplicationId,
    ApplicationRegistry,
    RegisteredApplication,
)
from negotiator.queues.model import ChildTemplate
from negotiator.queues.names import SEPARATOR, parent_of
from negotiator.records import Mode, Provenance, Reason, Source, Station, Verdict

_OVERRUN_NAMES: Final = tuple(name for name in attrs.fields_dict(Overrun) if name not in {"reason", "asked"})


Values: TypeAlias = Any  #: values that JSON has

_ENTRY_NAMES: Final = tuple(attrs.fields_dict(JournalEntry))
_ENTRY_VALUES: Final = attrgetter(*_ENTRY_NAMES)


def from_queues(queues: QueueTree) -> Values:
    """Return the queues, each without its children: ``to_queues`` finds them by their paths."""
    return list(map(from_queue, queues))


def from_queue(queue: Queue) -> Values:
    """Return one queue without its children."""
    return {
        **_from_config(queue.config),
        "managed": queue.managed,
        "since": queue.since,
        "state": str(queue.state),
        **({"notified": True} if queue.notified else {}),
    }


def to_queues(values: Iterable[Values]) -> QueueTree:
    """Return the tree of the queues that ``from_queues`` or ``from_queue`` wrote."""
    queues = (
        Queue(
            _to_config(each),
            each["managed"],
            each["since"],
            QueueState(each["state"]),
            each.get("notified", False),
        )
        for each in values
    )
    return QueueTree(_with_children({queue.path: queue for queue in queues}))


def _with_children(queues: dict[str, Queue]) -> dict[str, Queue]:
    """Return the queues, each with the configured queues below it as its children, sorted by path.

    Those that the configuration lists: managed queues that are not draining.
    """
    linked = dict(queues)
    children: dict[str, list[QueueConfig]] = {}
    for path in sorted(queues, key=lambda path: (-path.count(SEPARATOR), path)):  # from the bottom up
        queue = queues[path]
        if path in children:
            config = attrs.evolve(queue.config, children=tuple(children[path]))
            queue = linked[path] = attrs.evolve(queue, config=config)
        if SEPARATOR in path and queue.managed and not queue.draining:
            children.setdefault(parent_of(path), []).append(queue.config)
    return linked


def from_registry(registry: ApplicationRegistry) -> Values:
    """Return the applications with their queues, sorted by schedd, user and cluster."""
    return [[*each.id, each.queue, each.seen, each.group] for each in sorted(registry)]


def to_registry(values: Values) -> ApplicationRegistry:
    """Return the registry that ``from_registry`` wrote."""
    return ApplicationRegistry(
        [
            RegisteredApplication(ApplicationId(schedd, user, cluster), queue, seen, group)
            for schedd, user, cluster, queue, seen, group in values
        ]
    )


def from_holds(held: Mapping[ApplicationId, ApplicationHold]) -> Values:
    """Return the holds in their order, which is that of their reasons."""
    return [[*application, hold.by, hold.at, hold.note] for application, hold in held.items()]


def to_holds(values: Values) -> dict[ApplicationId, ApplicationHold]:
    """Return the holds that ``from_holds`` wrote."""
    return {
        ApplicationId(schedd, user, cluster): ApplicationHold(by, at, note)
        for schedd, user, cluster, by, at, note in values
    }


def from_entry(entry: JournalEntry) -> Values:
    """Return an entry of the journal; an unknown claim is left out."""
    values = dict(zip(_ENTRY_NAMES, _ENTRY_VALUES(entry), strict=True))  # its fields are plain
    if not entry.claim:
        del values["claim"]
    return values


def to_entry(values: Values) -> JournalEntry:
    """Return the entry that ``from_entry`` wrote.

    :raises ValueError: a field is missing, unknown, or invalid.
    :raises TypeError: a field is of another type.
    """
    if not isinstance(values, dict) or {*values, "claim"} != {*_ENTRY_NAMES}:
        raise ValueError("the fields are not those of a match")
    read = {name: _ENTRY_FIELDS.get(name, _text)(value) for name, value in values.items()}
    return JournalEntry(**read)


def from_overruns(overruns: Iterable[Overrun]) -> Values:
    """Return overruns as pairs: a reason, and what breaks it; those of one rule share its reason."""
    found: dict[str, tuple[Values, list[Values]]] = {}
    for each in overruns:
        reason = _from_reason(each.reason)
        _, rows = found.setdefault(json.dumps(reason, sort_keys=True), (reason, []))
        row = [_overrun_value(getattr(each, name)) for name in _OVERRUN_NAMES]
        rows.append([*row, each.asked] if each.asked else row)
    return [[reason, rows] for reason, rows in found.values()]


def to_overruns(values: Values) -> tuple[Overrun, ...]:
    """Return the overruns that ``from_overruns`` wrote."""
    found = []
    for reason, rows in values:
        shared = _to_reason(reason)
        for row in rows:
            names = _OVERRUN_NAMES if len(row) == len(_OVERRUN_NAMES) else (*_OVERRUN_NAMES, "asked")
            fields = dict(zip(names, row, strict=True))
            fields["action"], fields["counter"] = OverrunAction(fields["action"]), tuple(fields["counter"])
            found.append(Overrun(reason=shared, **fields))
    return tuple(found)


def _overrun_value(value: object) -> Values:
    return list(value) if isinstance(value, tuple) else value


def _from_reason(reason: Reason) -> Values:
    where = reason.provenance
    source = None if where.source is None else attrs.astuple(where.source)
    provenance = [where.station, where.plugin, where.version, where.rule, source and list(source)]
    return [reason.verdict, reason.code, reason.text, provenance, reason.mode, dict(reason.numbers)]


def _to_reason(values: Values) -> Reason:
    verdict, code, text, (station, plugin, version, rule, source), mode, numbers = values
    where = Provenance(Station(station), plugin, version, rule, None if source is None else Source(*source))
    return Reason(Verdict(verdict), code, text, where, Mode(mode), dict(numbers))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {str(value)[:60]!r}")
    return value


def _time(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"expected a time, got {str(value)[:60]!r}")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"expected true or false, got {str(value)[:60]!r}")
    return value


def _texts(value: Values) -> tuple[str, ...]:
    return tuple(map(_text, _list(value)))


def _list(value: Values) -> Values:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {str(value)[:60]!r}")
    return value


def _attributes(value: Values) -> tuple[tuple[str, PlainValue], ...]:
    pairs = [_list(each) for each in _list(value)]
    return tuple((_text(name), checked_value(each)) for name, each in pairs)


_ENTRY_FIELDS: Mapping[str, Callable[[Any], Any]] = {
    "at": _time,
    "groups": _texts,
    "attributes": _attributes,
    "is_copy": _flag,
    "shown": _flag,
}


def _from_config(config: QueueConfig) -> dict[str, Values]:
    template = config.template
    return {
        "path": config.path,
        "leaf": config.leaf,
        "submit": _from_acl(config.submit),
        "admin": _from_acl(config.admin),
        "guaranteed": list(config.guaranteed.items()),
        "max": list(config.max.items()),
        "applications": config.applications,
        "properties": list(config.properties.items()),
        "template": None if template is None else _from_template(template),
        "limits": list(map(_from_limit, config.limits)),
        "source": attrs.astuple(config.source),
    }


def _to_config(values: Values) -> QueueConfig:
    template = values["template"]
    return QueueConfig(
        path=values["path"],
        leaf=values["leaf"],
        submit=_to_acl(values["submit"]),
        admin=_to_acl(values["admin"]),
        guaranteed=dict(values["guaranteed"]),
        max=dict(values["max"]),
        applications=values["applications"],
        properties=dict(values["properties"]),
        template=None if template is None else _to_template(template),
        limits=tuple(map(_to_limit, values["limits"])),
        source=Source(*values["source"]),
    )


def _from_acl(acl: Acl) -> Values:
    return [sorted(acl.users), sorted(acl.groups), acl.everybody, acl.ignored]


def _to_acl(values: Values) -> Acl:
    users, groups, everybody, ignored = values
    return Acl(frozenset(users), frozenset(groups), everybody, tuple(ignored))


def _from_template(template: ChildTemplate) -> Values:
    guaranteed, most = list(template.guaranteed.items()), list(template.max.items())
    return [guaranteed, most, template.applications, list(template.properties.items())]


def _to_template(values: Values) -> ChildTemplate:
    guaranteed, most, applications, properties = values
    return ChildTemplate(dict(guaranteed), dict(most), applications, dict(properties))


def _from_limit(limit: QueueLimit) -> Values:
    resources = list(limit.resources.items())
    return [limit.users, limit.groups, resources, limit.applications, limit.text, attrs.astuple(limit.source)]


def _to_limit(values: Values) -> QueueLimit:
    users, groups, resources, applications, text, source = values
    return QueueLimit(tuple(users), tuple(groups), dict(resources), applications, text, Source(*source))
