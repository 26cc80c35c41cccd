"""Conformance cases by columns: many lines share a table, and each value is read where the line's ad is a row.

Each line is evaluated in every possible role: over tables in which its own ad is a row among the ads of other lines and
among decoys, as MY and, in a match, as TARGET. Lines that differ in constants only are then evaluated as one expression,
with the constants in the rows: thousands of ``1 + "a"`` become one ``x + y`` over
columns that mix all kinds.
"""

from functools import cache

from golden import NOON, attempt
from negotiator.classad import Ad, Side, Table, evaluate_table, parse_ad, references
from negotiator.classad.syntax import (
    AdRef,
    Attr,
    Binary,
    Call,
    Conditional,
    Elvis,
    Literal,
    Paren,
    Subscript,
    Unary,
    tree_key,
)

MOST_ADS = 24
"""Ads of other lines in one table, each of them twice."""

LONGEST = 300
"""Longest expression whose constants become references: each adds a level, and evaluation has 400 levels."""

REQUIREMENTS = Attr("Requirements", AdRef(Side.MY))


@cache
def decoys():
    """Return ads to mix with those of the lines: with other types and without attributes."""
    texts = (
        "[]",
        '[A = "x"; B = {1}; Memory = "big"; Cpus = 1.5; Requirements = undefined; OnlyT = error; constant0 = 7]',
        "[A = B; B = C + 1; C = true; Memory = undefined; b = -1; s = 2; Requirements = Memory > 1; constant1 = A]",
    )
    return [parse_ad(text) for text in texts]


def values(folder, cases):
    """Return for each case the values of all rows in which it was evaluated; none if no ad can be a row."""
    troubles = [folder.ads_of(case) for case in cases]
    found = [[trouble] if isinstance(trouble, dict) else [] for trouble in troubles]
    for at, case in enumerate(cases):
        if case.tree is None and not case.match:
            found[at].append({"parse_error": True})
    sound = [at for at in range(len(cases)) if not found[at]]
    for batch in _batches(cases, sound):
        _as_written(folder, cases, batch, found)
    _constants_in_rows(folder, cases, sound, found)
    return found


def _roles(case):
    """Return the roles of the ads of a case: the ad that is a row, the other one, and the side of the rows."""
    if case.match:
        return [(case.target, case.my, Side.MY), (case.my, case.target, Side.MY)]
    if case.tree is None:
        return []
    if case.my is case.target is None:
        # Without any ad no name means anything; in a row without attributes that is so but for these.
        named = references(case.tree)
        return [] if named.dynamic or "currenttime" in named.unscoped else [(None, None, Side.MY)]
    roles = [] if case.target is None else [(case.target, case.my, Side.TARGET)]
    return roles if case.my is None else [*roles, (case.my, case.target, Side.MY)]


def _batches(cases, sound):
    """Yield consecutive cases that share a table of few ads."""
    batch, ads = [], set()
    for at in sound:
        more = {cases[at].my, cases[at].target}
        if len(ads | more) > MOST_ADS:
            yield batch
            batch, ads = [], set()
        batch.append(at)
        ads |= more
    yield batch


class _Rows:
    """The ads of some lines, forwards and backwards, with decoys before, between and after."""

    def __init__(self, ads):
        first, second, third = decoys()
        backwards = list(reversed(ads))
        self.table = Table.from_ads([first, *ads, second, *backwards, third])
        self._count = len(ads)

    def of(self, at):
        """Return the two rows of an ad."""
        return at + 1, 2 * self._count + 1 - at


def _as_written(folder, cases, batch, found):
    places = {}
    for at in batch:
        for row, _, _ in _roles(cases[at]):
            places.setdefault(row, len(places))
    rows = _Rows([folder.ad(text) or Ad() for text in places])
    trees = {(case.old, case.expr): case.tree for case in (cases[at] for at in batch)}

    @cache
    def by_row(key, other, side):
        if key is None:
            verdicts = _matching(rows.table, folder.ad(other))
            return lambda row: bool(verdicts[row])
        return evaluate_table(trees[key], rows.table, folder.ad(other), side=side, env=NOON).value

    for at in batch:
        key = None if cases[at].match else (cases[at].old, cases[at].expr)
        for ad, other, side in _roles(cases[at]):
            for row in rows.of(places[ad]):
                found[at].append(attempt(lambda role=(key, other, side), row=row: by_row(*role)(row)))


def _matching(table, other):
    """Return the rows in which both Requirements are true."""
    theirs, ours = (evaluate_table(REQUIREMENTS, table, other, side=side, env=NOON) for side in Side)
    return theirs.is_true() & ours.is_true()


def _constants_in_rows(folder, cases, sound, found):
    groups = {}
    for at in sound:
        case, constants = cases[at], []
        if case.match or case.tree is None or len(case.expr) > LONGEST or references(case.tree).dynamic:
            continue
        shape = _with_references(case.tree, constants)
        for row, other, side in _roles(case) if constants else ():
            group = groups.setdefault((tree_key(shape), other, side), (shape, []))
            group[1].append((at, row, constants))
    for (_, other, side), (shape, members) in groups.items():
        if len(members) > 1:
            _evaluated_together(folder, shape, other, side, members, found)


def _evaluated_together(folder, shape, other, side, members, found):
    rows = _Rows([_with_constants(folder.ad(row), constants) for _, row, constants in members])

    @cache
    def column():
        return evaluate_table(shape, rows.table, folder.ad(other), side=side, env=NOON)

    for place, (at, _, _) in enumerate(members):
        found[at] += [attempt(lambda row=row: column().value(row)) for row in rows.of(place)]


def _with_constants(ad, constants):
    return (ad or Ad()).with_items((f"constant{at}", value) for at, value in enumerate(constants))


def _with_references(expr, constants):
    """Replace each constant outside of lists and records by a reference; append the constants to ``constants``."""

    def of(node):
        return _with_references(node, constants)

    match expr:
        case Literal():
            constants.append(expr)
            return Attr(f"constant{len(constants) - 1}")
        case Paren(inner):
            return Paren(of(inner))
        case Unary(op, operand):
            return Unary(op, of(operand))
        case Binary(op, left, right):
            return Binary(op, of(left), of(right))
        case Conditional(test, yes, no):
            return Conditional(of(test), of(yes), of(no))
        case Elvis(value, fallback):
            return Elvis(of(value), of(fallback))
        case Subscript(container, index):
            return Subscript(of(container), of(index))
        case Call(name, args):
            return Call(name, tuple(of(arg) for arg in args))
    return expr
