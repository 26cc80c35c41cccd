"""Ads of one hostile user (or one hostile slot) that try to make a cycle long, or big, at the cost of everybody.

Each attack is a few ads, in long form. A cycle over a pool with them must not take much longer, nor be much bigger, than
one with as many plain ads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

import attrs

from negotiator_bench.slots import varied
from negotiator_bench.templates import long_form, template
from negotiator_bench.unlike import chain, job_attributes, slot_attributes

OWNER: Final = "mallory"
SEED: Final = random.SystemRandom().randrange(10**6)
"""Of the unlike ads: new ones each time."""

_FIRST_CLUSTER: Final = 900_000
_NAMES: Final = 25


@attrs.frozen
class Attack:
    """Ads of jobs and slots. ``as_plain`` are as many plain ads of the same kind, for the comparison."""

    jobs: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the ads in long form, a blank line after each."""
        return "".join(f"{ad}\n" for ad in (*self.slots, *self.jobs))

    def as_plain(self) -> Attack:
        """Return as many plain ads of the same owner."""
        return Attack(
            tuple(job(number) for number in range(len(self.jobs))),
            tuple(slot(number) for number in range(len(self.slots))),
        )


def job(number: int, **changed: str) -> str:
    """Make an idle job of the hostile user: a plain one but for the attributes that are changed."""
    cluster = _FIRST_CLUSTER + number
    return long_form(
        template("job.ad")
        | {
            "ClusterId": f"{cluster}",
            "GlobalJobId": f'"submit.example.org#{cluster}.0#1795199259"',
            "Owner": f'"{OWNER}"',
            "User": f'"{OWNER}@example.org"',
        }
        | changed
    )


def slot(number: int, **changed: str) -> str:
    """Make a slot of a host of its own."""
    fixed = {name: value for name, value in template("slot.ad").items() if not name.startswith("Child")}
    own = {"Name": f'"slot1@hostile{number}.example.org"', "Machine": f'"hostile{number}.example.org"'}
    state = {"State": '"Unclaimed"', "SlotType": '"Static"', "PartitionableSlot": "false"}
    return long_form(fixed | varied(10**6 + number) | state | own | changed)


def _many_names() -> Attack:
    return Attack(
        tuple(job(n, JobStatus="5", **{f"A{n}_{each}": "1" for each in range(9_091)}) for n in range(11))
    )


def _slow_limits() -> Attack:
    pattern = 'regexps("(a|aa)+$",strcat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",TARGET.Name),"x")'
    limits = f"strcat({','.join([pattern] * 30)})"
    return Attack(tuple(job(n, ConcurrencyLimits=limits) for n in range(4)))


def _long_strings() -> Attack:
    text = '"' + "x" * 600_000 + '"'
    return Attack(
        (
            job(
                0,
                Long1=text,
                Long2=text.replace("x", "y"),
                Requirements="size(Long1) + size(Long2) > TARGET.Memory - 1000000",
            ),
        )
    )


def _contexts() -> Attack:
    one = "size(evalInEachContext(Memory + TARGET.Mips * {n} > 0, Contexts)) > {n}"
    contexts = "{" + ",".join(f"[Memory = {n}; Other = Memory + TARGET.Memory]" for n in range(100)) + "}"
    requirements = " && ".join(one.format(n=n) for n in range(12))
    return Attack((job(0, Contexts=contexts, Requirements=requirements),))


def _slot_contexts() -> Attack:
    one = "size(evalInEachContext(Memory + TARGET.RequestMemory * {n} > 0, Contexts)) > {n}"
    contexts = (
        "{" + ",".join(f"[Memory = {n}; Other = Memory + TARGET.RequestMemory]" for n in range(100)) + "}"
    )
    requirements = " && ".join(one.format(n=n) for n in range(12))
    return Attack(slots=(slot(0, Contexts=contexts, Requirements=requirements, Start=requirements),))


def _patterns() -> Attack:
    return Attack(
        tuple(
            job(
                n,
                Requirements=f'regexp("^(slot[0-9]+@)?(wn|host)+{n}[a-z0-9.]*(x|y|example)+[a-z.]*org$",TARGET.Name)',
            )
            for n in range(100)
        )
    )


def _long_lists() -> Attack:
    items = "{" + ",".join(str(n) for n in range(100_000)) + "}"
    return Attack(
        tuple(
            job(
                n,
                Wanted=items,
                Requirements=f"member(TARGET.Memory + {n},Wanted) || member(TARGET.Disk,Wanted)",
            )
            for n in range(10)
        )
    )


