"""Made job classes, as ``condor_submit`` writes them: no two request the same.

A class stands for all jobs that agree in what a negotiation reads of them; one ad a class. The order of clauses, the
parentheses, and which clause is left out where the user names the attribute are those of HTCondor 25.14.
"""

from __future__ import annotations

import random
from typing import Final

import attrs

from negotiator_bench.templates import long_form, template

CLASSES: Final = 100

_OWNERS: Final = ("alice", "bob", "carol", "dave", "mallory", "tester")
_ROUND: Final = (100, 512, 1024, 2000, 2048, 4096, 8000, 8192, 16000, 16384, 32768, 64000)
_MEMORY_OF_SUBMIT: Final = "ifthenelse(MemoryUsage =!= undefined,MemoryUsage,(ImageSize + 1023) / 1024)"

_ARCH: Final = '(TARGET.Arch == "{}")'
_OPSYS: Final = '(TARGET.OpSys == "LINUX")'
_DISK: Final = '(versionGE(split(TARGET.CondorVersion)[1],"25.12.0") || (TARGET.Disk >= RequestDisk))'
_TRANSFER: Final = {
    "IF_NEEDED": "((TARGET.FileSystemDomain == MY.FileSystemDomain) || (TARGET.HasFileTransfer))",
    "YES": "(TARGET.HasFileTransfer)",
    "NO": "(TARGET.FileSystemDomain == MY.FileSystemDomain)",
}
_GPUS: Final = "(TARGET.GPUs >= RequestGPUs)"
_GPUS_LIKE: Final = "(countMatches(MY.RequireGPUs,TARGET.AvailableGPUs) >= RequestGPUs)"

_USERS_CLAUSES: Final = (
    "(TARGET.HasCVMFS =?= true)",
    '(TARGET.Site == "Example_T2")',
    'regexp("^Debian",TARGET.OpSysAndVer)',
    '(TARGET.OpSysAndVer == "AlmaLinux9" || TARGET.OpSysAndVer == "Debian12")',
    '(TARGET.Arch == "X86_64" || TARGET.Arch == "AARCH64")',
    '(TARGET.Microarch >= "x86_64-v3")',
    'stringListMember(TARGET.Microarch,"x86_64-v3,x86_64-v4")',
    "(TARGET.Mips > {mips})",
    "(TARGET.KFlops > {kflops})",
    "(TARGET.LoadAvg < {load})",
    "(TARGET.has_avx512f && TARGET.has_avx2)",
    '(TARGET.Machine =!= "{machine}")',
    "(isUndefined(TARGET.GPUs) || TARGET.GPUs == 0)",
    "(TARGET.TotalMemory / TARGET.TotalCpus >= {share})",
)
_RANKS: Final = (
    "TARGET.Mips",
    "TARGET.KFlops + 1000 * TARGET.Memory",
    "TARGET.Memory",
    "-TARGET.LoadAvg",
    "TARGET.Mips - TARGET.LoadAvg * 1000",
    '(TARGET.OpSysAndVer == "Debian12") + TARGET.KFlops / 1000000.0',
    'ifThenElse(TARGET.Microarch == "x86_64-v4",100,0) + TARGET.Cpus',
    "RequestMemory - TARGET.Memory",
    "0.0",
)


@attrs.frozen
class _SubmitFile:
    """What the user wrote in the submit file, as far as it shapes Requirements."""

    arch: str
    cpus: int
    gpus: str  # the clause for them, "" without
    transfer: str
    clauses: tuple[str, ...]

    def requirements(self) -> str:
        users = " && ".join(self.clauses)
        parts = [f"({users})"] if users else []
        if "TARGET.Arch" not in users:
            parts.append(_ARCH.format(self.arch))
        if "TARGET.OpSys" not in users:
            parts.append(_OPSYS)
        parts += [_DISK, "(TARGET.Memory >= RequestMemory)"]
        if self.cpus > 1:
            parts.append("(TARGET.Cpus >= RequestCpus)")
        if self.gpus:
            parts.append(self.gpus)
        return " && ".join([*parts, _TRANSFER[self.transfer]])


def job_class(k: int) -> str:
    """Make the ad of class ``k``, counted from 0, in long form."""
    rng = random.Random(f"job {k}")  # noqa: S311 - repeatable, not secret
    owner = rng.choice(_OWNERS)
    submit_file = _SubmitFile(
        arch=rng.choices(("X86_64", "AARCH64"), (9, 1))[0],
        cpus=rng.choices((1, 2, 4, 8, 16), (12, 3, 3, 2, 1))[0],
        gpus=rng.choices(("", _GPUS, _GPUS_LIKE), (92, 6, 2))[0],
        transfer=rng.choices(tuple(_TRANSFER), (7, 2, 1))[0],
        clauses=_users_clauses(rng) if rng.random() < 0.5 else (),
    )
    ad = template("job.ad") | {
        "ClusterId": f"{k + 1}",
        "GlobalJobId": f'"submit.example.org#{k + 1}.0#1795199259"',
        "ImageSize": f"{rng.randrange(50, 4_000_000)}",
        "DiskUsage": f"{rng.randrange(50, 40_000_000)}",
        "Owner": f'"{owner}"',
        "User": f'"{owner}@example.org"',
        "RequestCpus": f"{submit_file.cpus}",
        "RequestDisk": "DiskUsage" if rng.random() < 0.3 else f"{rng.randrange(1, 100_000) * 1024}",
        "RequestMemory": _memory(rng),
        "ShouldTransferFiles": f'"{submit_file.transfer}"',
        "Requirements": submit_file.requirements(),
        "Rank": rng.choice(_RANKS),
    }
    if submit_file.gpus:
        ad["RequestGPUs"] = rng.choice(("1", "1", "2"))
    if submit_file.gpus == _GPUS_LIKE:
        ad["RequireGPUs"] = "Capability >= 7.0"
    return long_form(ad)


def six_clauses() -> str:
    """Make the ad of a job that requests two cores and nothing else: Requirements of exactly six clauses."""
    submit_file = _SubmitFile(arch="X86_64", cpus=2, gpus="", transfer="IF_NEEDED", clauses=())
    return long_form(template("job.ad") | {"RequestCpus": "2", "Requirements": submit_file.requirements()})


def _memory(rng: random.Random) -> str:
    place = rng.random()
    if place < 0.1:
        return _MEMORY_OF_SUBMIT
    return f"{rng.choice(_ROUND) if place < 0.5 else rng.randrange(100, 24_000)}"


def _users_clauses(rng: random.Random) -> tuple[str, ...]:
    numbers = {
        "mips": rng.randrange(5000, 20_000, 500),
        "kflops": rng.randrange(10**5, 5 * 10**5, 10**4),
        "load": rng.choice((0.5, 0.75, 0.9)),
        "machine": f"wn{rng.randrange(100):05d}.example.org",
        "share": rng.choice((512, 1024, 2048)),
    }
    return tuple(clause.format(**numbers) for clause in rng.sample(_USERS_CLAUSES, rng.choice((1, 1, 2, 3))))
