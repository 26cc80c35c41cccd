"""All accounts of a pool, and their transitions in a negotiation cycle."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import attrs

from negotiator_fairshare.accounts.account import MIN_PRIORITY, AccountRecord, ResourceRecord
from negotiator_fairshare.accounts.decay import Interval
from negotiator_fairshare.accounts.leases import without_expired
from negotiator_fairshare.accounts.numbers import stored
from negotiator_fairshare.accounts.settings import MIN_FACTOR, AccountSettings
from negotiator_fairshare.accounts.use import UseCounter

NEW = AccountRecord()


@attrs.frozen(kw_only=True)
class Accounts:
    """The accounts by name, the slots in use by key (``name@address``), and the time of the last update.

    A cycle goes ``updated``, ``recounted``, ``seen``, then, after its matches, ``recounted`` with them. An account that
    does not exist has priority 0.5 and no usage.
    """

    records: Mapping[str, AccountRecord] = attrs.field(factory=dict)
    resources: Mapping[str, ResourceRecord] = attrs.field(factory=dict)
    last_update: int = 0

    def get(self, name: str) -> AccountRecord:
        """Return the account of a name, a new one if there is none."""
        return self.records.get(name, NEW)

    def updated(self, now: int, settings: AccountSettings) -> Accounts:
        """Return the accounts at a time: priorities decayed, the use since the last update charged, leases ended.

        If no time has passed, or the clock went back, only the stamp changes, and leases end.
        """
        records = self.records
        if now > self.last_update:
            interval = Interval.since(self.last_update, now, settings.halflife)
            records = {name: interval.applied(record) for name, record in records.items()}
        records = {name: without_expired(record, now) for name, record in records.items()}
        return attrs.evolve(self, records=records, last_update=now)

    def recounted(self, use: UseCounter) -> Accounts:
        """Return the accounts with the slots in use of a counter, and no others."""
        names = dict.fromkeys([*self.records, *sorted(use.names())])
        return attrs.evolve(self, records={name: _with_use(self.get(name), name, use) for name in names})

    def seen(self, names: Iterable[str], settings: AccountSettings) -> Accounts:
        """Return the accounts with the factors of new names written down; a stored factor stays."""
        records = dict(self.records)
        for name in names:
            record = self.get(name)
            if record.factor is None or record.factor < MIN_FACTOR or name not in records:
                records[name] = attrs.evolve(record, factor=self.factor(name, settings))
        return attrs.evolve(self, records=records)

    def factor(self, name: str, settings: AccountSettings) -> float:
        """Return the priority factor of a name: the stored one, or that of the knobs."""
        factor = self.get(name).factor
        if factor is None or factor < MIN_FACTOR:
            return stored(settings.factor_of(name))
        return factor

    def effective_priority(self, name: str, settings: AccountSettings) -> float:
        """Return real priority times factor; smaller is better."""
        return max(self.get(name).priority, MIN_PRIORITY) * self.factor(name, settings)

    def with_resources(self, in_use: Mapping[str, ResourceRecord], matched: Collection[str] = ()) -> Accounts:
        """Return the accounts with the records of the slots in use.

        Records of other slots are dropped, unless their slot is in state Matched, which is not use. A slot that the same
        user holds keeps the concurrency limits of its record if the new one has none.

        :param matched: the keys of the slots in state Matched.
        """
        records = {key: self.resources[key] for key in matched if key in self.resources}
        for key, record in in_use.items():
            records[key] = _with_limits_of(record, self.resources.get(key))
        return attrs.evolve(self, resources=records)

    def reconciled(self, settings: AccountSettings) -> Accounts:
        """Return the accounts with the slots in use that the records of slots add up to, and the factors of groups.

        The negotiator does this when it starts. The use of subtrees of groups stays as it was.
        """
        use = UseCounter(settings.group_of)
        for resource in self.resources.values():
            if resource.user:
                use.add(resource.user, resource.weight)
        records = {
            name: attrs.evolve(
                record, resources_used=use.slots(name), weighted_resources_used=use.weighted(name)
            )
            for name, record in self.records.items()
        }
        return attrs.evolve(self, records=records).seen(settings.groups, settings)


def _with_use(record: AccountRecord, name: str, use: UseCounter) -> AccountRecord:
    counted = (use.slots(name), use.weighted(name), use.hierarchical(name))
    if counted == (
        record.resources_used,
        record.weighted_resources_used,
        record.hierarchical_weighted_resources_used,
    ):
        return record
    slots, weighted, hierarchical = counted
    return attrs.evolve(
        record,
        resources_used=slots,
        weighted_resources_used=weighted,
        hierarchical_weighted_resources_used=hierarchical,
    )


def _with_limits_of(record: ResourceRecord, former: ResourceRecord | None) -> ResourceRecord:
    if former is None or former.user != record.user or record.concurrency_limits:
        return record
    return attrs.evolve(record, concurrency_limits=former.concurrency_limits, others=former.others)
