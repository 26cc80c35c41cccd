"""What a plugin that limits works with: charges on counters of the ledger, and what each of them is for."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from negotiator.ledger import Charge as Charge
from negotiator.ledger import CounterKey as CounterKey
from negotiator.ledger import Family as Family
from negotiator.ledger import Grouping as Grouping
from negotiator.ledger import KeyCharge as KeyCharge
from negotiator.records import Mode, Source


@attrs.frozen(kw_only=True)
class Quota:
    """What a charge is for: the ``label`` of every ``Charge`` and ``KeyCharge`` that a plugin yields.

    ``text`` says in a few words whose usage of what is limited, without numbers: ``user sue in root.a``; the core adds
    what is needed, used and allowed, in the unit of ``resource`` (empty where things are counted), divided by ``scale``. A rule in mode warn
    or dryrun is charged on counters of its own, and refuses nothing.

    Where a charge has a counter for each of many hosts, ``text`` may end before the last part of the counter's key:
    that is put between it and ``text_after``. Of several counters that are full it is the first, and how many more.
    """

    rule: str
    text: str
    resource: str = ""
    code: str = "quota"
    scale: int = 1  # so many units of the counter are one for people
    source: Source | None = None
    mode: Mode = Mode.ENFORCE
    text_after: str | None = None
    _checked: bool = attrs.field(default=False, init=False, eq=False, repr=False)

    def is_checked(self) -> bool:
        """Whether the guard found it in order: a plugin may give one quota for many requests."""
        return self._checked

    def set_checked(self) -> None:
        """Remember that the guard found it in order."""
        object.__setattr__(self, "_checked", True)


@attrs.frozen
class CounterUsage:
    """What is counted on a plugin's own counters: sums, and sets of keys with how often each was added.

    ``groups`` has, by user and application, the group that the application counts for; empty for none.
    """

    sums: Mapping[CounterKey, int]
    sets: Mapping[CounterKey, Mapping[str, int]]
    groups: Mapping[tuple[str, str], str]
