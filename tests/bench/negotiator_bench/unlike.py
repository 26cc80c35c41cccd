"""Random ads of hostile users and hosts, each unlike all others: expressions that are hard to evaluate by columns.

They read attributes in chains, through both ads, lists and records, double their work with each attribute, make long strings, try
patterns, and call the functions whose value depends on more than attributes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final

SLOT_NAMES: Final = (
    "Memory",
    "Cpus",
    "Disk",
    "Mips",
    "Arch",
    "OpSys",
    "Name",
    "Machine",
    "Start",
    "Rank",
    "Requirements",
)
JOB_NAMES: Final = (
    "RequestCpus",
    "RequestMemory",
    "RequestDisk",
    "Owner",
    "ClusterId",
    "QDate",
    "Rank",
    "Requirements",
)
_OWN: Final = 30
"""Attributes ``N0``, ``N1``, ... of its own that an ad has at most."""

_LEAVES: Final = ("undefined", "error", "true", '"a"', '"X86_64"', "0", "7", "2.5", '"(a|aa)+$"')
_FORMS: Final = (
    *("unparse({name})", "unresolved({name})", 'eval("{name}")', "random({0})"),
    *("countMatches({0},{{[x={1};y={2}],[{name}={0}]}})", "evalInEachContext({0},{{[x={1}],[y=2]}})"),
    *('regexp("(?:a|b|ab)*c{number}",{0})', 'regexps("(a|aa)+$",strcat({0},{1}),"x")', "strcat({0},{1},{2})"),
    *("member({0},{{{1},{2},{name}}})", "sum({{{0},{1},{name}}})", 'anyCompare("<",{{{0},{name}}},{1})'),
    *("[x={0};y={1}].x", "{{{0},{1}}}[1]", "[a=[b={0}]].a.b", "ifThenElse({0},{1},{2})", "({0} ?: {1})"),
    *("({0} + {1})", "({0} < {1})", "({0} && {1})", "({0} || {1})", "({0} =?= {1})", "toUpper({0})"),
)


def expression(rng: random.Random, own: Sequence[str], other: Sequence[str], depth: int = 3) -> str:
    """Return a random expression of an ad with the ``own`` names, matched with one with the ``other`` names."""
    number = rng.randrange(_OWN)
    name = rng.choice((rng.choice(own), f"N{number}"))
    if depth == 0 or rng.random() < 0.15:
        reference = rng.choice((name, f"MY.{name}", f"TARGET.{rng.choice(other)}", f"TARGET.N{number}"))
        return rng.choice((reference, reference, rng.choice(_LEAVES)))
    parts = [expression(rng, own, other, depth - 1) for _ in range(3)]
    return rng.choice(_FORMS).format(*parts, name=name, number=number)


def attributes(rng: random.Random, own: Sequence[str], other: Sequence[str]) -> dict[str, str]:
    """Return attributes ``N0``, ``N1``, ... that refer to each other in one of several ways."""
    ways: tuple[Callable[[random.Random], dict[str, str]], ...] = (_chain, _doubling, _strings, _records)
    made = rng.choice((*ways, None))
    if made is not None:
        return made(rng)
    return {f"N{n}": expression(rng, own, other, 2) for n in range(rng.randrange(_OWN))}


def chain(length: int, end: str, form: str = "{}") -> dict[str, str]:
    """Return a chain of references of this length: ``N0 = N1``, ``N1 = N2``, ..."""
    return {f"N{n}": form.format(f"N{n + 1}") for n in range(length)} | {f"N{length}": end}


def _chain(rng: random.Random) -> dict[str, str]:
    form = rng.choice(("{}", "MY.{}", "TARGET.{}", "{} + 0", "[a={}].a", "{{{}}}[0]", "({} ?: 0)"))
    end = rng.choice(("1", "TARGET.Memory", "TARGET.ClusterId", "N0", "N1", "error"))
    return chain(rng.randrange(1, 390), end, form)


def _doubling(rng: random.Random) -> dict[str, str]:
    return chain(
        rng.randrange(1, 60), rng.choice(("1", "TARGET.Memory", "TARGET.RequestMemory")), "{0} + {0}"
    )


def _strings(rng: random.Random) -> dict[str, str]:
    return chain(rng.randrange(1, 14), f'"{"x" * rng.randrange(1, 1500)}"', "strcat({0},{0})")


def _records(rng: random.Random) -> dict[str, str]:
    fields = ";".join(f"A{n}=TARGET.Memory + {n}" for n in range(rng.randrange(1, 200)))
    return {"N0": f"[{fields}]", "N1": "N0.A0", "N2": "size(unparse(N0))", "N3": "{N0,N1,N0.A0}"}


def slot_attributes(seed: object, number: int) -> dict[str, str]:
    """Return what makes a slot hostile: one to three of the attributes that every match reads."""
    rng = random.Random(f"slot {seed} {number}")  # noqa: S311 - repeatable, not secret
    read = rng.sample(
        ("Start", "Rank", "Memory", "Cpus", "Arch", "Mips", "Disk", "Requirements"), rng.randrange(1, 4)
    )
    changed = {name: expression(rng, SLOT_NAMES, JOB_NAMES) for name in read}
    return attributes(rng, SLOT_NAMES, JOB_NAMES) | changed


def job_attributes(seed: object, number: int) -> dict[str, str]:
    """Return what makes a job hostile; all jobs of a seed have expressions in the same attributes."""
    read = random.Random(f"jobs {seed}").sample(("Requirements", "Rank", "RequestCpus", "RequestMemory"), 2)  # noqa: S311
    rng = random.Random(f"job {seed} {number}")  # noqa: S311
    changed = {name: expression(rng, JOB_NAMES, SLOT_NAMES) for name in read}
    return attributes(rng, JOB_NAMES, SLOT_NAMES) | changed
