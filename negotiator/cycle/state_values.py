"""The parts of a cycle state as plain JSON values, and back; and the journal: what each match was charged for, until its claim ends.

Mappings whose order may affect a decision are lists of pairs; sets are sorted lists. The readers raise KeyError,
TypeError or ValueError for values of another form; other faults are found by comparing with the re-encoded state. The journal stores attributes of
jobs as plain data, so that no ad has to be parsed again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Final, TypeAlias

import attrs

from negotiator.classad import Ad, ClassAdValue
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

#: None if the attribute is missing, undefined, an error, or of a type that no charge reads.
PlainValue: TypeAlias = bool | int | float | str | None

_LONGEST = 1 << 16  # characters of a text
_OVERRUN_NAMES: Final = tuple(name for name in attrs.fields_dict(Overrun) if name not in {"reason", "asked"})


def plain_value(value: ClassAdValue) -> PlainValue:
    """Return a value as plain data; None if it is not a finite number, a boolean or a text of reasonable length."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str) and len(value) <= _LONGEST else None


def checked_value(value: object) -> PlainValue:
    """Return a value read from a file.

    :raises ValueError: it is not plain data, or an integer of more than 64 bits.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"expected a number, a boolean, a text or null, got {str(value)[:60]!r}")


@attrs.frozen
class JournalEntry:
    """A match of this cycle or an earlier one: all data that its charges depend on, as they were at the match.

    ``attributes`` has the values of the job's attributes that charges read, by name in lower case and sorted, evaluated
    with the slot of the match; None for one that was missing. Amounts are what the claim counts for: at least one core,
    and no more than the slot holds. ``groups`` are those of the user. ``at`` is in seconds since the epoch.

    ``claim`` is the public part of the claim id that it was handed out with (``PublicClaimId``), empty if it is not known; several
    matches that share a slot may have one. ``is_copy``: the ad of the request stood for several jobs, so that ``job`` may not be the one that runs. ``shown``:
    the pool has shown the claim; the entry lasts as long as it does.
    """

    id: str
    at: float
    submitter: str
    schedd: str
    job: str  # "cluster.proc"
    slot: str
    queue: str
    user: str
    groups: tuple[str, ...]
    group: str
    application: str
    attributes: tuple[tuple[str, PlainValue], ...]
    is_copy: bool = False
    shown: bool = False
    claim: str = ""

    @property
    def key(self) -> str:
        """A unique key: without an audit log the ids of matches start anew with each process."""
        return f"{self.id} {self.at!r}"

    @property
    def typed_attributes(self) -> tuple[object, ...]:
        """The attributes as a key that tells 1, 1.0 and true apart."""
        return self.attributes, tuple(type(value) for _, value in self.attributes)

    @property
    def job_key(self) -> tuple[str, str, str]:
        """The key of its job: schedd, user and ``cluster.proc``, as ``job_keys`` returns it."""
        return self.schedd, self.user, self.job

    @property
    def kind(self) -> tuple[object, ...]:
        """The data that matches with equal charges share."""
        where = self.submitter, self.schedd, self.queue, self.user, self.group, self.groups
        return *where, *self.typed_attributes

    @property
    def charged_ad(self) -> Ad:
        """The attributes that charges read, as an ad."""
        return Ad([(name, value) for name, value in self.attributes if value is not None])

    def over(self, ad: Ad) -> Ad:
        """Return an ad with the attributes of the match in place of its own."""
        return ad.replaced(dict(self.attributes))


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
