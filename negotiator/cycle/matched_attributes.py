"""The attributes of jobs that charges read, as they are at a match."""

from __future__ import annotations

import enum
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import attrs
import numpy as np

from negotiator.classad import Ad, Environment, Expr, Kind, Table, evaluate, evaluate_table
from negotiator.classad.syntax import Literal, NameIndex, ReferenceScan, Side, scan
from negotiator.cycle.claim_amounts import ClaimAmounts, is_request, number
from negotiator.cycle.journal import PlainValue, plain_value
from negotiator.cycle.numbering import AlikeJobs, combined
from negotiator.hooks.order import QueuedRequest
from negotiator.ledger import Rows

#: By name in lower case, sorted.
Attributes: TypeAlias = tuple[tuple[str, PlainValue], ...]

T = TypeVar("T")

_MAX_REQUESTS = 50  # of a job, beside those that policies read


@attrs.frozen(eq=False, slots=False)
class MatchedAttributes:
    """Reads the attributes of matched jobs; ``read`` are those that charges read, None if plugins may read any.

    ``alike`` has the first job of each request, (R,), of which the constants are read by columns; ``first`` is its row among ``jobs``.
    """

    slots: Table
    jobs: Table
    amounts: ClaimAmounts
    read: frozenset[str] | None
    alike: AlikeJobs
    first: Rows
    _scans: dict[int, tuple[Expr, ReferenceScan]] = attrs.field(factory=dict, init=False)
    _names_of: dict[NameIndex, list[str]] = attrs.field(factory=dict, init=False)
    _columns: dict[str, list[PlainValue | _Unknown]] = attrs.field(factory=dict, init=False)
    _names_of_first: list[list[str] | None] = attrs.field(factory=list, init=False)

    def is_constant(self, queued: QueuedRequest) -> bool:
        """True if nothing has to be evaluated for the matches of a request: ``of_constants`` returns their attributes later."""
        return self._constants[queued.number] is not None and int(queued.rows[0]) == self.first[queued.number]

    def of_constants(self, numbers: Rows, rows: Rows) -> list[Attributes]:
        """Return the attributes of matches of requests for which ``is_constant`` is true.

        :param numbers: the request of each match, (G,).
        :param rows: the slot of each match, (G,).
        """
        as_written = [self._constants[number] or () for number in numbers.tolist()]
        beyond = np.zeros(len(numbers), np.bool_)
        for name in filter(is_request, self.alike.jobs.names()):
            beyond |= self.amounts.are_beyond(name, self._column(name), numbers, rows)
        for match in np.flatnonzero(beyond).tolist():
            as_written[match] = tuple(
                (name, self._within(name, [value], rows[match : match + 1])[0])
                for name, value in as_written[match]
            )
        return as_written

    @cached_property
    def _constants(self) -> list[Attributes | None]:
        """The attributes of the first job of each request as they are within a slot that holds them; None if one is no constant."""
        names_of: dict[int, list[str]] = {}
        members: dict[int, list[int]] = {}
        for request, names in enumerate(self._first_names()):
            if names is not None:
                names_of[id(names)] = names
                members.setdefault(id(names), []).append(request)
        found: list[Attributes | None] = [None] * len(self.first)
        for key, requests in members.items():
            names = names_of[key]
            columns = [self._plain_column(name, requests) for name in names]
            for request, values in zip(requests, zip(*columns, strict=True), strict=True):
                if _UNKNOWN not in values:
                    found[request] = tuple(zip(names, values, strict=True))
        return found

    def _plain_column(self, name: str, requests: list[int]) -> list[Any]:
        """Return an attribute of some requests; amounts that are counted are numbers as ``number`` returns them."""
        values = [self._column(name)[request] for request in requests]
        if name not in self.amounts.names:
            return values
        return [
            number(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value
            for value in values
        ]

    def of(self, queued: QueuedRequest, rows: Rows, env: Environment) -> list[Attributes]:
        """Return the attributes of each match of one request: its jobs are equal in what charges read.

        :param rows: the slots of the matches, (G,), G > 0.
        :param env: has the allowances that pay for the evaluations.
        """
        number, row, job = queued.number, int(queued.rows[0]), None
        names = self._first_names()[number] if row == self.first[number] else None
        if names is not None:
            values = [self._column(name)[number] for name in names]
        else:
            job = self.jobs.ad(row)
            names = self._names(job)
            values = [_UNKNOWN] * len(names)
        columns: list[list[PlainValue]] = []
        slots = None
        for name, value in zip(names, values, strict=True):
            if value is _UNKNOWN:
                job = self.jobs.ad(row) if job is None else job
                expression = job.folded(name)
                if expression is not None and self._is_of_job(expression, job):
                    payer = None if env.payers is None else env.payers.other
                    found = [plain_value(evaluate(expression, job, None, env, payer))]
                else:
                    slots = self.slots.take(rows) if slots is None else slots
                    found = _values(job, name, slots, env)
            else:
                found = [value]
            columns.append(self._within(name, found, rows))
        if max(map(len, columns)) == 1:  # equal for all slots
            return [tuple([(name, value) for name, (value,) in zip(names, columns, strict=True)])] * len(rows)
        each = zip(*(_repeated(column, len(rows)) for column in columns), strict=True)
        return [tuple(zip(names, found, strict=True)) for found in each]

    def _is_of_job(self, expression: Expr, job: Ad) -> bool:
        """True if an expression of a job reads constants of its own ad alone."""
        known = self._scans.get(id(expression))
        if known is None:  # with the expression itself, so that its identity stays its own
            known = self._scans[id(expression)] = expression, scan(expression)
        names, found = known[1].names, known[1]
        if found.opaque or found.moves_scope or names[Side.TARGET] or {"my", "target"} & names[None].keys():
            return False
        for name in (*names[None], *names[Side.MY]):
            own = job.folded(name)
            if not (isinstance(own, Literal) or (own is None and name not in self._names_of_slots)):
                return False
        return True

    @cached_property
    def _names_of_slots(self) -> frozenset[str]:
        return self.slots.names()

    def _first_names(self) -> list[list[str] | None]:
        """Return the names to read of the first job of each request; None if they are not found by columns."""
        if not self._names_of_first:
            jobs, count = self.alike.jobs, len(self.first)
            requests = sorted(filter(is_request, jobs.names()))
            if self.read is None or len(requests) > _MAX_REQUESTS:
                self._names_of_first.extend([None] * count)
                return self._names_of_first
            there = [np.broadcast_to(jobs.column(name).kinds != Kind.ABSENT, (count,)) for name in requests]
            numbers, kinds = combined(np.zeros(count, np.int64), *there)
            names: list[list[str]] = [[]] * kinds
            for number, place in zip(*np.unique(numbers, return_index=True), strict=True):
                own = [name for name, column in zip(requests, there, strict=True) if column[place]]
                names[number] = sorted({*self.read, *own, *self.amounts.names})
            self._names_of_first.extend(names[number] for number in numbers.tolist())
        return self._names_of_first

    def _column(self, name: str) -> list[PlainValue | _Unknown]:
        """Return an attribute of the first job of each request; ``_UNKNOWN`` for one that is no constant."""
        if name not in self._columns:
            column, count = self.alike.jobs.column(name), len(self.first)
            kinds = np.broadcast_to(column.kinds, (count,))
            found: list[PlainValue | _Unknown] = [_UNKNOWN] * count
            plain = np.flatnonzero(np.isin(kinds, _PLAIN))
            for row, value in zip(plain.tolist(), column.values(plain), strict=True):
                found[row] = plain_value(value)
            for row in np.flatnonzero(kinds == Kind.ABSENT).tolist():
                found[row] = None
            self._columns[name] = found
        return self._columns[name]

    def _names(self, job: Ad) -> list[str]:
        """Return the names to read, sorted; they are found once for ads with the same names."""
        found = self._names_of.get(job.shape)
        if found is None:
            found = self._names_of[job.shape] = self._sorted_names(job.shape)
        return found

    def _sorted_names(self, shape: NameIndex) -> list[str]:
        """Return the names to read, sorted: also requests that no policy reads now, since a later one may limit them."""
        requests = sorted(filter(is_request, shape.index))[:_MAX_REQUESTS]
        read = frozenset(shape.index) - _MATCHING if self.read is None else self.read
        return sorted({*read, *requests, *self.amounts.names})

    def _within(self, name: str, values: list[PlainValue], rows: Rows) -> list[PlainValue]:
        """Return values, amounts within what the slots hold; one for all slots where they are equal."""
        if not is_request(name):
            return values
        amounts = self.amounts.of_matches(name, values, rows)
        if len(values) == len(amounts) == 1:
            amount = amounts[0]
            return values if amount is None else [number(amount)]
        size = max(len(values), len(amounts))
        pairs = zip(_repeated(values, size), _repeated(amounts, size), strict=True)
        return [value if amount is None else number(amount) for value, amount in pairs]


class _Unknown(enum.Enum):
    """The value of an attribute that is an expression."""

    UNKNOWN = enum.auto()


_UNKNOWN = _Unknown.UNKNOWN
_PLAIN = (Kind.BOOLEAN, Kind.INTEGER, Kind.REAL, Kind.STRING)
_MATCHING = frozenset({"requirements", "rank"})


def _values(job: Ad, name: str, slots: Table, env: Environment) -> list[PlainValue]:
    """Return the values of an attribute with each slot, one for all slots where they are equal."""
    expression = job.folded(name)
    if expression is None:
        return [None]
    if isinstance(expression, Literal):
        return [plain_value(expression.value)]
    column = evaluate_table(expression, slots, job, side=Side.TARGET, env=env)
    rows = range(1 if column.is_constant else len(column))
    return [plain_value(value) for value in column.values(np.array(rows, np.intp))]


def _repeated(values: list[T], size: int) -> list[T]:
    return values * size if len(values) == 1 else values
