"""The rules over the slots of a pool, apart for each mode.

Rules in mode warn or dryrun read of jobs and slots only what they need themselves: an amount or a capacity that only they name
decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from negotiator.plugin import Charge, Environment, Filter, Request, Table
from negotiator_quotasets.pool.pool_rules import PoolRules
from negotiator_quotasets.requests import RequestReader
from negotiator_quotasets.settings import QuotaSettings, SetsOfMode


@attrs.frozen(eq=False)
class RulesByMode:
    """The rules of all modes over the slots of one table."""

    parts: tuple[PoolRules, ...]

    def charges(self, request: Request) -> Iterator[Charge]:
        """Yield the charges of each match of a request."""
        for part in self.parts:
            yield from part.charges(request)

    def filters(self, request: Request) -> Iterable[Filter]:
        """Yield the slots that a request must not be matched with, regardless of usage."""
        for part in self.parts:
            yield from part.filters(request)


def rules_by_mode(
    settings: QuotaSettings, parts: Iterable[tuple[SetsOfMode, RequestReader]], slots: Table, env: Environment
) -> RulesByMode:
    """Return the rules of all modes over some slots; a capacity is charged under the first mode that knows it."""
    found, known = list[PoolRules](), set[str]()
    for part, reader in parts:
        found.append(PoolRules(settings, reader, slots, env, part, frozenset(known)))
        known |= {each.name for each in reader.complexes}
    return RulesByMode(tuple(found))