def _long_chains() -> Attack:
    chain = {f"C{n}": f"C{n + 1} + 1" for n in range(390)} | {"C390": "TARGET.Memory"}
    return Attack(tuple(job(n, **chain, Mine=f"{n}", Requirements="C0 > Mine") for n in range(390)))


def _doubling() -> Attack:
    doubled = {"D0": '"' + "x" * 1024 + '"'} | {f"D{n + 1}": f"strcat(D{n},D{n})" for n in range(13)}
    return Attack(
        tuple(
            job(
                n,
                **doubled,
                Mine=f"{n}",
                Requirements=f'size(strcat(D12,"{n}",TARGET.Name)) > Mine && size(strcat(D11,TARGET.Machine)) > 0',
            )
            for n in range(20)
        )
    )


def _unlike() -> Attack:
    return Attack(
        tuple(
            job(
                n,
                Requirements=f'TARGET.Memory > {n} && regexp("a{n}",TARGET.Name) && TARGET.Disk > ({n}+TARGET.Mips*{n})',
            )
            for n in range(1000)
        )
    )


def _costly_requests() -> Attack:
    """Amounts that take many steps: when requests are made, and again when matches are written down."""
    slow = 'ifThenElse(regexp("(a|aa)+$",strcat("{letters}",{read},"x")),2,1)'
    letters = "a" * 30
    return Attack(
        tuple(
            job(
                n,
                RequestCpus=slow.format(letters=letters, read=f'"{n}"'),
                RequestGPUs=slow.format(letters=letters, read="TARGET.Name"),
                Requirements="TARGET.Memory > 0",
            )
            for n in range(300)
        )
    )


def _slow_priorities() -> Attack:
    """An attribute that the schedd's order reads of every ad."""
    letters = "a" * 30
    return Attack(
        tuple(
            job(n, JobPrio=f'size(regexps("(a|aa)+$",strcat("{letters}{n}","!"),"x"))') for n in range(1000)
        )
    )


def _printed_records() -> Attack:
    record = "[" + ";".join(f"A{n}=[B=TARGET.Memory+{n}]" for n in range(300)) + "]"
    return Attack(
        tuple(job(n, R=record, Requirements=f"R.A{n}.B > {n} && size(unparse(R)) > {n}") for n in range(300))
    )


def _unlike_slots() -> Attack:
    return Attack(slots=tuple(slot(n, **slot_attributes(SEED, n)) for n in range(10)))


def _unlike_expressions() -> Attack:
    return Attack(tuple(job(n, **job_attributes(SEED, n)) for n in range(100)))


def _chains_of_any_length() -> Attack:
    return Attack(tuple(job(n, Requirements="N0 > 0", **chain(n + 1, "1")) for n in range(390)))


def _many_owners() -> Attack:
    """One person with many names, each of which takes all that one owner may."""
    one = "size(evalInEachContext(Memory + TARGET.Mips * {n} > 0, Contexts)) > 0"
    contexts = "{" + ",".join(f"[Memory = {n}]" for n in range(300)) + "}"
    return Attack(
        tuple(
            job(
                n,
                **_named(n % _NAMES),
                Contexts=contexts,
                Requirements=" && ".join(one.format(n=n * 20 + each) for each in range(8)),
            )
            for n in range(4 * _NAMES)
        )
    )


def _random_ads() -> Attack:
    """Random jobs of many names, and random slots, of any depth."""
    rng = random.Random(f"ads {SEED}")  # noqa: S311 - repeatable, not secret
    jobs = (job(n, **_named(rng.randrange(_NAMES)), **job_attributes((SEED, n % 7), n)) for n in range(200))
    return Attack(tuple(jobs), tuple(slot(n, **slot_attributes((SEED, n % 3), n)) for n in range(20)))


def _named(number: int) -> dict[str, str]:
    """Return the attributes of a job of one of the names of the hostile user."""
    return {"Owner": f'"{OWNER}{number}"', "User": f'"{OWNER}{number}@example.org"'}


ATTACKS: Final[Mapping[str, Callable[[], Attack]]] = {
    "attribute names": _many_names,
    "slow limits": _slow_limits,
    "long strings": _long_strings,
    "contexts": _contexts,
    "contexts of a slot": _slot_contexts,
    "patterns": _patterns,
    "long lists": _long_lists,
    "long chains": _long_chains,
    "doubled strings": _doubling,
    "unlike jobs": _unlike,
    "costly requests": _costly_requests,
    "slow priorities": _slow_priorities,
    "printed records": _printed_records,
    "unlike slots": _unlike_slots,
    "unlike expressions": _unlike_expressions,
    "chains of any length": _chains_of_any_length,
    "25 names": _many_owners,
    "random ads": _random_ads,
}
