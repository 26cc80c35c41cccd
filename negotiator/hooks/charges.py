"""The records of plugins that limit usage: charges on counters of the ledger, and the quota of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Self, TypeAlias

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.classad import Table
from negotiator.hooks.fields import (
    MAX_NAME,
    WrongAnswerError,
    check_exactly,
    check_instance,
    checked_label,
    checked_source,
    checked_text,
)
from negotiator.hooks.records import Request
from negotiator.hooks.watched_request import amounts_of
from negotiator.ledger import Charge as Charge
from negotiator.ledger import CounterKey as CounterKey
from negotiator.ledger import Family as Family
from negotiator.ledger import Grouping as Grouping
from negotiator.ledger import Ints
from negotiator.ledger import KeyCharge as KeyCharge
from negotiator.records import Mode, Source


@attrs.frozen(eq=False)
class RequestedCharge(Charge):
    """A charge of what a request asks for of a ``resource`` of queues.yaml: make one with ``RequestedCharge.of``.

    Requests that differ in this amount alone are alike for the plugin: it is called once for them, and each is charged its own amount.
    """

    resource: str = attrs.field(kw_only=True)

    @classmethod
    def of(
        cls,
        request: Request,
        counter: CounterKey | Grouping,
        resource: str,
        limit: int | Ints | None,
        label: object = None,
    ) -> Self:
        """Return the charge of a request, 0 if it asks for none of the resource.

        Example::

            yield RequestedCharge.of(request, ("user", request.user, "memory"), "memory", 10 * 2**30, quota)
        """
        return cls(counter, amounts_of(request).get(resource, 0), limit, label, resource=resource)


#: Returns what one job takes of each of some slots, (D,), of which it takes a part: called with a table of these slots before
#: the job and one with what is left of them.
PartAmounts: TypeAlias = Callable[[Table, Table], NDArray[np.int64]]


def _rule(value: object) -> str:
    return checked_label(value, "rule of a Quota")


def _code(value: object) -> str:
    return checked_label(value, "code of a Quota")


def _name(value: object) -> str:
    return checked_text(value, "name of a Quota", MAX_NAME)


def _text(value: object) -> str:
    return checked_text(value, "text of a Quota")


def _subject(value: object) -> str:
    return checked_text(value, "subject of a Quota")


def _text_after(value: object) -> str | None:
    return None if value is None else checked_text(value, "text_after of a Quota")


def _source(value: object) -> Source | None:
    return checked_source(value, "a Quota")


@attrs.frozen(kw_only=True)
class Quota:
    """The limit that a charge is for: the ``label`` of every ``Charge`` and ``KeyCharge`` that a plugin yields.

    ``text`` names, in a few words and without numbers, the user or group and the resource whose usage is limited: ``user sue in root.a``. The core
    adds the amounts needed, used and allowed, in the unit of ``resource`` (empty for counts), divided by
    ``scale``. A quota in mode warn or dryrun is charged on counters of its own, and refuses nothing.

    Where a charge has a counter for each of many hosts, the last part of the counter's key may appear between ``text``
    and ``text_after``. If several counters are full, the reason names the first and counts the others.

    ``subject`` is whose usage is limited, where ``text`` is worded as a refusal: reports of usage above the limit name it, and
    after it the last part of the key of a counter of many. By default it is ``text``.

    ``name`` is the name by which jobs request what is limited, if they do (``matlab`` of a concurrency limit): an order
    reads it, together with ``code``.

    ``of_part`` is for a charge whose amount is a property of the slot: of a slot that several jobs share (one with a consumption
    policy, or under ``match: fill``) a match is charged what it returns, instead of the amount of the whole slot.

    With ``held_through_cycle``, a match that ends a running job leaves the job's charge as it is until the next cycle; by
    default it is released at once, and the match may use it.

    A quota is checked when it is made, so that one may serve many requests: texts are made printable and shortened, to
    200 characters for ``rule``, ``code`` and ``name`` and to 2,000 for the others.

    :raises WrongAnswerError: a field is of another type, or ``rule`` or ``code`` is empty.
    """

    rule: str = attrs.field(converter=_rule)
    text: str = attrs.field(converter=_text)
    resource: str = ""
    code: str = attrs.field(default="quota", converter=_code)
    scale: int = 1  # so many units of the counter are shown as one
    source: Source | None = attrs.field(default=None, converter=_source)
    mode: Mode = Mode.ENFORCE
    text_after: str | None = attrs.field(default=None, converter=_text_after)
    subject: str = attrs.field(default="", converter=_subject)
    name: str = attrs.field(default="", converter=_name)
    held_through_cycle: bool = False
    of_part: PartAmounts | None = attrs.field(default=None, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        check_instance(self.mode, Mode, "a Mode as mode of a Quota")
        check_exactly(self.held_through_cycle, bool, "a bool as held_through_cycle of a Quota")
        if type(self.scale) is not int or self.scale < 1:
            raise WrongAnswerError("expected an integer above 0 as scale of a Quota")
        if checked_text(self.resource, "resource of a Quota", MAX_NAME) != self.resource:
            raise WrongAnswerError(f"expected up to {MAX_NAME} printable characters as resource of a Quota")


@attrs.frozen
class CounterUsage:
    """The amounts on a plugin's own counters: sums, and sets of keys with how often each was added.

    Counters of quotas in mode warn or dryrun are included.

    ``groups`` has, by user and application, the group that the application counts for; empty for none.
    """

    sums: Mapping[CounterKey, int]
    sets: Mapping[CounterKey, Mapping[str, int]]
    groups: Mapping[tuple[str, str], str]
