"""The rules and the capacities over the slots of a pool: the charges and the filters of a request, apart for each mode.

Hosts are the slots' machines; the queue is the job's. A host's value of a complex is the slot attribute of that name
unless ``gridengine.yaml`` declares others. Rules in mode warn or dryrun read of jobs and slots only what they need themselves: an amount or
a capacity that only they name decides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import attrs
import numpy as np
from numpy.typing import NDArray

from negotiator.plugin import (
    UNDEFINED,
    Charge,
    ClassAdValue,
    Environment,
    Filter,
    Mode,
    Request,
    Table,
    Verdict,
    evaluate_table,
    printable,
    unparse_value,
)
from negotiator_quotasets.complexes import Complex, Complexes, parse_number, queue_matches
from negotiator_quotasets.matching import (
    BoundedCache,
    ClaimantRules,
    Codes,
    HostIndex,
    Hosts,
    Rules,
)
from negotiator_quotasets.pool.capacities import CODE, Capacities, OfferedValues
from negotiator_quotasets.requests import (
    EvaluationContext,
    QuotaRequest,
    RequestReader,
    RequestValues,
    text_of,
)
from negotiator_quotasets.settings import QuotaSettings, SetsOfMode

_MAX_HOST = 255  # characters of a machine's name
_MAX_REQUESTS = 20_000  # interpreted requests in the cache
_MAX_PROBLEMS = 500  # characters of a reason


class _InterpretedRequest(NamedTuple):
    """A request, the rules of its claimant, and the charges of a match."""

    request: QuotaRequest
    rules: ClaimantRules
    charges: tuple[Charge, ...]


class PoolRules:
    """The rules of one mode, and the capacities, over the slots of one table."""

    def __init__(
        self,
        settings: QuotaSettings,
        reader: RequestReader,
        slots: Table,
        env: Environment,
        part: SetsOfMode | None = None,
        known: Collection[str] = (),
    ) -> None:
        """Make the rules of some sets; by default all sets enforce.

        :param known: names of complexes whose capacities other rules charge.
        """
        part = part or SetsOfMode(Mode.ENFORCE, settings.sets)
        self._mode = part.mode
        engine = settings.gridengine
        codes, first, names = _machines(slots)
        self._one_slot_per_host, self._env = slots.take(first), env
        self._slot_attributes = slots.names()
        self._reader, self._engine = reader, engine
        self._hosts = Hosts(names, engine.hostgroups, ignore_domain=engine.ignore_fqdn)
        self._host_values: dict[str, Sequence[str | None]] = {}
        numbers = {name: self._numbers(name) for name in sorted(reader.formula_complexes)}
        self.index = HostIndex(self._hosts, codes, numbers)
        self._rules = Rules(part.sets, engine.all_complexes, engine.usersets, self.index, part.mode)
        offered = OfferedValues(engine.of_pool, self._of_host, lru_cache(1000)(self._of_queue))
        self._capacities = Capacities(
            offered,
            Complexes([each for each in reader.complexes if each.name not in known]),
            self.index,
            part.mode,
        )
        self._requests = BoundedCache[_InterpretedRequest](_MAX_REQUESTS)
        self._latest: tuple[Request, _InterpretedRequest] | None = None

    def charges(self, request: Request, env: Environment) -> Sequence[Charge]:
        """Return the charges of each match of a request, whose owner pays for its expressions in ``env``.

        The valid parts of an invalid request are charged, since a running job counts all the same; ``filters`` keep
        an idle one from being matched.
        """
        return self._interpreted(request, env).charges

    def filters(self, request: Request, env: Environment) -> Iterable[Filter]:
        """Return the slots that a request must not be matched with, regardless of usage."""
        interpreted = self._interpreted(request, env)
        read = interpreted.request
        if not (read.problems or read.resources.values or self._capacities.forced):
            return ()
        return self._filters(read, interpreted.rules)

    def _filters(self, read: QuotaRequest, rules: ClaimantRules) -> Iterator[Filter]:
        nowhere = np.zeros(len(self.index.codes), np.bool_)
        if read.problems:
            text = printable(f"invalid request: {read.problems}"[:_MAX_PROBLEMS])
            yield Filter(
                rule="request",
                allow=nowhere,
                code="request_unreadable",
                text=text,
                verdict=Verdict.MISCONFIGURED,
                mode=self._mode,
            )
            return
        for constraint in rules.violated(read.resources):
            quota = constraint.quota
            allow = nowhere if constraint.where is None else ~constraint.where
            yield Filter(
                rule=quota.rule,
                allow=allow,
                code=quota.code,
                text=constraint.text(),
                source=quota.source,
                mode=self._mode,
            )
        for shortage in self._capacities.shortages(read.claimant.queue, read.resources, read.by_job):
            name = f"complex {shortage.complex.name}"
            text = f"cannot run because {shortage.text}"
            yield Filter(rule=name, allow=shortage.allow, code=CODE, text=text, mode=self._mode)

    def _interpreted(self, request: Request, env: Environment) -> _InterpretedRequest:
        # Both hooks are called with the same request in turn, and equal requests share the result.
        if self._latest is None or self._latest[0] is not request:
            values = self._reader.values(request, EvaluationContext(env, self._slot_attributes))
            try:
                interpreted = self._requests.get(values.key, self._interpret, values)
            except TypeError:  # a list or an ad, which can't be hashed
                interpreted = self._interpret(values)
            self._latest = request, interpreted
        return self._latest[1]

    def _interpret(self, values: RequestValues) -> _InterpretedRequest:
        request = self._reader.interpret(values)
        claimant, resources = request.claimant, request.resources
        rules = self._rules.for_claimant(claimant)
        charges = (*rules.charges(resources), *self._capacities.charges(claimant.queue, resources))
        return _InterpretedRequest(request, rules, charges)

    def _of_host(self, name: str) -> Sequence[str | None]:
        """Return the values of a complex on each host, (H,): as declared, else from the slot ads."""
        if name not in self._host_values:
            column = evaluate_table(self._reader.host_value(name), self._one_slot_per_host, env=self._env)
            values = [_host_text(column.value(row)) for row in range(len(column))]
            for host, declared in self._engine.of_hosts.items():
                if name in declared:
                    for row in np.flatnonzero(self._hosts.entry_mask(host)).tolist():
                        values[row] = declared[name]
            self._host_values[name] = values
        return self._host_values[name]

    def _of_queue(self, queue: str) -> Mapping[str, str]:
        """Return the values that a queue has on each of its hosts."""
        values: dict[str, str] = {}
        for name, declared in self._engine.of_queues.items():
            if queue_matches(name, queue):
                values |= declared
        return values

    def _numbers(self, name: str) -> Sequence[Fraction | None]:
        complex_ = self._engine.all_complexes.find(name)
        if complex_ is None:
            return [None] * len(self._hosts)
        return [_number(complex_, text) for text in self._of_host(name)]


def _machines(slots: Table) -> tuple[Codes, NDArray[np.intp], list[str]]:
    """Return the number of each slot's host, (N,), the first slot of each host, (H,), and the hosts' names.

    Names ignore case. Slots without a machine share one host without a name.
    """
    machines = slots.strings("Machine").tolist()
    # Most slots share their machine with others: each name is read once.
    names = {name: printable((name or "")[:_MAX_HOST]) for name in dict.fromkeys(machines)}
    numbers: dict[str, int] = {}
    number_of = {name: numbers.setdefault(shown.lower(), len(numbers)) for name, shown in names.items()}
    codes = np.array([number_of[name] for name in machines], np.int32)
    first = np.unique(codes, return_index=True)[1]
    return codes, first, [names[machines[row]] for row in first.tolist()]


def _host_text(value: ClassAdValue) -> str | None:
    """Return a slot's value of a complex, None if it has none; a value that Grid Engine lacks fits no request."""
    return None if value is UNDEFINED else text_of(value) or unparse_value(value)


def _number(complex_: Complex, text: str | None) -> Fraction | None:
    try:
        return None if text is None else parse_number(complex_.type, text)
    except ValueError:
        return None


@attrs.frozen(eq=False)
class RulesByMode:
    """The rules of all modes over the slots of one table."""

    parts: tuple[PoolRules, ...]

    def charges(self, request: Request, env: Environment) -> Iterator[Charge]:
        """Yield the charges of each match of a request, whose owner pays for its expressions in ``env``."""
        for part in self.parts:
            yield from part.charges(request, env)

    def filters(self, request: Request, env: Environment) -> Iterable[Filter]:
        """Yield the slots that a request must not be matched with, regardless of usage."""
        for part in self.parts:
            yield from part.filters(request, env)


def rules_by_mode(
    settings: QuotaSettings, parts: Iterable[tuple[SetsOfMode, RequestReader]], slots: Table, env: Environment
) -> RulesByMode:
    """Return the rules of all modes over some slots; a capacity is charged under the first mode that knows it."""
    found, known = list[PoolRules](), set[str]()
    for part, reader in parts:
        found.append(PoolRules(settings, reader, slots, env, part, frozenset(known)))
        known |= {each.name for each in reader.complexes}
    return RulesByMode(tuple(found))
